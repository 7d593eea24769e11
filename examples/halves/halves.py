"""Two computations side by side on the halves of a mesh, as disjoint threads (Metcalf 1997, §6.1.2).

Node 0 reads two numbers, of which all nodes make their first blocks of words. Each half is a ring of its nodes: in a round every
node takes its own block twice, those of its neighbours in the ring, and that of the half's first node. The halves run different
numbers of rounds. At the end all get the block of the last node.

    echo "3 5" | pointsman run --mesh 4x2 examples/halves/halves.py -- --numbers -
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
WORD = 4
"""Cycles that a node computes for a word in a round."""


class Halves(Application):
    program = "halves.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--numbers", default="3 5", help="two numbers, or - to read them (default '3 5')")
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
        text = sys.stdin.readline() if options.numbers == "-" else options.numbers
        try:
            self.numbers = [int(number) % MODULUS for number in text.split()]
        except ValueError:
            self.numbers = []
        if len(self.numbers) != 2:
            raise PointsmanError(
                f"two whole numbers are needed, not {text.strip()!r}", hint="--numbers '3 5', for instance"
            )
        across = topology.size[0]
        self.halves = [
            [node for node in range(topology.nodes) if (node % across < across // 2) == left] for left in (True, False)
        ]

    def parameters(self) -> Mapping[str, int]:
        return {"words": self.words, "left_rounds": self.rounds[0], "right_rounds": self.rounds[1]}

    def first_block(self, node: int, numbers: Sequence[int]) -> np.ndarray:
        return (numbers[0] * np.arange(self.words) + numbers[1] * node) % MODULUS

    async def main(self, node: Node) -> Any:
        cop = node.cop
        await cop.input_load()
        if node.number == 0:
            numbers = self.numbers
            await cop.input_write(np.array(numbers, np.int32))
        else:
            numbers = [int(number) for number in await cop.input_read()]
        block = self.first_block(node.number, numbers)
        if node.number in self.halves[0]:
            await cop.left_load()
            for _ in range(self.rounds[0]):
                block = await self.round(node, block, "l", node.number == self.halves[0][0])
        else:
            await cop.right_load()
            for _ in range(self.rounds[1]):
                block = await self.round(node, block, "r", node.number == self.halves[1][0])
        await cop.result_load()
        if node.number == self.topology.nodes - 1:
            await cop.result_write(block.astype(np.int32))
            return block.tolist(), block.tolist()
        return block.tolist(), [int(word) for word in await cop.result_read()]

    async def round(self, node: Node, block: np.ndarray, half: str, first: bool) -> np.ndarray:
        """A round of a node; ``half`` is the first letter of its operators."""

        async def call(name: str, *words: np.ndarray) -> Any:
            return await node.cop.__getattr__(f"{half}{name}")(*words)

        mine = block.astype(np.int32)
        await call("b_load")
        if first:
            await call("b_write", mine)
            common = block
        else:
            common = (await call("b_read")).astype(np.int64)
        await call("u_load")
        below = (await call("u_func", mine)).astype(np.int64)
        await call("d_load")
        above = (await call("d_func", mine)).astype(np.int64)
        await node.compute(WORD * self.words)
        return (2 * block + below + above + common) % MODULUS

    def check(self, results: Sequence[Any]) -> str:
        blocks = {}
        for nodes, rounds in zip(self.halves, self.rounds, strict=True):
            ring = np.array([self.first_block(node, self.numbers) for node in nodes])
            for _ in range(rounds):
                ring = (2 * ring + np.roll(ring, 1, axis=0) + np.roll(ring, -1, axis=0) + ring[0]) % MODULUS
            blocks.update(zip(nodes, ring.tolist(), strict=True))
        last = blocks[self.topology.nodes - 1]
        wrong = [node for node, (own, common) in enumerate(results) if own != blocks[node] or common != last]
        if wrong:
            raise WrongAnswer(f"the blocks of nodes {', '.join(map(str, wrong))} are not what the rounds give")
        return f"all {len(results)} blocks are right after {self.rounds[0]} and {self.rounds[1]} rounds"
