"""Folders of what was built, each named by a hash of all that went into it: there whole, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pointsman.files import cache_folder

_STALE_SECONDS = 24 * 3600


def kept(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Folder of a build in the cache. If it is not there, ``build`` fills it."""
    cache = cache_folder()
    folder = cache / f"{kind}-{key}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f"{kind}-{key}.lock"):
        if folder.is_dir():
            return folder
        _sweep(cache)
        made = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        try:
            build(made)
            made.rename(folder)
        except OSError:
            # On file systems without locks somebody else may have been first.
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _sweep(cache: Path) -> None:
    """Remove what builds have left that were killed."""
    for folder in cache.glob("building-*"):
        try:
            if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def digest_of(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part.encode())
    return digest.hexdigest()[:32]
