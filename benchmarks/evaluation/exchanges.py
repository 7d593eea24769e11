"""Two communications alone, without computing: bit reversal, and every node with every other one (all-to-all).

Bit reversal is the operator of this name. All-to-all is a shift for each distance, several at the same time where routers are
scheduled (``AllToAll``); packet routers carry one after the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from pointsman.cop import Network, Parts, bitreverse
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer
from pointsman.runtime.collectives import AllToAll

KINDS = ("bit-reversal", "all-to-all")


class Exchanges(Application):
    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--kind", choices=KINDS, default="bit-reversal", help="the communication")
        parser.add_argument("--words", type=int, default=16, help="words of a message (default 16)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        self.kind, self.words, self.across = options.kind, options.words, topology.nodes
        if not 1 <= self.words <= 65_536:
            raise PointsmanError(f"--words must be 1 to 65536, not {self.words}")
        if self.across < 2 or self.across & (self.across - 1):
            raise PointsmanError(f"the mesh must have 2, 4, 8 … nodes, not {self.across}")
        self.exchange = AllToAll("by", topology, self.words)

    def program(self, network: Network) -> Parts:
        if self.kind == "bit-reversal":
            return bitreverse("order", m=self.words)
        return self.exchange.parts()

    def message(self, source: int, end: int) -> np.ndarray:
        """What ``source`` sends to ``end``."""
        return np.random.default_rng([source, end]).integers(-1000, 1000, self.words, dtype=np.int32)

    def reversed(self, number: int) -> int:
        """The bits of a node's number the other way round."""
        return int(f"{number:0{(self.across - 1).bit_length()}b}"[::-1], 2)

    async def main(self, node: Node) -> list[np.ndarray]:
        """The messages that came, the one of the nearest sender before this node first."""
        here, cop = node.number, node.cop
        if self.kind == "bit-reversal":
            await cop.order_load()
            return [np.array(await cop.order_func(self.message(here, self.reversed(here))))]
        sent = np.array([self.message(here, end) for end in range(self.across)])
        came = await self.exchange.carried_out(node, sent)
        return [came[(here - distance) % self.across] for distance in range(1, self.across)]

    def check(self, results: Sequence[list[np.ndarray]]) -> str:
        for number, received in enumerate(results):
            sources = [(number - distance) % self.across for distance in range(1, self.across)]
            if self.kind == "bit-reversal":
                sources = [self.reversed(number)]
            expected = [self.message(source, number) for source in sources]
            if len(received) != len(expected) or not all(map(np.array_equal, received, expected)):
                raise WrongAnswer(f"node {number} received other words than were sent to it")
        return f"every node received what was sent to it, {len(results[0])} messages of {self.words} words"
