"""Gaussian elimination: solve A·x = b with partial pivoting and back substitution (Metcalf 1997, §2.9, §8.4.2).

Node (x, y) holds the elements A[y::Y, x::X]; the nodes of column 0 hold b as well and end up with the solution. In step i

* the nodes that hold column i find the largest element of it below the diagonal (``r0``),
* and tell the others in their rows which row p it is in, and by what each of their rows must be multiplied (``b1``);
* row i goes to where row p was (``s2``, if it is another row), row p to all nodes (``b3``), and everybody subtracts.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, Reference, WrongAnswer

ELEMENT = 9.213
STEP = 80.6
"""Cycles to subtract one element, and for a step of a node besides. The CPU column of Table 8.4 times the nodes is a straight
line in the number of nodes: 28.64 million cycles, and 16,935 for each node. A step subtracts (n - 1 - i)(n + 1 - i) elements, b
included, 3,108,875 in all: 9.213 cycles each; 16,935 cycles are 80.6 for each of a node's 210 steps."""


def maxloc(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
    """Of two messages (a number, the row that it is in) the one with the larger absolute value; of equals the upper row."""
    (a, row_a), (b, row_b) = _unpacked(one), _unpacked(other)
    out[:] = one if (abs(a), -row_a) >= (abs(b), -row_b) else other


def _packed(value: float, row: int) -> np.ndarray:
    return np.concatenate([np.array([value]).view(np.int32), np.array([row], np.int32)])


def _unpacked(words: np.ndarray) -> tuple[float, int]:
    return float(words[:2].copy().view(np.float64)[0]), int(words[2])


class Gauss(Application):
    program = "gauss.cop"
    functions = {"maxloc": maxloc}  # noqa: RUF012 - nothing changes it

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--size", type=int, default=210, help="equations of the random system (default 210)")
        parser.add_argument("--values", type=int, default=1, help="seed of the random system (default 1)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2 or topology.size[0] != topology.size[1]:
            raise PointsmanError(f"the elimination needs a square mesh, not {topology}")
        self.across = topology.size[0]
        self.n = options.size
        if not 1 <= self.n <= 4096:
            raise PointsmanError(f"--size must be 1 to 4096, not {self.n}")
        if self.n % self.across:
            raise PointsmanError(
                f"{self.n} equations do not divide among {self.across} rows of nodes",
                hint=f"use a size that {self.across} divides, for instance {max(1, self.n // self.across) * self.across}",
            )
        random = np.random.default_rng(options.values)
        self.a = random.standard_normal((self.n, self.n))
        self.b = random.standard_normal(self.n)

    def parameters(self) -> Mapping[str, int]:
        return {"n": self.n}

    async def main(self, node: Node) -> Any:
        x, y = node.coordinates
        mine = _Block(self.a[y :: self.across, x :: self.across], self.b[y :: self.across], x, y, self.across)
        await node.cop.elim_load()
        for i in range(self.n):
            pivot = await self._pivot(node, mine, i)
            p, factors = await self._factors(node, mine, i, pivot)
            row = await self._pivot_row(node, mine, i, p, factors)
            rows, columns = mine.below(i), mine.right_of(i)
            mine.rows[np.ix_(rows, columns)] -= np.outer(factors[rows], row[columns])
            await node.compute(round(ELEMENT * rows.size * columns.size + STEP))
        await node.cop.subst_load()
        for i in reversed(range(self.n)):
            await self._substitute(node, mine, i)
        return mine.rows[:, -1]

    async def _pivot(self, node: Node, mine: _Block, i: int) -> tuple[float, int]:
        """The largest element of column i on or below the diagonal, and its row; 0 where column i is elsewhere."""
        best = (0.0, self.n)
        if mine.x == i % self.across:
            rows = mine.from_row(i)
            if rows.size:
                column = mine.rows[rows, i // self.across]
                largest = int(np.argmax(np.abs(column)))
                best = float(column[largest]), int(mine.number(rows[largest]))
        await node.cop.r0_load()
        return _unpacked(await node.cop.r0_func(_packed(*best)))

    async def _factors(self, node: Node, mine: _Block, i: int, pivot: tuple[float, int]) -> tuple[int, np.ndarray]:
        """The pivot's row, and by what it must be multiplied for each row here."""
        factors = np.zeros(len(mine.rows))
        await node.cop.b1_load(i % self.across)
        if mine.x == i % self.across:
            value, p = pivot
            rows = mine.from_row(i)
            factors[rows] = mine.rows[rows, i // self.across] / value
            for factor in factors:
                await node.cop.b1_write(_packed(factor, p))
            return p, factors
        p = -1
        for row in range(len(factors)):
            factors[row], p = _unpacked(await node.cop.b1_read())
        return p, factors

    async def _pivot_row(self, node: Node, mine: _Block, i: int, p: int, factors: np.ndarray) -> np.ndarray:
        """Row p changes places with row i. Gives this node's part of it, b last."""
        n = self.across
        here = mine.y == p % n
        row = mine.rows[p // n].copy() if here else None
        if p != i:
            await node.cop.s2_load(i % n, p % n)
            if mine.y == i % n:
                away = np.append(mine.rows[i // n], factors[i // n])
                await node.cop.s2_write(away.view(np.int32))
            if here:
                arrived = (await node.cop.s2_read()).view(np.float64)
                mine.rows[p // n], factors[p // n] = arrived[:-1], arrived[-1]
        await node.cop.b3_load(p % n)
        if row is not None:
            await node.cop.b3_write(row.view(np.int32))
        else:
            row = (await node.cop.b3_read()).view(np.float64)
        if mine.y == i % n:
            mine.rows[i // n] = row
        return row

    async def _substitute(self, node: Node, mine: _Block, i: int) -> None:
        """Find item i of the solution, in the place of b[i], and take its share away from the equations above."""
        n = self.across
        await node.cop.s4_load(i % n)
        if mine.x == i % n:
            await node.cop.s4_write(np.ascontiguousarray(mine.rows[:, i // n]).view(np.int32))
        if mine.x != 0:
            return
        column = (await node.cop.s4_read()).view(np.float64)
        await node.cop.b5_load(i % n)
        if mine.y == i % n:
            mine.rows[i // n, -1] /= column[i // n]
            item = mine.rows[i // n, -1:].copy()
            await node.cop.b5_write(item.view(np.int32))
        else:
            item = (await node.cop.b5_read()).view(np.float64)
        above = mine.above(i)
        mine.rows[above, -1] -= column[above] * item
        await node.compute(round(ELEMENT * above.size))

    def check(self, results: Sequence[Any]) -> str:
        found = np.zeros(self.n)
        for y in range(self.across):
            found[y :: self.across] = results[y * self.across]
        # Backward stability: the residual against what rounding in a factorisation of this size may leave (Higham 2002, §9).
        residual = np.abs(self.a @ found - self.b).max()
        scale = np.abs(self.a).sum(axis=1).max() * np.abs(found).max() + np.abs(self.b).max()
        bound = 10 * self.n * np.finfo(np.float64).eps * scale
        expected = np.linalg.solve(self.a, self.b)
        distance = np.abs(found - expected).max() / np.abs(expected).max()
        allowed = 10 * self.n * np.finfo(np.float64).eps * np.linalg.cond(self.a)
        if not (residual <= bound and distance <= allowed):
            raise WrongAnswer(f"the solution differs from numpy's by {distance:.2g} of its largest item")
        return f"the solution of {self.n} equations is within {distance:.1e} of numpy's"

    def reference(self) -> Reference | None:
        mesh = f"{self.across}x{self.across}"
        with open(Path(__file__).with_name("metcalf1997.csv"), newline="") as file:
            rows = {row.pop("mesh"): row for row in csv.DictReader(line for line in file if not line.startswith("#"))}
        if self.n != 210 or mesh not in rows:
            return None
        return Reference(
            "Metcalf 1997", "Table 8.4", {name: float(value) for name, value in rows[mesh].items()}, "", {}
        )


class _Block:
    """A node's part of the system: rows y, y + Y, … of the columns x, x + X, …, and b as the last column (on column 0 of the
    nodes; elsewhere that is zero)."""

    def __init__(self, a: np.ndarray, b: np.ndarray, x: int, y: int, across: int) -> None:
        self.x, self.y, self.across = x, y, across
        self.rows = np.column_stack([a, b if x == 0 else np.zeros(len(a))])
        self._rows = np.arange(len(a)) * across + y
        self._columns = np.append(np.arange(a.shape[1]) * across + x, np.iinfo(np.int64).max)

    def number(self, row: int) -> int:
        """The row of the matrix that is row number ``row`` here."""
        return int(self._rows[row])

    def from_row(self, i: int) -> np.ndarray:
        return np.flatnonzero(self._rows >= i)

    def below(self, i: int) -> np.ndarray:
        return np.flatnonzero(self._rows > i)

    def above(self, i: int) -> np.ndarray:
        return np.flatnonzero(self._rows < i)

    def right_of(self, i: int) -> np.ndarray:
        """Columns here to the right of column i, b among them on column 0 of the nodes."""
        columns = np.flatnonzero(self._columns > i)
        return columns if self.x == 0 else columns[:-1]
