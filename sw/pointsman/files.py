"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .errors import PointsmanError

MOST_BYTES = 1 << 28
"""Bytes of a text file that are read at most."""


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file so that nobody ever sees half of it: into a neighbour, then renamed.

    Raises
    ------
    PointsmanError
        If it cannot be written; nothing is left behind then.
    """
    write_all({path: content})


def write_all(contents: Mapping[Path, bytes | str]) -> None:
    """Write files that belong together: all into neighbours, then all renamed.

    Raises
    ------
    PointsmanError
        If one cannot be written; nothing is left behind then.
    """
    written: dict[Path, str] = {}
    path = Path()
    try:
        for path, content in contents.items():
            _check_place(path)
            data = content.encode() if isinstance(content, str) else content
            if path.exists() and not path.is_file():  # a device or a pipe: nothing to rename onto
                with open(path, "wb", opener=open_without_waiting) as device:
                    device.write(data)
                continue
            # The name's beginning only: with all of it the temporary name could become too long.
            handle, written[path] = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(written[path], 0o666 & ~umask)
        for path, temporary in written.items():
            os.replace(temporary, path)
    except (OSError, ValueError) as error:  # a text that UTF-8 cannot hold is a ValueError
        raise _unwritable(path, error) from None
    finally:
        for temporary in written.values():
            if os.path.exists(temporary):
                os.unlink(temporary)


def check_writable(path: Path) -> None:
    """Find out before long work whether ``path`` can be written later.

    Raises
    ------
    PointsmanError
        If it cannot.
    """
    _check_place(path)
    try:
        target = path if path.exists() else path.parent
        if not os.access(target, os.W_OK):
            raise PointsmanError(f"cannot write {path}: permission denied")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def same_file(one: Path, other: Path) -> bool:
    """Do both names stand for one file? Folders and devices take what several write."""
    try:
        if one.exists() and other.exists():
            return one.is_file() and one.samefile(other)
        return one.resolve() == other.resolve()
    except (OSError, ValueError, RuntimeError):
        return False


def _check_place(path: Path) -> None:
    """Is there a folder in which a file may have this name?"""
    try:
        if not path.parent.is_dir():
            raise PointsmanError(f"cannot write {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise PointsmanError(f"cannot write {path}: it is a folder")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError | ValueError) -> PointsmanError:
    reason = error.strerror if isinstance(error, OSError) else None
    return PointsmanError(f"cannot write {path}: {reason or error}")


def is_file(path: Path) -> bool:
    """Is there a file of this name? False also for names that no file can have, and where nobody may look."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_text(path: Path, what: str) -> str:
    """Text of a file, without the byte order mark that some editors put before it.

    Raises
    ------
    PointsmanError
        If it cannot be read or is no text.
    """
    try:
        return read_bytes(path, what).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise PointsmanError(f"the {what} {path} is no UTF-8 text: byte {error.start} is wrong") from None


def read_bytes(path: str | os.PathLike[str], what: str = "", most: int | None = None) -> bytes:
    """All bytes of a file, which may be a pipe, or the first ``most``. ``what`` the file is stands in messages.

    Raises
    ------
    PointsmanError
        If it cannot be read, has more than ``MOST_BYTES`` without ``most``, or is a pipe into which nobody writes.
    """
    name = f"the {what} {os.fspath(path)}" if what else os.fspath(path)
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            data = file.read(MOST_BYTES + 1 if most is None else most)
            if not data and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
                raise PointsmanError(f"cannot read {name}: nobody writes into this pipe")
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError
        reason = error.strerror if isinstance(error, OSError) else None
        raise PointsmanError(f"cannot read {name}: {reason or error}") from None
    if most is None and len(data) > MOST_BYTES:
        raise PointsmanError(f"cannot read {name}: it has more than {MOST_BYTES} bytes")
    return data


def open_without_waiting(path: str, flags: int) -> int:
    """For ``opener`` of ``open``: does not wait until somebody opens the other end of a named pipe.

    A pipe without a writer then is an empty file; to write into one without a reader is an OSError.
    """
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    try:
        os.set_blocking(handle, True)
    except OSError:
        os.close(handle)
        raise
    return handle


def cache_folder() -> Path:
    """Where builds are kept from run to run: ``$POINTSMAN_CACHE``, else ``~/.cache/pointsman``.

    Raises
    ------
    PointsmanError
        If that is in the home folder of a user who has none.
    """
    chosen = os.environ.get("POINTSMAN_CACHE")
    try:
        return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "pointsman"
    except RuntimeError:
        what = f"the folder {chosen} of POINTSMAN_CACHE" if chosen else "the folder ~/.cache/pointsman"
        raise PointsmanError(
            f"{what} cannot be found: there is no such home folder", hint="name another folder in POINTSMAN_CACHE"
        ) from None
