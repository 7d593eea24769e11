"""A problem on a small network, with prices by chance, for the kernels that place one word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.network import Topology
from pointsman.routing.ideal_router.model import net_of, scratch_of, words_of
from pointsman.routing.ideal_router.symmetry import no_symmetry


@dataclass
class Placing:
    """What a kernel is given for the words of ``problem``, without symmetry: every resource has a row of its own."""

    problem: RouteProblem
    period: int
    net: Any
    rows: Any
    n_rows: int
    words: Any
    room: Any
    price: np.ndarray

    def link(self, u: int, v: int, slot: int) -> int:
        """Price of a link in a slot."""
        return self.cell(self.problem.links.index((u, v)), slot)

    def injection(self, node: int, slot: int) -> int:
        return self.cell(len(self.problem.links) + node, slot)

    def ejection(self, node: int, slot: int) -> int:
        return self.cell(len(self.problem.links) + self.problem.nodes + node, slot)

    def way(self, source: int, size: int) -> list[int]:
        """Nodes of the way, of ``size`` links, that a kernel has found."""
        nodes = [source]
        for link in self.room.path[:size].tolist():
            u, v = self.problem.links[link]
            assert u == nodes[-1]
            nodes.append(v)
        return nodes

    def cell(self, resource: int, slot: int) -> int:
        return int(self.price[self.rows.row[resource] * self.period + slot % self.period])


@pytest.fixture(scope="session")
def placing() -> Callable[..., Placing]:
    def make(
        topology: Topology,
        stream: RouteStream,
        period: int,
        seed: int,
        *,
        extra: int = 0,
        buffers: bool = False,
        most: int = 50,
    ) -> Placing:
        problem = RouteProblem(topology, (stream,), buffers=buffers)
        net, group = net_of(problem), no_symmetry(problem)
        rows, n_rows = group.rows(problem, period)
        words, _ = words_of(problem, net, group, rows, period, extra)
        price = np.random.default_rng(seed).integers(0, most, n_rows * period).astype(np.int32)
        room = scratch_of(problem, net, period, extra, seed)
        return Placing(problem, period, net, rows, n_rows, words, room, price)

    return make
