"""COP text laid out anew: `pointsman fmt`.

Takes a text; gives the same words and comments in the same order, so that the program stays the same, with uniform
spacing. Lines are broken where the author broke them, and where they would be longer than `WIDTH`; within a form
lines are indented by 2, within a list of data by 1; at most one line is blank; comments that end lines below each other
begin in one column. Laying out a second time changes nothing.

Nothing here recurses, and indentation has an end (`DEEPEST`), so the result is at most a small multiple of the text.
Non-goals: joining lines, sorting, renaming.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from pointsman.cop.limits import DEFAULT_LIMITS, Limits
from pointsman.errors import PointsmanError

from .reader import EMBEDDED, read
from .source import Source

WIDTH = 120
"""Columns that a line should not pass; comments and words that are longer do."""
DEEPEST = 60
"""Column after which nesting indents no further."""

_TOKEN = re.compile(
    r"""(?P<newline>\r\n|\r|\n)
      | (?P<blank>[ \t\f]+)
      | (?P<comment>;[^\r\n]*)
      | (?P<open>\()
      | (?P<close>\))
      | (?P<prefix>'|`|,@|,)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<word>[^ \t\r\n\f()'";`,]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class _Comment:
    text: str
    ends_line: bool
    """It follows a word on its line."""
    blank: bool
    """A blank line comes before it."""


@dataclass(slots=True)
class _Item:
    """An atom (``text``) or a list (``items``), with the prefix (such as a quote) and comments before it."""

    prefix: str
    comments: Sequence[_Comment]
    lines: int
    """Line ends between it and the word before it."""
    text: str | None = None
    items: Sequence[_Item] = ()
    tail: Sequence[_Comment] = ()
    """Comments before a list's closing parenthesis."""
    width: int | None = None
    """Columns if printed on a single line; None if it takes several lines."""

    @property
    def inner(self) -> int:
        """Columns by which a list's items are indented from its parenthesis: 2 in a form, 1 in data."""
        head = self.items[0].text if self.items and not self.items[0].prefix else None
        is_form = head is not None and not self.prefix and head[0] not in '"+-.0123456789:'
        return 2 if is_form or head in ("+", "-", "1+", "1-") else 1


def lay_out(text: str, *, file: str = "<cop>", limits: Limits = DEFAULT_LIMITS) -> str:
    """The same program, laid out.

    Parameters
    ----------
    text : str
        A COP text; if it is the head of a C file, only the head is changed.
    file : str
        Its name in messages.

    Raises
    ------
    CopError
        If the text is not a sequence of forms.
    """
    read(Source(text, file), limits)  # raises an error, with its place, if the text is malformed
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text[len(mark) :]
    head, tail = "", ""
    if embedded := EMBEDDED.match(body):
        end = body.find("*/", embedded.end())
        head, body, tail = body[: embedded.end()], body[embedded.end() :], ""
        if end >= 0:
            end -= len(head)
            body, tail = body[:end], body[end:]
        if not head.endswith(("\n", "\r")):
            return text  # the text is this line only
    items, rest = _parse(body)
    laid = _Printer().program(items, rest)
    if not embedded and EMBEDDED.match(laid):
        laid = "\n" + laid  # otherwise the first comment would mark the text as the head of a C file
    if not all(_same(kind, body, laid) for kind in ("words", "comments")):
        raise PointsmanError(f"{file}: laying it out would change it", hint="this is a fault of fmt: please report it")
    return mark + head + laid + tail


def _same(kind: str, one: str, other: str) -> bool:
    """Whether two texts have the same words, or comments (``kind``): compared apart, as a comment may move past a quote."""

    def those(text: str) -> Iterator[str]:
        for token in _TOKEN.finditer(text):
            if token.lastgroup == "comment":
                if kind == "comments":
                    yield token.group().rstrip()
            elif kind == "words" and token.lastgroup not in ("newline", "blank"):
                yield token.group()

    return all(a == b for a, b in zip_longest(those(one), those(other)))


def _parse(text: str) -> tuple[list[_Item], list[_Comment]]:
    """Items of the top level, and the comments after the last."""
    top: list[_Item] = []
    items = top
    stack: list[tuple[_Item, list[_Item]]] = []
    comments: list[_Comment] = []
    prefix, prefix_lines = "", 0
    lines = 0
    begun = False  # whether a word has come on this line
    for token in _TOKEN.finditer(text):
        kind, word = token.lastgroup, token.group()
        if kind == "blank":
            continue
        if kind == "newline":
            lines += 1
            begun = False
            continue
        if kind == "comment":
            comments.append(_Comment(word.rstrip(), begun, lines > 1))
            lines = 0
            continue
        begun = True
        if kind == "prefix":
            if not prefix:
                prefix_lines = lines
            prefix += word
            lines = 0
            continue
        if kind == "close":
            item, items = stack.pop()
            item.tail = tuple(comments)
            item.width = _list_width(item)
        else:
            item = _Item(prefix, tuple(comments), prefix_lines if prefix else lines)
            items.append(item)
            if kind == "open":
                stack.append((item, items))
                item.items = items = []
            else:
                item.text = word
                item.width = len(prefix) + len(word) if "\n" not in word and "\r" not in word else None
            prefix = ""
        if comments:
            comments = []
        lines = 0
    return top, comments


def _list_width(item: _Item) -> int | None:
    if item.tail:
        return None
    total = len(item.prefix) + 2 + max(0, len(item.items) - 1)
    for number, inner in enumerate(item.items):
        if inner.width is None or inner.comments or (inner.lines and number):
            return None
        total += inner.width
    return total


@dataclass(slots=True)
class _Line:
    pieces: list[str] = field(default_factory=list)
    column: int = 0
    comment: str | None = None
    closed: bool = False
    """It holds only a comment."""


@dataclass(slots=True)
class _Open:
    """A list whose items are being printed."""

    item: _Item
    indent: int
    closers: int
    """Closing parentheses of outer lists that directly follow its own."""
    next: int = 0


class _Printer:
    def __init__(self) -> None:
        self.lines: list[_Line] = [_Line()]

    def program(self, items: list[_Item], rest: list[_Comment]) -> str:
        for number, item in enumerate(items):
            self._comments(item.comments, 0)
            if number or item.comments:
                self._new_line(0, blank=item.lines > 1)
            self._item(item)
        self._comments(rest, 0)
        return self._text()

    def _item(self, whole: _Item) -> None:
        """Print an item, with all items in it, at the current place."""
        stack: list[_Open] = []
        self._begin(whole, 0, stack)
        while stack:
            frame = stack[-1]
            items = frame.item.items
            if frame.next == len(items):
                self._comments(frame.item.tail, frame.indent)
                if frame.item.tail:
                    self._new_line(frame.indent)
                self._put(")")
                stack.pop()
                continue
            item = items[frame.next]
            first, last = frame.next == 0, frame.next == len(items) - 1
            frame.next += 1
            closers = frame.closers + 1 if last and not frame.item.tail else 0
            self._comments(item.comments, frame.indent)
            if item.comments:
                self._new_line(frame.indent, blank=item.lines > 1)
            elif not first:
                column = self.lines[-1].column
                too_long = item.width is not None and column + 1 + item.width + closers > WIDTH
                if item.lines or (too_long and column > frame.indent):
                    self._new_line(frame.indent, blank=item.lines > 1)
                else:
                    self._put(" ")
            self._begin(item, closers, stack)

    def _begin(self, item: _Item, closers: int, stack: list[_Open]) -> None:
        """Print an atom, or a list that fits; or open a list."""
        if item.text is not None:
            self._put(item.prefix + item.text)
            return
        line = self.lines[-1]
        if item.width is not None and line.column + item.width + closers <= WIDTH:
            self._flat(item)
            return
        self._put(item.prefix + "(")
        indent = min(line.column - 1 + item.inner, DEEPEST)
        stack.append(_Open(item, indent, closers))

    def _flat(self, whole: _Item) -> None:
        stack: list[_Item | str] = [whole]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                self._put(item)
            elif item.text is not None:
                self._put(item.prefix + item.text)
            else:
                self._put(item.prefix + "(")
                stack.append(")")
                for number, inner in enumerate(reversed(item.items)):
                    if number:
                        stack.append(" ")
                    stack.append(inner)

    def _comments(self, comments: Sequence[_Comment], indent: int) -> None:
        for comment in comments:
            line = self.lines[-1]
            if comment.ends_line and line.pieces and line.comment is None and not line.closed:
                line.comment = comment.text
                continue
            if line.pieces or line.comment is not None:
                self._new_line(indent, blank=comment.blank)
            self._put(comment.text)
            self.lines[-1].closed = True

    def _new_line(self, indent: int, *, blank: bool = False) -> None:
        if blank:
            self.lines.append(_Line())
        self.lines.append(_Line([" " * indent] if indent else [], indent))

    def _put(self, text: str) -> None:
        line = self.lines[-1]
        line.pieces.append(text)
        if "\n" in text or "\r" in text:
            line.column = len(re.split(r"[\r\n]", text)[-1])
        else:
            line.column += len(text)

    def _text(self) -> str:
        """All lines; comments at the ends of consecutive lines begin in the same column."""
        result: list[str] = []
        run: list[_Line] = []
        for line in [*self.lines, _Line()]:
            if line.comment is not None:
                run.append(line)
                continue
            column = max((entry.column for entry in run), default=0) + 2
            for entry in run:
                result.append("".join(entry.pieces) + " " * (column - entry.column) + (entry.comment or ""))
            run = []
            result.append("".join(line.pieces))
        return "\n".join(result).strip("\n") + "\n" if any(result) else ""
