"""Source text, places in it, and errors that show them.

An error prints as::

    matmul.cop:4:14: broadcast source 9 is outside the subset (0..3)
      (broadcast 'b 9))
                    ^
    hint: node numbers are relative to the enclosing subset
"""

from __future__ import annotations

import bisect
import difflib
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pointsman.errors import PointsmanError
from pointsman.program.program import Position

LINE_END = re.compile(r"\r\n|\r|\n")
SHOWN_WIDTH = 100
"""Characters of a source line that an error shows at most."""
LONGEST_SUGGESTED = 60
"""Names longer than this get no suggestion: the comparison takes quadratic time."""


@dataclass(frozen=True)
class Note:
    """A second place that explains an error."""

    position: Position
    text: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.position}: {self.text}\n{self.excerpt}"


class CopError(PointsmanError):
    """An error in a COP text, with its place.

    Attributes
    ----------
    position : Position
        Place of the error.
    notes : tuple of Note
        Related places.
    errors : tuple of CopError
        All errors of the text, this error first.
    """

    def __init__(
        self,
        message: str,
        *,
        position: Position,
        excerpt: str = "",
        hint: str | None = None,
        notes: Sequence[Note] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.position = position
        self.excerpt = excerpt
        self.notes = tuple(notes)
        self.errors: tuple[CopError, ...] = (self,)

    def render(self) -> str:
        """This error alone: message, source line, caret, notes and hint."""
        lines = [f"{self.position}: {self.message}"]
        if self.excerpt:
            lines.append(self.excerpt)
        lines += [str(note) for note in self.notes]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def __str__(self) -> str:
        text = "\n".join(error.render() for error in self.errors)
        return text if len(self.errors) == 1 else f"{text}\n{len(self.errors)} errors"


class CopLimitError(CopError):
    """A COP text asked for more than `Limits` allows; ``limit`` is the name of the bound."""

    limit: str = ""


class FollowOnError(CopError):
    """Something failed because something else, already reported, failed; never reported itself."""


def together(errors: Iterable[CopError]) -> CopError:
    """One error that carries all of ``errors``, in the order of the text."""
    ordered = sorted(errors, key=lambda error: (error.position.line, error.position.column))
    first = ordered[0]
    first.errors = tuple(ordered)
    return first.with_traceback(None)  # where it was first raised, maybe many times, tells nobody anything


class Places(ABC):
    """Maps offsets, by which errors name their places, to positions and lines that can be shown.

    ``text`` is the whole text (empty for a Python program), and ``file`` the position where it begins.
    """

    text: str
    file: str

    @abstractmethod
    def position(self, at: int) -> Position:
        """File, line and column of an offset."""

    @abstractmethod
    def excerpt(self, at: int) -> str:
        """The line of an offset with a caret under it; empty if there is no line to show."""

    def error(
        self, at: int, message: str, *, hint: str | None = None, notes: Sequence[tuple[int, str]] = ()
    ) -> CopError:
        """An error at an offset, ready to raise."""
        return CopError(
            message,
            position=self.position(at),
            excerpt=self.excerpt(at),
            hint=hint,
            notes=[Note(self.position(place), text, self.excerpt(place)) for place, text in notes],
        )

    def limit(self, at: int, name: str, bound: int, what: str) -> CopLimitError:
        """The error of a bound that is passed."""
        error = CopLimitError(f"{what} (limit {name}: {bound})", position=self.position(at), excerpt=self.excerpt(at))
        error.limit = name
        return error


@dataclass(frozen=True)
class Source(Places):
    """A COP text. Places in it are offsets in characters."""

    text: str
    file: str = "<cop>"

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(match.end() for match in LINE_END.finditer(self.text))]

    def position(self, at: int) -> Position:
        at = min(max(at, 0), len(self.text))
        line = bisect.bisect_right(self.line_starts, at) - 1
        return Position(self.file, line + 1, at - self.line_starts[line] + 1)

    def excerpt(self, at: int) -> str:
        place = self.position(at)
        starts = self.line_starts
        start = starts[place.line - 1]
        end = starts[place.line] if place.line < len(starts) else len(self.text)
        # The cost of an excerpt must not grow with the length of its line.
        first = start if at - start <= SHOWN_WIDTH * 2 // 3 else at - SHOWN_WIDTH // 2
        shown = self.text[first : min(end, first + SHOWN_WIDTH)]
        indent = len(shown) - len(shown.lstrip()) if first == start else 0
        indent = min(indent, at - first)
        before, after = _clean(shown[indent : at - first]), _clean(shown[at - first :].rstrip())
        if not (before + after).strip():
            return ""
        left = "" if first == start else "…"
        right = "" if first + SHOWN_WIDTH >= end else "…"
        pad = " " * (len(left) + sum(map(_width, before)))
        return f"  {left}{before}{after}{right}\n  {pad}^"


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """``did you mean 'broadcast'?`` if one of ``known`` is close to ``name``."""
    if len(name) > LONGEST_SUGGESTED:
        return None
    candidates = sorted({other for other in known if len(other) <= LONGEST_SUGGESTED})
    folded = [other for other in candidates if other.lower() == name.lower()]
    near = [other for other in candidates[:5000] if 2 * abs(len(other) - len(name)) <= len(name) + 1]
    close = folded or difflib.get_close_matches(name, near, n=1, cutoff=0.66)
    return f"did you mean '{close[0]}'?" if close else None


def _clean(text: str) -> str:
    """``text`` with every character that would move the cursor, such as a tab, replaced by a single other character."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if c == "\t" else c if c.isprintable() else "?" for c in text)


def _width(character: str) -> int:
    """Columns that a terminal gives to a character."""
    if character.isascii():
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
