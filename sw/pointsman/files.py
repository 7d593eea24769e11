"""Files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import PointsmanError


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file so that nobody ever sees half of it: into a neighbour, then renamed.

    Raises
    ------
    PointsmanError
        If it cannot be written; nothing is left behind then.
    """
    data = content.encode() if isinstance(content, str) else content
    folder = path.parent
    if not folder.is_dir():
        raise PointsmanError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise PointsmanError(f"cannot write {path}: it is a folder")
    temporary: str | None = None
    try:
        if path.exists() and not path.is_file():  # a device or a pipe: nothing to rename onto
            path.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise PointsmanError(f"cannot write {path}: {error.strerror or error}") from None


def check_writable(path: Path) -> None:
    """Find out before long work whether ``path`` can be written later.

    Raises
    ------
    PointsmanError
        If it cannot.
    """
    folder = path.parent
    if not folder.is_dir():
        raise PointsmanError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise PointsmanError(f"cannot write {path}: it is a folder")
    target = path if path.exists() else folder
    if not os.access(target, os.W_OK):
        raise PointsmanError(f"cannot write {path}: permission denied")


def read_text(path: Path, what: str) -> str:
    """Text of a file.

    Raises
    ------
    PointsmanError
        If it cannot be read or is no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PointsmanError(f"cannot read the {what} {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise PointsmanError(f"the {what} {path} is no UTF-8 text: byte {error.start} is wrong") from None


def cache_folder() -> Path:
    """Where builds are kept from run to run: ``$POINTSMAN_CACHE``, else ``~/.cache/pointsman``."""
    chosen = os.environ.get("POINTSMAN_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "pointsman"
