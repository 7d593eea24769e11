"""Jacobi's method for Laplace's equation on a square whose edges keep their values, a block of it on each node.

The job of ``examples/arrays/jacobi.f90``, with its communications written by hand instead of derived: the two are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

POINT_CYCLES = 10
"""Cycles of a point: three additions, a multiplication, and the copy back."""


class Jacobi(Application):
    program = "jacobi.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--size", type=int, default=32, help="rows and columns of the square, its edges included (default 32)"
        )
        parser.add_argument("--steps", type=int, default=4, help="steps (default 4)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2 or any(options.size % along for along in topology.size) or options.steps < 0:
            raise PointsmanError(
                f"a square of {options.size} rows does not divide into the blocks of a {topology.described}"
            )
        self.wide, self.high = (options.size // along for along in topology.size)
        self.first = (0.5 + np.random.default_rng(1).random((options.size,) * 2)).astype(np.float32)

    def parameters(self) -> Mapping[str, int]:
        return {"high": self.high, "wide": self.wide}

    async def main(self, node: Node) -> Any:
        x, y = node.coordinates
        columns, rows = self.topology.size
        # The block with a rim of one point, which is the neighbours'; there is none around the square.
        u = np.zeros((self.high + 2, self.wide + 2), np.float32)
        u[1:-1, 1:-1] = self.first[y * self.high : (y + 1) * self.high, x * self.wide : (x + 1) * self.wide]
        # Points of the square's edges keep their values.
        top, bottom = int(y == 0), self.high - int(y == rows - 1)
        left, right = int(x == 0), self.wide - int(x == columns - 1)
        await node.cop.step_load()
        for _ in range(self.options_given.steps):
            # Each is loaded when it is used: the compiler may have put them into several phases.
            await node.cop.east_load()
            u[1:-1, 0] = await node.cop.east_func(u[1:-1, -2])
            await node.cop.west_load()
            u[1:-1, -1] = await node.cop.west_func(u[1:-1, 1])
            await node.cop.south_load()
            u[0, 1:-1] = await node.cop.south_func(u[-2, 1:-1])
            await node.cop.north_load()
            u[-1, 1:-1] = await node.cop.north_func(u[1, 1:-1])
            u[1 + top : 1 + bottom, 1 + left : 1 + right] = step(u[top : bottom + 2, left : right + 2])
            await node.compute(POINT_CYCLES * (bottom - top) * (right - left))
        return u[1:-1, 1:-1]

    def check(self, results: Sequence[Any]) -> str:
        columns, rows = self.topology.size
        found = np.vstack([np.hstack(results[y * columns : (y + 1) * columns]) for y in range(rows)])
        u = self.first.copy()
        for _ in range(self.options_given.steps):
            u[1:-1, 1:-1] = step(u)
        if not np.array_equal(found, u):
            raise WrongAnswer("the square differs from that of a single processor")
        return f"the square of {len(found)} rows equals that of a single processor"


def step(u: np.ndarray) -> np.ndarray:
    """The means of all inner points' neighbours."""
    return (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * np.float32(0.25)
