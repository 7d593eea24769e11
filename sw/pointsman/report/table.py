"""Plain text tables."""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.foreign import visible

MOST_NAME = 60
"""Letters of a name in a column."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns lined up: numbers to the right, words to the left. Floats must be formatted by the caller."""
    cells = [[visible(str(cell), kept="") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
    numeric = [all(_is_number(row[i]) for row in cells) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *map(line, cells)])


def short(name: str) -> str:
    """A phase's name, or what is called after it, for a column: of many operators only the first.

    >>> short("+".join(f"h{k}" for k in range(700)) + " end")
    'h0+h1+h2+h3+h4+h5+h6+h7+h8+h9+… (700 operators) end'
    """
    if len(name) <= MOST_NAME:
        return name
    labels, space, rest = name.partition(" ")
    parts = labels.split("+")
    first = labels[: MOST_NAME // 2].rpartition("+")[0]
    return f"{first}+… ({len(parts)} operators){space}{rest}" if first and len(rest) < MOST_NAME else name


def _is_number(text: str) -> bool:
    return text in ("", "–") or text.replace(",", "").replace(".", "", 1).replace("-", "", 1).isdigit()
