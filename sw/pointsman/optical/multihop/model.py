"""Delay and throughput of packets that hop, by formulas (Yuan 1998, §§4.2 and 4.3).

Routers and connections are queues of their own, with constant service. The greatest rates are those of the formulas of §4.3:
1/(switch (h + 2)) for routers, P/((h + 1) M d) for connections, M nodes. The text prints N for M = N² in the second and twice
the first in Table 4.2; `Model.printed_router_rate` has what that table prints.

§4.3 takes all arrivals for Poisson processes (`Model.printed_delay`). On one clock they are smoother, and queues shorter:

- a node receives on one channel at a time, so connections bring a router at most one packet a slot; only what its own node adds
  can come beside it;
- a router hands on one packet every ``switch`` slots, so of the pairs of packets that could come to a connection in a frame of
  d slots, switch/d cannot.

`Model.delay` has both. It is within a tenth of the simulation up to 0.8 of the greatest rate on 8×8."""

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
        passing = rate * (self.intermediate + 1)
        apart = max(0.0, 1 - self.switch / self.degree)
        return self._sum(
            _waiting_in_slots(passing, rate, self.switch), apart * _waiting(self._at_path(rate), self.degree)
        )

    def printed_delay(self, rate: float = 0.0) -> float:
        """As §4.3 has it, with Poisson arrivals at every router and connection."""
        if rate >= self.greatest_rate:
            return inf
        at_router = rate * (self.intermediate + 2)
        return self._sum(_waiting(at_router, self.switch), _waiting(self._at_path(rate), self.degree))

    def _at_path(self, rate: float) -> float:
        """Packets per slot that come to a connection."""
        return rate * self.nodes * (self.intermediate + 1) / self.paths

    def _sum(self, at_router: float, at_path: float) -> float:
        """Delay by the mean waits in a router and in the buffer of a connection."""
        routing = self.switch + at_router
        transmission = (self.degree + 1) / 2 + at_path
        return (self.intermediate + 2) * routing + (self.intermediate + 1) * transmission


def _waiting(rate: float, service: float) -> float:
    """Mean wait in an M/D/1 queue."""
    return rate * service * service / (2 * (1 - rate * service))


def _waiting_in_slots(passing: float, own: float, service: float) -> float:
    """Mean wait in a queue with constant service to which, slot by slot, connections bring at most one packet (``passing`` in
    the mean), and a Poisson number of the node's own (``own`` in the mean).

    With a batch A of packets in every slot, independent of others, that is the work that a slot's first packet finds,
    (s² E[A²] - s E[A]) / (2 (1 - s E[A])), and what of its batch is served before it, s E[A (A - 1)] / (2 E[A]).
    """
    mean = passing + own
    if not mean:
        return 0.0
    pairs = own * (2 * passing + own)  # E[A (A - 1)]
    found = (service * service * (pairs + mean) - service * mean) / (2 * (1 - service * mean))
    return max(0.0, found + service * pairs / (2 * mean))


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
    raise PointsmanError(f"logical: there is no topology '{name}'", hint=f"known are {', '.join(LOGICAL)}")


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
