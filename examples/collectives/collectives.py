"""Collectives on the node: all-reduce, reduce-scatter, all-gather or all-to-all of int32 words, compared with NumPy's.

An all-reduce is an operator of COP. The others are made of operators by `pointsman.runtime.collectives`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from pointsman.cop import Network, Parts, allreduce
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer
from pointsman.runtime.collectives import AllGather, AllToAll, ReduceScatter

KINDS = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all")


class Collectives(Application):
    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--kind", choices=KINDS, default="all-gather", help="the collective (default all-gather)")
        parser.add_argument(
            "--words", type=int, default=16, help="words of the vector, of a part, or of a node's message (default 16)"
        )

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if not 1 <= options.words <= 65_536:
            raise PointsmanError(f"--words must be 1 to 65536, not {options.words}")
        self.gather = AllGather("g", topology, options.words)
        self.scatter = ReduceScatter("s", topology, options.words)
        self.exchange = AllToAll("x", topology, options.words)

    def program(self, network: Network) -> Parts:
        if self.options_given.kind == "all-reduce":
            return allreduce("r", "add", m=self.options_given.words)
        made = {"all-gather": self.gather, "reduce-scatter": self.scatter, "all-to-all": self.exchange}
        return made[self.options_given.kind].parts()

    def given(self, number: int) -> np.ndarray:
        """What a node begins with."""
        parts = self.topology.nodes if self.options_given.kind in ("reduce-scatter", "all-to-all") else 1
        words = np.random.default_rng(number).integers(-1000, 1000, (parts, self.options_given.words))
        return words.astype(np.int32)

    async def main(self, node: Node) -> np.ndarray:
        given = self.given(node.number)
        if self.options_given.kind == "all-gather":
            return await self.gather.carried_out(node, given[0])
        if self.options_given.kind == "reduce-scatter":
            return await self.scatter.carried_out(node, given)
        if self.options_given.kind == "all-to-all":
            return await self.exchange.carried_out(node, given)
        await node.cop.r_load()
        return np.array(await node.cop.r_func(given[0]))

    def check(self, results: Sequence[np.ndarray]) -> str:
        given = np.array([self.given(number) for number in range(len(results))])
        for number, result in enumerate(results):
            if self.options_given.kind == "all-gather":
                right = given[:, 0]
            elif self.options_given.kind == "all-to-all":
                right = given[:, number]
            else:
                right = given.sum(axis=0)[number if self.options_given.kind == "reduce-scatter" else 0]
            if not np.array_equal(result, right):
                raise WrongAnswer(f"node {number} ends with {result}, and must have {right}")
        return f"{self.options_given.kind} of {self.options_given.words} words: all {len(results)} nodes are right"
