"""A JSON text of any size, read piece by piece: what contains others is entered, what is small is decoded by its form.

Where a value ends is found by Python's own scanner in a window of the text, so that a file of a gigabyte takes no more
memory than one of a megabyte. What nobody asks for is passed over, but must be JSON. What is wrong is told with its line and its
place.

Leaves alone: what the contents mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO, TypeVar

import msgspec

from pointsman.errors import PointsmanError

CHUNK = 1 << 18
MOST_CHARACTERS = 1 << 22
"""Longest value that is decoded, and longest name or number."""
MOST_LEVELS = 64
"""Of objects and lists inside each other."""
BEYOND = 2
"""Characters of which the scanner makes nothing at the end of a window, and which may go on: ``e-`` of the number ``1e-5``."""
BLANKS = " \t\n\r"
NO_BLANK = re.compile(f"[{BLANKS}]*(?=[^{BLANKS}])")
Form = TypeVar("Form")


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


SCANNER = json.JSONDecoder(parse_constant=_no_number)


class JsonPieces:
    """Walks through a text.

    The value that comes next is read by one of `members`, `elements` and `value`. Within `members` and `elements`, one that
    is not read before the next is asked for is passed over. A loop over them has to go on to its end.

    >>> from io import StringIO
    >>> pieces = JsonPieces(StringIO('{"name": "x", "flows": [1, 2], "more": {}}'))
    >>> for name in pieces.members():
    ...     if name == "flows":
    ...         print([pieces.value(int) for _ in pieces.elements()])
    [1, 2]
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = self._mark = 0
        self._lines = 1
        self._ended = False
        self._unread = True
        self._path: list[str | int] = []

    @property
    def line(self) -> int:
        """The line on which the last value began."""
        return self._lines + self._text.count("\n", 0, self._mark)

    @property
    def place(self) -> str:
        """Where the value stands that is being read, such as ``phases[1].transfers[0]``."""
        parts = [f"[{one}]" if isinstance(one, int) else f".{one[:40]}" for one in self._path]
        return "".join(parts).removeprefix(".")

    @property
    def opens(self) -> str:
        """The character with which the value begins that comes next; none at the end of the file."""
        return self._next()

    def wrong(self, text: str) -> PointsmanError:
        """An error with line and place."""
        return PointsmanError(f"line {self.line}: {f'{self.place}: ' if self._path else ''}{text}")

    def members(self) -> Iterator[str]:
        """Names of the object that comes next.

        Raises
        ------
        PointsmanError
            If there is no object, or one that is no JSON.
        """
        self._enter("{", "an object")
        if self._closed("}"):
            return
        while True:
            if self._next() != '"':
                raise self.wrong("a name in quotes must stand here")
            name = self._decoded(str)
            if self._next() != ":":
                raise self.wrong("a colon must follow a name")
            self._at += 1
            yield from self._inside(name)
            if self._closed("}", more=True):
                return

    def elements(self) -> Iterator[int]:
        """Numbers, from 0, of the elements of the list that comes next.

        Raises
        ------
        PointsmanError
            If there is no list, or one that is no JSON.
        """
        self._enter("[", "a list")
        if self._closed("]"):
            return
        number = 0
        while True:
            yield from self._inside(number)
            if self._closed("]", more=True):
                return
            number += 1

    def value(self, form: type[Form]) -> Form:
        """The value that comes next, which has at most ``MOST_CHARACTERS`` characters.

        Raises
        ------
        PointsmanError
            If it is longer, no JSON, or of another form.
        """
        self._next()
        self._unread = False
        return self._decoded(form)

    def end(self) -> None:
        """Nothing may follow.

        Raises
        ------
        PointsmanError
            If something does.
        """
        if self._next():
            raise self.wrong("nothing may follow the end")

    def _inside(self, key: str | int) -> Iterator[Any]:
        self._path.append(key)
        self._unread = True
        yield key
        if self._unread:
            self._pass_over()
        self._path.pop()

    def _enter(self, bracket: str, what: str) -> None:
        if self._next() != bracket:
            raise self.wrong(f"{what} must stand here")
        if len(self._path) > MOST_LEVELS:
            raise self.wrong(f"nested too deeply: more than {MOST_LEVELS} levels")
        self._at += 1
        self._unread = False

    def _closed(self, bracket: str, *, more: bool = False) -> bool:
        """Is this the end? ``more``: otherwise a comma must follow."""
        found = self._next()
        if found == bracket:
            self._at += 1
            return True
        if more:
            if found != ",":
                raise self.wrong(f"a comma or {bracket} must follow" if found else "the file ends within a value")
            self._at += 1
        return False

    def _pass_over(self) -> None:
        found = self._next()
        self._unread = False
        try:
            _, end = SCANNER.raw_decode(self._text, self._at)
            if end + BEYOND < len(self._text):
                self._at = end
                return
        except (ValueError, RecursionError):
            pass  # it goes on beyond the window, or is wrong: found out inside
        if found == "{":
            for _ in self.members():
                pass
        elif found == "[":
            for _ in self.elements():
                pass
        else:
            self._at = self._extent()

    def _decoded(self, form: type[Form]) -> Form:
        end = self._extent()
        text = self._text[self._at : end]
        self._at = end
        try:
            return msgspec.json.decode(text, type=form)
        except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
            raise self.wrong(str(error) or "nested too deeply") from None

    def _extent(self) -> int:
        """Where the value that begins here ends. It is in the window as a whole then."""
        last: tuple[int, str] | None = None
        while True:
            fault: tuple[int, str] | None = None
            try:
                _, end = SCANNER.raw_decode(self._text, self._at)
                if end + BEYOND < len(self._text) or self._ended:
                    return end
            except RecursionError:
                raise self.wrong("nested too deeply") from None
            except json.JSONDecodeError as error:
                fault = error.pos - self._at, error.msg
            except ValueError as error:  # a number that is none, or too long
                fault = 0, str(error)
            # What is wrong because the window ends is something else in a larger one; a text may go on in it.
            if fault and (self._ended or (fault == last and not fault[1].startswith("Unterminated"))):
                self._mark = self._at + fault[0]
                raise self.wrong(f"this is no JSON: {fault[1]}")
            if len(self._text) - self._at > MOST_CHARACTERS:
                raise self.wrong(f"a value must have at most {MOST_CHARACTERS} characters here")
            last = fault
            self._read_on()

    def _next(self) -> str:
        """The next character that is no blank; none at the end of the file."""
        while True:
            found = self._text[self._at : self._at + 1]
            if found in BLANKS:  # or none is left
                self._at = match.end() if (match := NO_BLANK.match(self._text, self._at)) else len(self._text)
                found = self._text[self._at : self._at + 1]
            self._mark = self._at
            if found or not self._read_on():
                return found

    def _read_on(self) -> bool:
        """Make the window larger by as much as is still needed of it, so that a long value is not looked at too often."""
        piece = self._file.read(max(CHUNK, len(self._text) - self._at))
        self._ended = not piece
        self._lines += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + piece
        self._mark = max(0, self._mark - self._at)
        self._at = 0
        return not self._ended
