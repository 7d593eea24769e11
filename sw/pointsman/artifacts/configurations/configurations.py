"""Problems and answers of ``pointsman configure``: connections or demands, and configurations or timetables.

A *configuration* is a set of connections that the network carries at the same time; the number of configurations is the
*multiplexing degree* (Yuan 1998, §2.1; Ding et al., §2). Connections exclude each other when they share a directed link, a
source or a destination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus

Connection = tuple[int, int]
"""(source, destination)"""
Kind = Literal["torus", "mesh", "crossbar"]
Routing = Literal["xy", "free"]

MAX_PORTS = 4096
MAX_CONNECTIONS = 1 << 20


@dataclass(frozen=True)
class Network:
    """A torus or mesh of ``size`` (x first), or a crossbar with ``size[0]`` ports on either side."""

    kind: Kind
    size: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.kind == "crossbar" and (len(self.size) != 1 or not 1 <= self.size[0] <= MAX_PORTS):
            raise PointsmanError(f"network.size: a crossbar must have one size, 1 to {MAX_PORTS} ports, not {self}")
        if self.kind != "crossbar":
            _ = self.topology

    @cached_property
    def topology(self) -> Topology:
        """Nodes and links of a torus or mesh."""
        assert self.kind != "crossbar"
        return (torus if self.kind == "torus" else mesh)(*self.size)

    @property
    def nodes(self) -> int:
        return self.size[0] if self.kind == "crossbar" else self.topology.nodes

    def __str__(self) -> str:
        return "x".join(map(str, self.size))


@dataclass(frozen=True)
class ConnectionProblem:
    """Connections to be divided into as few configurations as possible.

    ``routing`` "xy": each connection takes the way of dimension order (``network.dimension_order``); "free": the
    scheduler chooses the ways. A crossbar has no ways to choose.
    """

    network: Network
    connections: tuple[Connection, ...]
    routing: Routing = "xy"

    def __post_init__(self) -> None:
        seen: dict[Connection, int] = {}
        nodes = self.network.nodes
        if len(self.connections) > MAX_CONNECTIONS:
            raise PointsmanError(f"connections: there must be at most {MAX_CONNECTIONS}, not {len(self.connections)}")
        for index, (source, destination) in enumerate(self.connections):
            place = f"connections[{index}]"
            for node in (source, destination):
                if not 0 <= node < nodes:
                    raise PointsmanError(f"{place}: a node must be one of 0..{nodes - 1}, not {node}")
            if source == destination and self.network.kind != "crossbar":
                raise PointsmanError(
                    f"{place}: on a {self.network.kind} a connection must join two nodes, not {source} and itself"
                )
            if (source, destination) in seen:
                raise PointsmanError(
                    f"{place}: a connection must be named once; {source} -> {destination} is "
                    f"connections[{seen[source, destination]}] already"
                )
            seen[source, destination] = index


@dataclass(frozen=True)
class DemandProblem:
    """For how long each input of a crossbar has to send to each output: ``demand[source][destination]``.

    ``delta`` is the time for establishing a configuration, in the same unit as the demand. There may be several ``switches``
    side by side, each joined to all ports and set independently of the others; a demand may be divided between them. With
    ``overlap`` a switch establishes its next configuration while the one before is in use."""

    demand: tuple[tuple[Fraction, ...], ...]
    delta: Fraction = Fraction(0)
    switches: int = 1
    overlap: bool = False

    def __post_init__(self) -> None:
        ports = len(self.demand)
        if not 1 <= ports <= MAX_PORTS:
            raise PointsmanError(f"demand: there must be 1 to {MAX_PORTS} rows, not {ports}")
        for u, row in enumerate(self.demand):
            if len(row) != ports:
                raise PointsmanError(f"demand[{u}]: a demand must be square, and this row has {len(row)} of {ports}")
            for v, amount in enumerate(row):
                if amount < 0:
                    raise PointsmanError(f"demand[{u}][{v}]: a demand must not be negative, but is {float(amount):g}")
        if self.delta < 0:
            raise PointsmanError(
                f"delta: the cost of a configuration must not be negative, but is {float(self.delta):g}"
            )
        if not 1 <= self.switches <= MAX_PORTS:
            raise PointsmanError(f"switches: there must be 1 to {MAX_PORTS}, not {self.switches}")

    @property
    def ports(self) -> int:
        return len(self.demand)


@dataclass(frozen=True)
class ConfigurationBound:
    """A lower bound for every scheduler: ``value`` configurations (for a demand: time), and the argument in words."""

    value: int | Fraction
    kind: str
    text: str


@dataclass(frozen=True)
class Configurations:
    """The answer for a ``ConnectionProblem``.

    ``configurations[c]`` are the connections of slot c; ``paths[c]`` the nodes that each of them passes, both ends
    included (on a crossbar the two ports). ``bound`` is the tightest of ``bounds``.
    """

    problem: ConnectionProblem
    configurations: tuple[tuple[Connection, ...], ...]
    paths: tuple[tuple[tuple[int, ...], ...], ...]
    algorithm: str
    bounds: tuple[ConfigurationBound, ...] = ()
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"Configurations(degree={self.degree}, bound={self.bound}, algorithm={self.algorithm!r})"

    @property
    def degree(self) -> int:
        return len(self.configurations)

    @property
    def bound(self) -> int:
        return int(max((bound.value for bound in self.bounds), default=0))

    def as_dict(self) -> dict[str, Any]:
        """The file that ``pointsman configure --json`` writes."""
        free = self.problem.routing == "free" and self.problem.network.kind != "crossbar"
        return {
            "configurations": [
                [[*pair, path] if free else list(pair) for pair, path in zip(pairs, paths, strict=True)]
                for pairs, paths in zip(self.configurations, self.paths, strict=True)
            ],
            "degree": self.degree,
            "bound": self.bound,
            "bounds": [_bound_dict(bound) for bound in self.bounds],
            "algorithm": self.algorithm,
            "seconds": round(self.seconds, 6),
        }


@dataclass(frozen=True)
class TimedConfiguration:
    """Connections that stand together for the time ``duration``, on one of several switches."""

    duration: Fraction
    connections: tuple[Connection, ...]
    switch: int = 0


@dataclass(frozen=True)
class Timetable:
    """The answer for a ``DemandProblem``: configurations one after the other, each after ``delta`` of set-up; on each switch
    its own, in this order."""

    problem: DemandProblem
    configurations: tuple[TimedConfiguration, ...]
    algorithm: str
    bounds: tuple[ConfigurationBound, ...] = ()
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"Timetable(degree={self.degree}, total={self.total}, bound={self.bound}, algorithm={self.algorithm!r})"

    @property
    def degree(self) -> int:
        return len(self.configurations)

    @property
    def total(self) -> Fraction:
        """Time until the last switch is done, set-up included."""
        ends = [Fraction(0)] * self.problem.switches
        loaded = [self.problem.delta] * self.problem.switches
        """When the next configuration can stand, if it is established beside the one before."""
        for entry in self.configurations:
            at = entry.switch
            begin = max(ends[at], loaded[at]) if self.problem.overlap else ends[at] + self.problem.delta
            loaded[at] = begin + self.problem.delta
            ends[at] = begin + entry.duration
        return max(ends)

    @property
    def bound(self) -> Fraction:
        return max((Fraction(bound.value) for bound in self.bounds), default=Fraction(0))

    def as_dict(self) -> dict[str, Any]:
        return {
            "configurations": [
                {
                    "duration": number(entry.duration),
                    "connections": [list(pair) for pair in entry.connections],
                    **({"switch": entry.switch} if self.problem.switches > 1 else {}),
                }
                for entry in self.configurations
            ],
            "degree": self.degree,
            "total": number(self.total),
            "bound": number(self.bound),
            "bounds": [_bound_dict(bound) for bound in self.bounds],
            "delta": number(self.problem.delta),
            **({"switches": self.problem.switches} if self.problem.switches > 1 else {}),
            **({"overlap": True} if self.problem.overlap else {}),
            "algorithm": self.algorithm,
            "seconds": round(self.seconds, 6),
        }


def number(value: int | Fraction) -> int | float:
    """A number for JSON: whole as int, any other as float."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else float(exact)


def _bound_dict(bound: ConfigurationBound) -> dict[str, Any]:
    return {"value": number(bound.value), "kind": bound.kind, "text": bound.text}


def check_connections(connections: Sequence[Connection], ports: int) -> None:
    """Refuse connections that a crossbar of ``ports`` ports does not have, or that are named twice."""
    ConnectionProblem(Network("crossbar", (ports,)), tuple(connections))
