"""Demand matrices: row i, column j is what node i sends to node j, in any unit; as CSV, or in one of MatrixMarket's forms.

Bandwidths are the demands divided by the largest sum of a row or column, so that the busiest port is busy all the time. Demands
of nodes to themselves (the diagonal) need no network: they are left out, and that is told once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator

from pointsman.artifacts.flows.demands import check_counts
from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.errors import PointsmanError
from pointsman.network.topology import MAX_NODES

LEAST, MOST = 1e-100, 1e100
"""Demands that can be added and divided."""
PLACE = re.compile(r"[0-9]{1,12}")
PLAIN = "a matrix is rows of plain numbers, separated by commas, without titles"
"""For files as spreadsheets and scripts write them: with titles of rows and columns, other separators, or quotes."""
HEADER = ["%%MatrixMarket", "matrix"]
FIELDS = {"coordinate": ("real", "integer", "pattern"), "array": ("real", "integer")}


class _Demands:
    """Entries of a matrix as they come, those of the diagonal apart."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, int], float] = {}
        self.own: dict[int, int] = {}
        """Lines of demands to the node itself, by node."""

    def put(self, row: int, column: int, value: float, number: int) -> None:
        if not value:
            return
        if (row, column) in self.found or (row == column and row in self.own):
            raise PointsmanError(f"line {number}: the demand from {row} to {column} is there already")
        if row == column:
            self.own[row] = number
            return
        check_counts(lambda text: PointsmanError(f"line {number}: {text}"), len(self.found) + 1)
        self.found[row, column] = value

    def flows(self, size: int, tell: Callable[[str], object] | None) -> FlowSet:
        if self.own and tell is not None:
            node, number = next(iter(self.own.items()))
            more = f", and {len(self.own) - 1} more like it" if len(self.own) > 1 else ""
            tell(f"left out, as it needs no network: the demand of node {node} to itself (line {number}){more}")
        return _flows(size, self.found)


def from_csv(lines: Iterable[str], *, tell: Callable[[str], object] | None = None) -> FlowSet:
    """A line a row, numbers separated by commas; lines that are empty or begin with # are passed over. ``tell`` is called with
    what is left out.

    Raises
    ------
    PointsmanError
        Naming the line that is wrong.
    """
    entries = _Demands()
    size, row = 0, 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.strip().split(",")
        if not size:
            size = _size(len(cells), number)
        if len(cells) != size:
            raise PointsmanError(f"line {number}: a row must have {size} numbers, as the first has, not {len(cells)}")
        if row == size:
            raise PointsmanError(
                f"line {number}: a matrix of {size} columns must have {size} rows, and this is one more"
            )
        for column, cell in enumerate(cells):
            entries.put(row, column, _number(cell, number, PLAIN), number)
        row += 1
    if row != size or not size:
        raise PointsmanError(f"a matrix must have as many rows as columns: {row} rows, {size} columns")
    return entries.flows(size, tell)


