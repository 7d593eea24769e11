"""Blocks go round a mesh and are mixed on the way: broadcast along the rows, shift along the columns.

Every column is the source of the broadcast once, and the first one again at the end, so that the routers' memories are
left as they were found and the program can be run again without loading anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer


class Exchange(Application):
    program = "exchange.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--block", type=int, default=16, help="words of a block (default 16)")
        parser.add_argument("--values", type=int, default=1, help="seed of the random blocks (default 1)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if len(topology.size) != 2 or min(topology.size) < 2:
            raise PointsmanError(f"the exchange needs a mesh of two dimensions, not {topology}")
        if not 1 <= options.block <= 4096:
            raise PointsmanError(f"--block must be 1 to 4096, not {options.block}")
        self.columns, self.rows = topology.size
        self.sources = [*range(self.columns), 0]
        random = np.random.default_rng(options.values)
        self.blocks = random.integers(0, 1 << 32, (self.rows, self.columns, options.block), dtype=np.uint32)

    def parameters(self) -> Mapping[str, int]:
        return {"block": self.blocks.shape[2]}

    async def main(self, node: Node) -> Any:
        x, y = node.coordinates
        block = self.blocks[y, x]
        await node.cop.round_load()
        for source in self.sources:
            await node.cop.b_load(source)
            if x == source:
                await node.cop.b_write(block.view(np.int32))
                heard = block
            else:
                heard = (await node.cop.b_read()).view(np.uint32)
            await node.cop.c_load()
            block = (await node.cop.c_func(mix(block, heard).view(np.int32))).view(np.uint32)
        return block

    def check(self, results: Sequence[Any]) -> str:
        blocks = self.blocks
        for source in self.sources:
            blocks = np.roll(mix(blocks, blocks[:, source : source + 1]), -1, axis=0)
        if not np.array_equal(np.reshape(results, blocks.shape), blocks):
            raise WrongAnswer("the blocks differ from those that numpy makes")
        return f"the {len(results)} blocks equal those that numpy makes in {len(self.sources)} rounds"


def mix(block: np.ndarray, heard: np.ndarray) -> np.ndarray:
    """The block that goes on: every word depends on both, so that no word can be taken for another."""
    return (block * np.uint32(0x9E3779B1)) ^ heard ^ (heard >> np.uint32(15))
