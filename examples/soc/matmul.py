"""The matrix multiplication of ``matmul.c`` in Python, with the same COP text and the same matrices."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

MULTIPLY_ADD = 5
"""Cycles of a multiplication with its addition (Metcalf 1997, Table 8.3)."""


class Matmul(Application):
    program = "matmul.c"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--side", type=int, default=6, help="rows and columns of a node's block (default 6)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2 or topology.size[0] != topology.size[1]:
            raise PointsmanError(f"the matrix multiplication needs a square mesh, not {topology}")
        if options.side < 1:
            raise PointsmanError(f"--side must be at least 1, not {options.side}")
        self.side = options.side
        self.n = topology.size[0]
        row, column = np.indices((self.n * self.side,) * 2, dtype=np.int32)
        self.a = (31 * row + 17 * column + 5) % 199 - 99
        self.b = (13 * row + 29 * column + 7) % 211 - 105

    def parameters(self) -> Mapping[str, int]:
        return {"side": self.side}

    def block(self, matrix: np.ndarray, node: int) -> np.ndarray:
        y, x = divmod(node, self.n)
        side = self.side
        return np.ascontiguousarray(matrix[y * side : (y + 1) * side, x * side : (x + 1) * side])

    def expected(self, node: int) -> list[int]:
        """What a node outputs: its block of the product, row by row."""
        found: list[int] = self.block(self.a @ self.b, node).reshape(-1).tolist()
        return found

    async def main(self, node: Node) -> list[int]:
        a, b = self.block(self.a, node.number), self.block(self.b, node.number)
        total = np.zeros_like(a)
        x, y = node.coordinates
        await node.cop.mul_load()
        for k in range(self.n):
            source = (y + k) % self.n
            await node.cop.b_load(source)
            left = a
            if x == source:
                await node.cop.b_write(a)
            else:
                left = (await node.cop.b_read()).reshape(a.shape)
            total += left @ b
            await node.compute(MULTIPLY_ADD * self.side**3)
            await node.cop.c_load()
            b = (await node.cop.c_func(b)).reshape(a.shape)
        found: list[int] = total.reshape(-1).tolist()
        return found

    def check(self, results: Sequence[list[int]]) -> str:
        if any(result != self.expected(node) for node, result in enumerate(results)):
            raise WrongAnswer("the product differs from numpy's")
        return f"the {len(self.a)}×{len(self.a)} product equals numpy's"
