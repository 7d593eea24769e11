"""The smoothing of ``halo.c`` in Python, with the same COP text and the same numbers."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

SWEEPS = 4
POINT = 10
"""Cycles of a point: five additions, five loads and a shift overlap somewhat."""


class Halo(Application):
    program = "halo.c"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--side", type=int, default=6, help="rows and columns of a node's square (default 6)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2:
            raise PointsmanError(f"squares lie on a mesh of two dimensions, such as 3x2, not on a {topology.described}")
        if options.side < 1:
            raise PointsmanError(f"--side must be at least 1, not {options.side}")
        self.side = options.side
        self.x, self.y = topology.size
        row, column = np.indices((self.y * self.side, self.x * self.side), dtype=np.int32)
        self.field = (37 * row + 101 * column) % 1009

    def parameters(self) -> Mapping[str, int]:
        return {"side": self.side, "sweeps": SWEEPS}

    def square(self, field: np.ndarray, node: int) -> np.ndarray:
        y, x = divmod(node, self.x)
        side = self.side
        return np.ascontiguousarray(field[y * side : (y + 1) * side, x * side : (x + 1) * side])

    def expected(self, node: int) -> list[int]:
        """What a node outputs: its square, row by row, computed here on the whole torus."""
        field = self.field
        for _ in range(SWEEPS):
            around = sum(np.roll(field, by, axis) for axis in (0, 1) for by in (1, -1))
            field = (4 * field + around) >> 3
        found: list[int] = self.square(field, node).reshape(-1).tolist()
        return found

    async def main(self, node: Node) -> list[int]:
        field, cop = self.square(self.field, node.number), node.cop
        await cop.sweep_load()
        for _ in range(SWEEPS):
            wide = np.zeros((self.side + 2,) * 2, np.int32)
            wide[1:-1, 1:-1] = field
            await cop.east_load()
            wide[1:-1, 0] = await cop.east_func(field[:, -1])
            await cop.west_load()
            wide[1:-1, -1] = await cop.west_func(field[:, 0])
            await cop.south_load()
            wide[0, 1:-1] = await cop.south_func(field[-1])
            await cop.north_load()
            wide[-1, 1:-1] = await cop.north_func(field[0])
            around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
            field = (4 * field + around) >> 3
            await node.compute(POINT * self.side**2)
        found: list[int] = field.reshape(-1).tolist()
        return found

    def check(self, results: Sequence[list[int]]) -> str:
        if any(result != self.expected(node) for node, result in enumerate(results)):
            raise WrongAnswer("the field differs from that of one process")
        return f"{SWEEPS} sweeps over {self.field.shape[0]}×{self.field.shape[1]} points equal those of one process"
