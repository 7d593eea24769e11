"""Places in Python programs: where a function of `pointsman.cop` was called, and a `Source` made of such places.

The evaluator names places by offsets in a text. Here an offset is the number of a place in a list, so that errors about a
form are shown at the call that made it.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType

from pointsman.cop.text.source import Places, Source
from pointsman.program.program import Position

_OURS = "pointsman.cop"


@dataclass(frozen=True)
class PythonSource(Places):
    """Calls of a Python program; the lines that an error shows are read when it is made, so that ``text`` is empty."""

    file: str
    text: str = field(default="", init=False)
    places: list[Position] = field(default_factory=list)
    numbers: dict[Position, int] = field(default_factory=dict)

    def number(self, place: Position) -> int:
        """The offset that stands for a place."""
        if place not in self.numbers:
            self.numbers[place] = len(self.places)
            self.places.append(place)
        return self.numbers[place]

    def position(self, at: int) -> Position:
        return self.places[at] if 0 <= at < len(self.places) else self.places[0]

    def excerpt(self, at: int) -> str:
        return excerpt_of(self.position(at))


def excerpt_of(place: Position) -> str:
    """The line of Python at a place with a caret under it; empty if it cannot be read."""
    return Source(linecache.getline(place.file, place.line).rstrip("\r\n")).excerpt(place.column - 1)


def place_of_caller() -> Position:
    """The call in the user's code that led here: the nearest frame outside `pointsman.cop`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return Position("<python>", 1, 1) if frame is None else _place(frame.f_code, frame.f_lasti)


def place_of_code(code: CodeType) -> Position:
    """Where a function begins."""
    return Position(code.co_filename, code.co_firstlineno, 1)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and (module == _OURS or module.startswith(_OURS + "."))


@lru_cache(maxsize=4096)
def _place(code: CodeType, instruction: int) -> Position:
    line, _, column, _ = _positions(code)[instruction // 2]
    line = line or code.co_firstlineno
    before = linecache.getline(code.co_filename, line).encode()[: column or 0]  # the column counts bytes
    return Position(code.co_filename, line, len(before.decode(errors="replace")) + 1 if before else (column or 0) + 1)


@lru_cache(maxsize=256)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())