def from_matrix_market(lines: Iterable[str], *, tell: Callable[[str], object] | None = None) -> FlowSet:
    """Coordinate form, real, integer or pattern (each entry is a demand of 1), or an array column by column; general or
    symmetric; rows and columns count from 1. ``tell`` is called with what is left out.

    Raises
    ------
    PointsmanError
        Naming the line that is wrong.
    """
    numbered = enumerate(lines, 1)
    _, header = next(numbered, (1, ""))
    first, *words = header.split()[:6] or [""]
    words = [first, *(word.lower() for word in words)]
    if words[:2] != HEADER or len(words) != 5 or words[3] not in FIELDS.get(words[2], ()):
        raise PointsmanError(
            f"line 1: a file must begin with '{' '.join(HEADER)} coordinate real general', or integer, pattern, or symmetric; "
            "or with array for coordinate, but not with pattern"
        )
    if words[4] not in ("general", "symmetric"):
        raise PointsmanError(f"line 1: a matrix must be general or symmetric, not {words[4]}")
    rest = ((number, line) for number, line in numbered if not line.startswith("%") and line.strip())
    number, sizes = next(rest, (2, ""))
    is_array, is_symmetric = words[2] == "array", words[4] == "symmetric"
    if is_array:
        rows, columns = _whole(sizes.split(), number, 2, "rows and columns")
        count = rows * (rows + 1) // 2 if is_symmetric else rows * rows
    else:
        rows, columns, count = _whole(sizes.split(), number, 3, "rows, columns and entries")
    if rows != columns:
        raise PointsmanError(f"line {number}: a matrix must have as many rows as columns, not {rows} and {columns}")
    _size(rows, number)
    entries = _Demands()
    read = _array(rest, rows, is_symmetric) if is_array else _coordinates(rest, rows, words[3] == "pattern")
    for found in read:
        row, column, value, number = found
        entries.put(row, column, value, number)
        if is_symmetric and row != column:
            entries.put(column, row, value, number)
        count -= 1
    if count:
        what = "too few" if count > 0 else "too many"
        raise PointsmanError(f"there are not as many entries as the sizes say: {abs(count)} {what}")
    return entries.flows(rows, tell)


def _array(rest: Iterator[tuple[int, str]], size: int, is_symmetric: bool) -> Iterator[tuple[int, int, float, int]]:
    places = ((row, column) for column in range(size) for row in range(column if is_symmetric else 0, size))
    for number, line in rest:
        row, column = next(places, (-1, -1))
        if row < 0:
            raise PointsmanError(f"line {number}: the array is full, and here is one more number")
        yield row, column, _number(line.strip(), number), number


def _coordinates(rest: Iterator[tuple[int, str]], size: int, is_pattern: bool) -> Iterator[tuple[int, int, float, int]]:
    for number, line in rest:
        words = line.split()
        if len(words) != 3 - is_pattern:
            what = "row and column" if is_pattern else "row, column and value"
            raise PointsmanError(f"line {number}: an entry must be {what}, not {' '.join(words)[:60]!r}")
        if PLACE.fullmatch(words[0]) and PLACE.fullmatch(words[1]):
            row, column = int(words[0]), int(words[1])
        else:
            row, column = _whole(words[:2], number, 2, "row and column")
        if not (1 <= row <= size and 1 <= column <= size):
            raise PointsmanError(f"line {number}: row and column must be 1 to {size}, not {row} and {column}")
        yield row - 1, column - 1, 1.0 if is_pattern else _number(words[2], number), number


def _whole(words: list[str], number: int, count: int, what: str) -> list[int]:
    if len(words) != count or not all(word.isascii() and word.isdigit() and len(word) <= 12 for word in words):
        raise PointsmanError(f"line {number}: {what} must be {count} whole numbers, not {' '.join(words)[:60]!r}")
    return [int(word) for word in words]


def _number(text: str, number: int, hint: str | None = None) -> float:
    try:
        # Python alone reads "1_000", and digits of other scripts.
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not (value == 0 or LEAST <= value <= MOST):
        what = f"0, or a number of {LEAST:g} to {MOST:g}" if 0 < value < math.inf else "a number of 0 or more"
        raise PointsmanError(f"line {number}: a demand must be {what}, not {text.strip()[:40]!r}", hint=hint)
    return value


def _size(size: int, number: int) -> int:
    if not 1 <= size <= MAX_NODES:
        raise PointsmanError(f"line {number}: a matrix must have 1 to {MAX_NODES} rows, not {size}")
    return size


def _flows(size: int, entries: dict[tuple[int, int], float]) -> FlowSet:
    sends, takes = [0.0] * size, [0.0] * size
    for (row, column), value in entries.items():
        sends[row] += value
        takes[column] += value
    most = max([*sends, *takes])
    tasks = tuple(Task(f"node {node}", node) for node in range(size))
    return FlowSet(
        tasks,
        tuple(
            Flow(f"{row} to {column}", row, (column,), min(1.0, value / most))
            for (row, column), value in sorted(entries.items())
        ),
    )
