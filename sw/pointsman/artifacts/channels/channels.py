"""Problems and answers of ``pointsman channels``: connections with words, and phases in which they stand together.

Every node has a number of *logical channels*, buffers of which any may be joined to any link; a connection takes one at every
node that it passes, both ends included, for as long as its phase is active. Connections of a link share it word by word. What
does not fit into one phase is divided between several, one active at a time, with a *context switch* before each (Feldmann,
Stricker and Warfel 1993, §2 and §4; "ConSet").
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from pointsman.artifacts.configurations.configurations import ConfigurationBound
from pointsman.errors import PointsmanError
from pointsman.network import Topology

MAX_CHANNELS = 1024
MAX_WORDS = 1 << 40
MAX_DEMANDS = 1 << 16
MAX_PHASES = 1 << 12


@dataclass(frozen=True)
class ChannelCosts:
    """Costs of a machine in clocks; the defaults are those of iWarp (Feldmann et al. 1993, §4.2.1 and §4.3.1).

    ``word`` is what a processor needs for a word that it sends or receives, and a link for a word that it carries; ``access``,
    if given, is what the processor needs. ``duplex``: a processor sends and receives at the same time. ``message`` is what a
    message costs its sender, and again its receiver. ``hop`` is the time of a word from node to node.
    """

    word: int = 2
    access: int | None = None
    synchronize: int = 352
    initialize: int = 176
    message: int = 400
    hop: int = 4
    duplex: bool = True

    def __post_init__(self) -> None:
        for name in ("word", "access", "synchronize", "initialize", "message", "hop"):
            value, least = getattr(self, name), 0 if name in ("synchronize", "initialize", "message") else 1
            if value is not None and not least <= value <= 1_000_000:
                raise PointsmanError(f"costs.{name}: clocks must be {least} to 1000000, not {value}")

    @property
    def switch(self) -> int:
        """Clocks of a context switch."""
        return self.synchronize + self.initialize

    @property
    def element(self) -> int:
        """Clocks of a processor for a word."""
        return self.word if self.access is None else max(self.access, self.word)


@dataclass(frozen=True)
class Demand:
    """A connection: ``words`` from ``source`` to ``destination``.

    ``bandwidth`` is the least share of every link on its way that it may be left with when all others of its phase send, too;
    ``latency`` the most clocks of a word on its way.
    """

    source: int
    destination: int
    words: int = 1
    bandwidth: Fraction = Fraction(0)
    latency: int | None = None


@dataclass(frozen=True)
class ChannelProblem:
    """Connections to be divided into phases.

    ``phases`` is the number that there may be at most; None: as few as can be found. ``order`` has pairs (i, j) of
    connections: j may begin when i has ended.
    """

    topology: Topology
    channels: int
    connections: tuple[Demand, ...]
    phases: int | None = None
    order: tuple[tuple[int, int], ...] = ()
    costs: ChannelCosts = field(default_factory=ChannelCosts)

    def __post_init__(self) -> None:
        if not 1 <= self.channels <= MAX_CHANNELS:
            raise PointsmanError(
                f"channels: a node must have 1 to {MAX_CHANNELS} logical channels, not {self.channels}"
            )
        if self.phases is not None and not 1 <= self.phases <= MAX_PHASES:
            raise PointsmanError(f'phases: must be "fewest" or 1 to {MAX_PHASES}, not {self.phases}')
        if len(self.connections) > MAX_DEMANDS:
            raise PointsmanError(f"connections: there must be at most {MAX_DEMANDS}, not {len(self.connections)}")
        for index, demand in enumerate(self.connections):
            _check(demand, f"connections[{index}]", self.topology)
        for index, (demand, links) in enumerate(zip(self.connections, self.distances, strict=True)):
            _check_way(demand, links, f"connections[{index}]", self)
        _check_order(self.order, len(self.connections))

    @cached_property
    def distances(self) -> tuple[int, ...]:
        """Fewest links from source to destination, for each connection."""
        known: dict[int, list[int]] = {}
        for demand in self.connections:
            if demand.source not in known:
                known[demand.source] = links_from(self.topology, demand.source)
        return tuple(known[demand.source][demand.destination] for demand in self.connections)

    def longest(self, index: int) -> int:
        """Most links that connection ``index`` may take."""
        latency = self.connections[index].latency
        most = self.topology.nodes - 1
        return most if latency is None else min(most, latency // self.costs.hop)

    def sharers(self, index: int) -> int:
        """Most connections, itself included, on a link that connection ``index`` takes."""
        share = self.connections[index].bandwidth
        return MAX_DEMANDS if not share else int(1 / share)


@dataclass(frozen=True)
class ChannelRoute:
    """A connection in its phase.

    ``path`` are the nodes passed, ``channels`` the logical channel at each of them; ``start`` and ``end`` the clocks of its
    transfer in the timetables of both processors, counted from the phase's beginning.
    """

    connection: int
    path: tuple[int, ...]
    channels: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class PhasedConnections:
    """The answer: ``phases[p]`` are the routes of phase p."""

    problem: ChannelProblem
    phases: tuple[tuple[ChannelRoute, ...], ...]
    algorithm: str
    bounds: tuple[ConfigurationBound, ...] = ()
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"PhasedConnections({len(self.phases)} phases, bound={self.bound}, algorithm={self.algorithm!r})"

    @property
    def bound(self) -> int:
        """No division has fewer phases."""
        return int(max((bound.value for bound in self.bounds), default=0))

    @property
    def predicted(self) -> int:
        """Clocks of all phases: a context switch and the timetable of each (§5.1 of the paper)."""
        return sum(self.problem.costs.switch + length(routes) for routes in self.phases)

    def as_dict(self) -> dict[str, Any]:
        """The file that ``pointsman channels --json`` writes."""
        topology = self.problem.topology
        network: dict[str, Any] = {"kind": topology.kind, "size": list(topology.size)}
        if not topology.regular:
            links = sorted(
                {(min(u, v), max(u, v)) for u, ports in enumerate(topology.at_port) for v, _ in ports.values()}
            )
            network = {"kind": topology.kind, "size": [topology.nodes], "links": links}
        return {
            "network": network,
            "channels": self.problem.channels,
            "phases": [self._phase(routes) for routes in self.phases],
            "predicted": {
                "clocks": self.predicted,
                "switches": self.problem.costs.switch * len(self.phases),
                "transfers": self.predicted - self.problem.costs.switch * len(self.phases),
            },
            "bound": self.bound,
            "bounds": [{"value": int(b.value), "kind": b.kind, "text": b.text} for b in self.bounds],
            "algorithm": self.algorithm,
            "seconds": round(self.seconds, 6),
        }

    def _phase(self, routes: tuple[ChannelRoute, ...]) -> dict[str, Any]:
        guaranteed = shares(routes)
        demands = self.problem.connections
        return {
            "clocks": length(routes),
            "channels": max(channels_used(routes).values(), default=0),
            "connections": [
                {
                    "connection": route.connection,
                    "source": demands[route.connection].source,
                    "destination": demands[route.connection].destination,
                    "words": demands[route.connection].words,
                    "path": route.path,
                    "channels": route.channels,
                    "start": route.start,
                    "end": route.end,
                    "share": float(share),
                }
                for route, share in zip(routes, guaranteed, strict=True)
            ],
        }


def length(routes: tuple[ChannelRoute, ...]) -> int:
    """Clocks until the last transfer of a phase has ended."""
    return max((route.end for route in routes), default=0)


def channels_used(routes: tuple[ChannelRoute, ...]) -> Counter[int]:
    """Logical channels in use at each node."""
    return Counter(node for route in routes for node in route.path)


def shares(routes: tuple[ChannelRoute, ...]) -> list[Fraction]:
    """Share of a link that each connection has for certain, whoever else of its phase sends: the links are given to
    connections in turn, a word each (fair round robin)."""
    users = Counter(hop for route in routes for hop in pairwise(route.path))
    return [Fraction(1, max((users[hop] for hop in pairwise(route.path)), default=1)) for route in routes]


def links_from(topology: Topology, start: int) -> list[int]:
    """Fewest links from ``start`` to each node; as many as there are nodes where no way leads."""
    found = [topology.nodes] * topology.nodes
    found[start] = 0
    queue = [start]
    for node in queue:
        for other, _ in topology.at_port[node].values():
            if found[other] > found[node] + 1:
                found[other] = found[node] + 1
                queue.append(other)
    return found


def _check(demand: Demand, place: str, topology: Topology) -> None:
    for node in (demand.source, demand.destination):
        if not 0 <= node < topology.nodes:
            raise PointsmanError(f"{place}: a node must be one of 0..{topology.nodes - 1}, not {node}")
        if node in topology.dead:
            raise PointsmanError(f"{place}: node {node} does not work")
    if demand.source == demand.destination:
        raise PointsmanError(f"{place}: a connection must join two nodes, not {demand.source} and itself")
    if not 1 <= demand.words <= MAX_WORDS:
        raise PointsmanError(f"{place}: there must be 1 to {MAX_WORDS} words, not {demand.words}")
    if not 0 <= demand.bandwidth <= 1:
        raise PointsmanError(f"{place}: a bandwidth must be a share of a link, 0 to 1, not {float(demand.bandwidth):g}")


def _check_way(demand: Demand, links: int, place: str, problem: ChannelProblem) -> None:
    """There must be a way, short enough for the latency, and with a channel at either end."""
    ends = f"node {demand.source} to node {demand.destination}"
    if links >= problem.topology.nodes:
        raise PointsmanError(f"{place}: no way leads from {ends}")
    if demand.latency is not None and demand.latency < links * problem.costs.hop:
        raise PointsmanError(
            f"{place}: a latency of {demand.latency} clocks cannot hold: the way from {ends} has {links} links of "
            f"{problem.costs.hop} clocks at least"
        )


def _check_order(order: tuple[tuple[int, int], ...], count: int) -> None:
    """Pairs must name connections, and no connection may wait for itself."""
    after: dict[int, list[int]] = {}
    waits = Counter[int]()
    for index, (before, later) in enumerate(order):
        for one in (before, later):
            if not 0 <= one < count:
                raise PointsmanError(f"order[{index}]: there is no connection {one} among {count}")
        after.setdefault(before, []).append(later)
        waits[later] += 1
    ready = [one for one in range(count) if not waits[one]]
    for one in ready:
        for later in after.get(one, ()):
            waits[later] -= 1
            if not waits[later]:
                ready.append(later)
    if len(ready) < count:
        stuck = min(one for one in range(count) if waits[one])
        raise PointsmanError(f"order: connection {stuck} would have to end before it begins")
