"""C text: names, numbers and tables, each of which is written once however often it is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

WIDTH = 120


def identifier(name: str) -> str:
    """``name`` as the beginning of a C identifier: other characters become underscores."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{found}" if not found or found[0].isdigit() else found


def string(text: str) -> str:
    """A string of C; what is not plain ASCII is escaped byte by byte."""
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode())
    return f'"{"".join(plain)}"'


def signed(number: int) -> str:
    """An int32_t; its least value has no literal of its own."""
    return f"{number}" if number > -(1 << 31) else "(-2147483647 - 1)"


def row(values: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


class Tables:
    """Tables of a C file, in an order in which each is there before it is used. Equal tables are one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}

    def table(self, kind: str, name: str, rows: Sequence[object]) -> str:
        """Name of a table of ``rows`` of the C type ``kind``; "0" for a table without rows."""
        if not rows:
            return "0"
        texts = tuple(map(str, rows))
        key = kind, texts
        if key not in self._names:
            self._names[key] = f"{name}_{len(self._names)}"
            self.lines.append(f"static {kind} {self._names[key]}[{len(texts)}] = {{")
            self.lines += _folded(texts)
            self.lines.append("};")
        return self._names[key]


def _folded(texts: Sequence[str]) -> list[str]:
    """Rows, as many a line as fit."""
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) + 2 > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {text},"
    return [*lines, line]
