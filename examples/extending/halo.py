"""Averaging over neighbours: an operator defined in COP, and an implementation of one's own.

Run it with

    pointsman run examples/extending/halo.py --mesh 3x3 --implementations examples/extending/star_broadcast.py

Each node has a field of some words. In every sweep it adds the fields of its neighbours to its own, and then what
node 0 broadcasts.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

STEPS = (("east", 0, 1), ("west", 0, -1), ("north", 1, 1), ("south", 1, -1))
"""Label, dimension and direction of each stream of the halo."""


class Halo(Application):
    program = "halo.cop"

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--words", type=int, default=8, help="words of a field (default 8)")
        parser.add_argument("--sweeps", type=int, default=3, help="sweeps (default 3)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        if topology.kind != "mesh" or len(topology.size) != 2:
            raise PointsmanError(f"the halo needs a mesh of two dimensions, not {topology}")
        if not 1 <= options.words <= 1024 or not 1 <= options.sweeps <= 100:
            raise PointsmanError("--words must be 1 to 1024 and --sweeps 1 to 100")
        self.words, self.sweeps = options.words, options.sweeps
        self.steps = [step for step in STEPS if topology.size[step[1]] > 1]  # grid has no links where there is one node

    def parameters(self) -> Mapping[str, int]:
        return {"words": self.words}

    def start(self, node: int) -> np.ndarray:
        """The field of a node at the beginning."""
        return (np.arange(self.words) + 100 * node).astype(np.int32)

    async def main(self, node: Node) -> Any:
        field = self.start(node.number)
        place = node.coordinates
        await node.cop.sweep_load()
        for _ in range(self.sweeps):
            for label, _, _ in self.steps:  # all loads of a parallel group come before its first word
                await getattr(node.cop, f"{label}_load")()
            mine = field.copy()
            for label, dimension, step in self.steps:
                if 0 <= place[dimension] + step < self.topology.size[dimension]:
                    await getattr(node.cop, f"{label}_write")(mine)
                if 0 <= place[dimension] - step < self.topology.size[dimension]:
                    field += await getattr(node.cop, f"{label}_read")()
            await node.cop.go_load()
            if node.number == 0:
                await node.cop.go_write(field)
            else:
                field += await node.cop.go_read()
        return field

    def check(self, results: Sequence[Any]) -> str:
        fields = np.array([self.start(node) for node in range(self.topology.nodes)])
        for _ in range(self.sweeps):
            before = fields.copy()
            for link in self.topology.links:
                fields[link.node] += before[link.other]
                fields[link.other] += before[link.node]
            fields[1:] += fields[0]
        if not np.array_equal(np.array(results), fields):
            raise WrongAnswer("the fields differ from numpy's")
        return f"the fields of {len(fields)} nodes equal numpy's after {self.sweeps} sweeps"
