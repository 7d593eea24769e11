"""Delay and throughput of packets that hop, by formulas (Yuan 1998, §§4.2 and 4.3).

Routers and connections are queues of their own, with Poisson arrivals and constant service. The greatest rates are those of the
formulas of §4.3: 1/(switch (h + 2)) for routers, P/((h + 1) M d) for connections, M nodes. The text prints N for M = N² in the
second and twice the first in Table 4.2; `Model.printed_router_rate` has what that table prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isqrt, log2

from pointsman.errors import PointsmanError
from pointsman.optical.logical import LOGICAL, Logical


@dataclass(frozen=True)
class Model:
    """A logical topology by its numbers.

    Parameters
    ----------
    nodes : int
    intermediate : float
        Intermediate nodes of a packet in the mean (h).
    degree : float
        Slots of a frame (d).
    paths : int
        Connections (P).
    switch : float
        Slots for routing a packet at a node (gamma).
    """

    nodes: int
    intermediate: float
    degree: int
    paths: int
    switch: float

    @property
    def router_rate(self) -> float:
        """Packets per node and slot that routers can do."""
        return 1 / (self.switch * (self.intermediate + 2)) if self.switch else inf

    @property
    def printed_router_rate(self) -> float:
        """As Table 4.2 prints it: twice the formula."""
        return 2 * self.router_rate

    @property
    def path_rate(self) -> float:
        """Packets per node and slot that connections can carry."""
        return self.paths / ((self.intermediate + 1) * self.nodes * self.degree)

    @property
    def greatest_rate(self) -> float:
        """Packets per node and slot at most."""
        return min(self.router_rate, self.path_rate)

    def delay(self, rate: float = 0.0) -> float:
        """Mean slots from a packet's being ready to its delivery at ``rate`` packets per node and slot; infinite from the
        greatest rate on. Without others on the way: (h + 2) switch + (h + 1)(d + 1)/2."""
        if rate >= self.greatest_rate:
            return inf
        at_router = rate * (self.intermediate + 2)
        at_path = rate * self.nodes * (self.intermediate + 1) / self.paths
        routing = self.switch + _waiting(at_router, self.switch)
        transmission = (self.degree + 1) / 2 + _waiting(at_path, self.degree)
        return (self.intermediate + 2) * routing + (self.intermediate + 1) * transmission


def _waiting(rate: float, service: float) -> float:
    """Mean wait in an M/D/1 queue."""
    return rate * service * service / (2 * (1 - rate * service))


def model_of(logical: Logical, switch: float) -> Model:
    """The model of a logical topology as it is assigned."""
    return Model(logical.fabric.nodes, logical.intermediate(), logical.degree, len(logical.paths), switch)


def published(name: str, side: int, switch: float) -> Model:
    """The model of a logical topology on a ``side``×``side`` torus by Table 4.1, with the hypercube's P as Table 4.2 needs it.

    >>> round(published("hypercube", 32, 1).path_rate, 3)
    0.1
    """
    nodes = side * side
    if name == "all-to-all":
        return Model(nodes, 0, max(1, side**3 // 8), nodes * (nodes - 1), switch)
    if name == "allxy":
        degree = 2 * side - 2 if side <= 8 else -(-side * side // 8)
        return Model(
            nodes, (nodes - 2 * side + 1) / (nodes - 1), max(degree, 2 * side - 2), nodes * (2 * side - 2), switch
        )
    if name == "hypercube":
        bits = side.bit_length() - 1
        if side != 1 << bits:
            raise PointsmanError(f"logical: a hypercube needs a side that is a power of two, not {side}")
        degree = max(2 * bits, 7 * side // 12 + (1 if bits % 2 == 0 else 2))  # every node sends to 2 lg N others
        return Model(nodes, log2(side) - 1, degree, nodes * 2 * bits, switch)
    if name == "torus":
        return Model(nodes, side / 2 - 1, 4, 4 * nodes, switch)
    raise PointsmanError(f"logical: there is no '{name}'", hint=f"known are {', '.join(LOGICAL)}")


def best(side: int, switch: float, rate: float = 0.0, names: Sequence[str] = LOGICAL) -> str:
    """The logical topology with the least delay on a ``side``×``side`` torus (the regions of Figures 4.13, 4.22 and 4.23);
    those of the hypercube only where it exists. If all are saturated, the one with the greatest rate."""
    models = {name: published(name, side, switch) for name in names if name != "hypercube" or not side & (side - 1)}
    return min(models, key=lambda name: (models[name].delay(rate), -models[name].greatest_rate))


def crossover(side: int, low: str, high: str) -> float:
    """The time for routing a packet from which on ``high`` has less delay than ``low`` without others on the way (§4.2)."""
    one, two = published(low, side, 0), published(high, side, 0)
    return (two.delay() - one.delay()) / (one.intermediate - two.intermediate)


def side_of(nodes: int) -> int | None:
    """Side of a square torus of so many nodes."""
    side = isqrt(nodes)
    return side if side * side == nodes else None
