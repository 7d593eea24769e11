"""Plain text tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns lined up: numbers to the right, words to the left. Floats must be formatted by the caller."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
    numeric = [all(_is_number(row[i]) for row in cells) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *map(line, cells)])


def _is_number(text: str) -> bool:
    return text in ("", "–") or text.replace(",", "").replace(".", "", 1).replace("-", "", 1).isdigit()
