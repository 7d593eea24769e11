"""Two computations on the halves of a mesh, with lines of numbers from a console for both (Metcalf 1997, §5.1.2).

Node 0 reads lines of two numbers, a factor and a number to be added, one for each round of the longer half; every node gets
each of them. In a round of the left half a node adds up its block and those of its neighbours in the half, in a round of the
right one its block, that of the node before it and that of the first node; then it applies the line. Before and after, blocks go
round all nodes.

    seq 1 12 | xargs -n 2 | pointsman run --mesh 4x2 examples/console/console.py -- --lines -
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

MODULUS = 1 << 16
WORD = 3
"""Cycles that a node computes for a word in a round."""


class Console(Application):
    program = "console.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--lines", help="lines of two numbers divided by ;, or - to read them (default: made up)")
        parser.add_argument("--words", type=int, default=64, help="words of a block (default 64)")
        parser.add_argument(
            "--rounds", type=int, nargs=2, default=(6, 4), help="of the left and the right half (default 6 4)"
        )

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2 or topology.size[0] % 2:
            raise PointsmanError(f"the halves need a mesh of an even number of columns, not {topology}")
        if not 1 <= options.words <= 4096:
            raise PointsmanError(f"--words must be 1 to 4096, not {options.words}")
        if not all(1 <= rounds <= 1000 for rounds in options.rounds):
            raise PointsmanError(f"--rounds must be 1 to 1000 each, not {' and '.join(map(str, options.rounds))}")
        self.words = options.words
        self.rounds = tuple(options.rounds)
        self.lines = self._lines(options.lines, max(self.rounds))
        across = topology.size[0]
        self.halves = [
            [node for node in range(topology.nodes) if (node % across < across // 2) == left] for left in (True, False)
        ]

    @staticmethod
    def _lines(given: str | None, count: int) -> list[tuple[int, int]]:
        if given is None:
            return [(2 * k + 3, 7 * k + 1) for k in range(count)]
        texts = sys.stdin.read().splitlines() if given == "-" else given.split(";")
        try:
            lines = [tuple(int(number) % MODULUS for number in text.split()) for text in texts]
        except ValueError:
            lines = []
        if len(lines) != count or any(len(line) != 2 for line in lines):
            raise PointsmanError(
                f"{count} lines of two whole numbers are needed, one for each round of the longer half",
                hint="--lines '3 5; 2 1; 1 0', for instance",
            )
        return [(line[0], line[1]) for line in lines]

    def parameters(self) -> Mapping[str, int]:
        return {"words": self.words, "left_rounds": self.rounds[0], "right_rounds": self.rounds[1]}

    def first_block(self, node: int) -> np.ndarray:
        return (np.arange(self.words) * (node + 1) + 11 * node) % MODULUS

    async def main(self, node: Node) -> Any:
        cop = node.cop

        async def around(name: str, block: np.ndarray) -> np.ndarray:
            await cop.__getattr__(f"{name}_load")()
            return (await cop.__getattr__(f"{name}_func")(block.astype(np.int32))).astype(np.int64)

        async def line(k: int) -> tuple[int, int]:
            await cop.stdin_load()
            if node.number == 0:
                await cop.stdin_write(np.array(self.lines[k], np.int32))
                return self.lines[k]
            factor, more = await cop.stdin_read()
            return int(factor), int(more)

        block = await around("setup", self.first_block(node.number))
        left = node.number in self.halves[0]
        await (cop.left_load if left else cop.right_load)()
        for k in range(self.rounds[0 if left else 1]):
            factor, more = await line(k)
            if left:
                total = block + await around("lu", block) + await around("ld", block)
            else:
                await cop.rb_load()
                if node.number == self.halves[1][0]:
                    await cop.rb_write(block.astype(np.int32))
                    common = block
                else:
                    common = (await cop.rb_read()).astype(np.int64)
                total = block + common + await around("ru", block)
            await node.compute(WORD * self.words)
            block = (factor * total + more) % MODULUS
        for k in range(self.rounds[0 if left else 1], len(self.lines)):
            await line(k)  # for the other half
        return (await around("finish", block)).tolist()

    def check(self, results: Sequence[Any]) -> str:
        blocks = np.roll([self.first_block(node) for node in range(self.topology.nodes)], 1, axis=0)
        for nodes, rounds, left in zip(self.halves, self.rounds, (True, False), strict=True):
            half = blocks[nodes]
            for factor, more in self.lines[:rounds]:
                below = np.roll(half, 1, axis=0)
                third = np.roll(half, -1, axis=0) if left else half[:1]
                half = (factor * (half + below + third) + more) % MODULUS
            blocks[nodes] = half
        right = np.roll(blocks, -1, axis=0)
        wrong = [node for node, block in enumerate(results) if block != right[node].tolist()]
        if wrong:
            raise WrongAnswer(f"the blocks of nodes {', '.join(map(str, wrong))} are not what the lines give")
        return f"all {len(results)} blocks are right after {len(self.lines)} lines"
