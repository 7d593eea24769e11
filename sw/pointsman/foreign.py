"""Code of other people that Pointsman runs (applications, programs in Python, implementations): where and how it failed.

Such code may raise anything. What it raises becomes a `PointsmanError` that names its file and line, with its own frames
only; what is raised by code of ours without any line of theirs passes through.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from .errors import PointsmanError

_PACKAGES = ("pointsman", "cosim", "numesh", "tdm_switch", "packet_router")
MOST_FRAMES = 8
"""Frames that an error shows at most; the first and the last are kept."""
LONGEST_TEXT = 400
"""Characters of an exception's text that are shown at most."""


def run_file(path: Path, name: str, what: str) -> ModuleType:
    """Run a Python file as the module ``name``. It can import modules that stand beside it, as if Python ran it itself; they are
    looked for last, so that none takes the place of a library's. ``what``: what such a file is, for the error.

    Raises
    ------
    PointsmanError
        If it is no Python file. What the file itself raises passes through.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PointsmanError(f"{path} is no Python file", hint=f"{what} in a .py file")
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def foreign_code(path: Path, whose: str, *, doing: str | None = None) -> Iterator[None]:
    """Turn exceptions of the code in ``path``, and in files beside it, into a `PointsmanError` that names the line.

    Parameters
    ----------
    path : Path
        The file that somebody else has written.
    whose : str
        Whose code that is, for the hint: "the application".
    doing : str or None
        What is asked of it, for example "Ring.parameters". Whatever is raised is then the code's own fault, even if no line
        of it was reached, as when a function takes other arguments.

    Raises
    ------
    PointsmanError
        For every exception but KeyboardInterrupt. One that already is a PointsmanError passes as it is.
    """
    try:
        yield
    except (KeyboardInterrupt, PointsmanError):
        raise
    except BaseException as error:
        raised = _raised(error)
        if doing is None and not foreign_frames(raised, path):
            raise
        raise fault(raised, path, whose, doing) from error


def _raised(error: BaseException) -> BaseException:
    """What the code itself raised: a StopIteration leaves a coroutine as a RuntimeError that has none of its frames."""
    cause = error.__cause__
    return cause if isinstance(error, RuntimeError) and isinstance(cause, StopIteration | StopAsyncIteration) else error


def fault(error: BaseException, path: Path, whose: str, doing: str | None = None, said: str = "") -> PointsmanError:
    """The `PointsmanError` for an exception of somebody else's code; ``said`` comes before the exception's text."""
    frames = foreign_frames(error, path)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(path)
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()) if isinstance(note, str))
    asked = f" (in {doing})" if doing and not frames else ""
    shown = "" if len(frames) < 2 else "\n" + "\n".join(map(_shown, _few(frames)))
    hint = f"this was raised by {whose}'s own code"
    if frames and is_ours(_innermost(error)):
        hint = f"this was raised inside Pointsman, which {whose} called there"
    return PointsmanError(f"{where}: {said}{text_of(error)}{notes}{asked}{shown}", hint=hint)


def foreign_frames(error: BaseException, path: Path) -> list[traceback.FrameSummary]:
    """Frames of an exception's traceback in the file ``path``, and in files below its folder that are no library. None are of
    somebody else if ``path`` is Pointsman's own."""
    try:
        file = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return []
    found: list[traceback.FrameSummary] = []
    if is_ours(file):
        return found
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith("<"):
            continue
        place = Path(frame.filename).resolve()
        if place == file or (place.is_relative_to(file.parent) and not is_ours(place) and not _is_library(place)):
            frame.filename = str(path) if place == file else frame.filename
            found.append(frame)
    return found


def text_of(error: BaseException) -> str:
    """``Type: text`` of any exception in one line, even if the exception cannot be printed."""
    lines = said_by(error).strip().splitlines() or [""]
    said = lines[0] + (" …" if len(lines) > 1 else "")
    if len(said) > LONGEST_TEXT:
        said = said[: LONGEST_TEXT - 1] + "…"
    name = type(error).__name__
    return f"{name}: {said}" if said else name


def said_by(error: BaseException) -> str:
    """The text of any exception, even if the exception cannot be printed."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "(its text cannot be shown)"


def visible(text: str, kept: str = "\n\t") -> str:
    r"""A text that quotes a file, for the terminal: control characters but those ``kept`` become numbers, as it would obey them.

    >>> visible("\x1b[31m red")
    '\\x1b[31m red'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def shown(value: object) -> str:
    """A value for a message, in one line, even if it cannot be printed."""
    try:
        text = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = ""
    if not text or "\n" in text:
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"


def _shown(frame: traceback.FrameSummary | None) -> str:
    if frame is None:
        return "  …"
    line = f": {frame.line}" if frame.line else ""
    return f"  {frame.filename}:{frame.lineno} in {frame.name}{line}"[:300]


def _few(frames: list[traceback.FrameSummary]) -> list[traceback.FrameSummary | None]:
    if len(frames) <= MOST_FRAMES:
        return list(frames)
    half = MOST_FRAMES // 2
    return [*frames[:half], None, *frames[-half:]]


def _innermost(error: BaseException) -> Path:
    frames = traceback.extract_tb(error.__traceback__)
    return Path(frames[-1].filename).resolve() if frames else Path()


def is_ours(file: Path) -> bool:
    """Is a file one of Pointsman's own?"""
    return any(file.is_relative_to(folder) for folder in _our_folders())


def _is_library(file: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in _library_folders())


@cache
def _library_folders() -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib"))


def _our_folders() -> list[Path]:
    modules = [sys.modules.get(name) for name in _PACKAGES]
    return [Path(folder).resolve() for module in modules for folder in getattr(module, "__path__", ())]
