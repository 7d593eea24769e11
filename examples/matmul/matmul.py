"""Matrix multiplication: C = A·B, a block of each matrix on every node (Metcalf 1997, §8.4.1).

Node (x, y) holds A[y, x], B[y, x] and C[y, x]. In round k the nodes of row y hear the block A[y, (y + k) mod n] from
the node that holds it; B has moved up k rows by then, so that the node's block of B is B[(y + k) mod n, x], and the
product of the two is what C[y, x] lacks.
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

MULTIPLY_ADD = 5
"""Cycles of a multiplication with its addition. Makes the CPU column of Metcalf's Table 8.3, 5·60³/nodes, exact."""


class Matmul(Application):
    program = "matmul.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--size", type=int, help="rows and columns of random matrices (default 60)")
        parser.add_argument("--type", choices=["int32", "float32"], help="type of the items (default int32)")
        parser.add_argument("--a", type=Path, help="left matrix, a .npy file")
        parser.add_argument("--b", type=Path, help="right matrix, a .npy file")
        parser.add_argument("--values", type=int, default=1, help="seed of the random matrices (default 1)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2 or topology.size[0] != topology.size[1]:
            raise PointsmanError(f"the matrix multiplication needs a square mesh, not {topology}")
        self.n = topology.size[0]
        self.a, self.b = self._matrices(options)
        size = self.a.shape[0]
        if size % self.n:
            raise PointsmanError(
                f"matrices of {size} rows do not divide into {self.n} blocks",
                hint=f"use a size that {self.n} divides, for instance {max(1, size // self.n) * self.n}",
            )
        self.side = size // self.n

    @staticmethod
    def _matrices(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
        if (options.a is None) != (options.b is None):
            raise PointsmanError("give both --a and --b, or neither")
        if options.a is not None:
            if options.size is not None or options.type is not None:
                raise PointsmanError("the matrices of --a and --b bring their own size and type")
            a, b = (_load(path) for path in (options.a, options.b))
            if a.shape != b.shape or a.dtype != b.dtype:
                raise PointsmanError(f"--a and --b differ: {a.dtype} {a.shape} and {b.dtype} {b.shape}")
            return a, b
        size = 60 if options.size is None else options.size
        if not 1 <= size <= 4096:
            raise PointsmanError(f"--size must be 1 to 4096, not {size}")
        random = np.random.default_rng(options.values)
        dtype = np.dtype(options.type or "int32")
        if dtype.kind == "i":
            a, b = random.integers(-1000, 1000, (2, size, size), dtype=np.int32)
        else:
            a, b = random.standard_normal((2, size, size), dtype=np.float32)
        return a, b

    def parameters(self) -> Mapping[str, int]:
        return {"block": self.side * self.side}

    def _block(self, matrix: np.ndarray, x: int, y: int) -> np.ndarray:
        side = self.side
        return np.ascontiguousarray(matrix[y * side : (y + 1) * side, x * side : (x + 1) * side])

    async def main(self, node: Node) -> Any:
        x, y = node.coordinates
        a, b = self._block(self.a, x, y), self._block(self.b, x, y)
        dtype, shape = a.dtype, a.shape
        c = np.zeros_like(a)
        await node.cop.mul_load()
        for k in range(self.n):
            source = (y + k) % self.n
            await node.cop.b_load(source)
            if x == source:
                await node.cop.b_write(a.view(np.int32))
                left = a
            else:
                left = (await node.cop.b_read()).view(dtype).reshape(shape)
            c += left @ b
            await node.compute(MULTIPLY_ADD * self.side**3)
            await node.cop.c_load()
            b = (await node.cop.c_func(b.view(np.int32))).view(dtype).reshape(shape)
        return c

    def check(self, results: Sequence[Any]) -> str:
        rows = [np.hstack(results[y * self.n : (y + 1) * self.n]) for y in range(self.n)]
        product = np.vstack(rows)
        if self.a.dtype.kind == "i":
            expected = self.a @ self.b
            right = np.array_equal(product, expected)
            how = "equals"
        else:
            # Blocks are summed in another order than numpy's: bound the error by the sizes that were summed.
            exact = self.a.astype(np.float64) @ self.b.astype(np.float64)
            scale = np.abs(self.a).astype(np.float64) @ np.abs(self.b).astype(np.float64)
            error = np.abs(product - exact)
            right = bool(np.all(error <= 2 * len(self.a) * np.finfo(np.float32).eps * scale))
            how = "is within rounding of"
        if not right:
            raise WrongAnswer("the product differs from numpy's")
        size = self.a.shape[0]
        return f"the {size}×{size} {self.a.dtype} product {how} numpy's"

    def reference(self) -> Reference | None:
        mesh = f"{self.n}x{self.n}"
        with open(Path(__file__).with_name("metcalf1997.csv"), newline="") as file:
            rows = {row["mesh"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}
        if len(self.a) != 60 or mesh not in rows:
            return None
        row = {name: float(value) for name, value in rows[mesh].items() if name != "mesh"}
        return Reference(
            "Metcalf 1997",
            "Table 8.3",
            {name: row[name] for name in ("cpu", "write", "read", "psync", "router", "reprog")},
            "Table 8.2",
            {"b": row["broadcast"], "c": row["shift"]},
        )


def _load(path: Path) -> np.ndarray:
    try:
        matrix = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise PointsmanError(f"cannot read the matrix {path}: {error}") from None
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise PointsmanError(f"{path} must hold one square matrix")
    if matrix.dtype not in (np.int32, np.float32):
        raise PointsmanError(f"{path} must hold int32 or float32, not {matrix.dtype}")
    return matrix
