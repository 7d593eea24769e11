"""Problems and results of ``pointsman route``, for the ideal model and the NuMesh node.

A problem is a network of directed links and the streams to be carried; a result has the moves of every word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from numesh.shape import NodeShape, ShapeError
from pointsman.artifacts.images.images import Images
from pointsman.errors import PointsmanError
from pointsman.network import Link, Topology

RouterName = Literal["ideal", "numesh"]
Move = tuple[int | None, int, int | None, int | None, int | None]
"""(from, slot, to, pipeline, vfsm) of a word. From None: injected by the source's processor; to None: delivered; from =
to: the word waits at the node. Pipeline and VFSM are None in the ideal model."""
Word = tuple[Move, ...]


@dataclass(frozen=True)
class RouteStream:
    """A stream as the user states it.

    ``words`` is the number of words per period in the ideal model, ignored in the numesh model; ``weight`` is the share
    of bandwidth relative to other streams in the numesh model, ignored in the ideal model.
    """

    source: int
    destinations: tuple[int, ...]
    weight: float = 1.0
    words: int = 1


@dataclass(frozen=True)
class RouteProblem:
    """Streams on a network.

    Parameters
    ----------
    topology : Topology
        All nodes, links and ports, faulty ones included; no two links join the same two nodes.
    dead_nodes : frozenset of int
        Faulty nodes, which carry no words.
    dead_links : frozenset of (int, int)
        Directed links that carry no words, besides those of dead nodes. If a graph has a link u -> v only, v -> u is
        here.
    streams : tuple of RouteStream
        Streams to be carried; none starts or ends at a dead node, and each can reach its destinations.
    shape : NodeShape
        Sizes of the NuMesh node (numesh model).
    buffers : bool
        Whether words may wait in nodes (ideal model).
    """

    topology: Topology
    streams: tuple[RouteStream, ...]
    dead_nodes: frozenset[int] = frozenset()
    dead_links: frozenset[tuple[int, int]] = frozenset()
    shape: NodeShape = field(default_factory=NodeShape)
    buffers: bool = False

    @property
    def nodes(self) -> int:
        return self.topology.nodes

    @cached_property
    def links(self) -> tuple[tuple[int, int], ...]:
        """Directed links that carry words, ascending."""
        pairs = set()
        for link in self.topology.links:
            pairs.add((link.node, link.other))
            pairs.add((link.other, link.node))
        return tuple(
            sorted((u, v) for u, v in pairs - self.dead_links if u not in self.dead_nodes and v not in self.dead_nodes)
        )

    @cached_property
    def following(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the nodes that its links lead to."""
        table: list[list[int]] = [[] for _ in range(self.nodes)]
        for u, v in self.links:
            table[u].append(v)
        return tuple(tuple(row) for row in table)

    def distances(self, source: int) -> list[int]:
        """Links from ``source`` to each node; -1 where it cannot be reached."""
        hops = [-1] * self.nodes
        hops[source] = 0
        reached = [source]
        for node in reached:
            for after in self.following[node]:
                if hops[after] < 0:
                    hops[after] = hops[node] + 1
                    reached.append(after)
        return hops


@dataclass(frozen=True)
class Bound:
    """A bound that no router can beat.

    ``value`` is a lower bound of the period in slots (ideal model), or an upper bound of the smallest bandwidth /
    weight of all streams (numesh model); ``kind`` names the argument: injection, ejection, hop capacity, cut, counting,
    linear program, link and node prices, chain. ``text`` is the argument in words, ``nodes`` and ``links`` the
    resources that it counts, ``tolerance`` the largest error of a value from floating point (0: exact).
    """

    value: float
    kind: str
    text: str = ""
    nodes: tuple[int, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    tolerance: float = 0.0


@dataclass(frozen=True)
class RoutedWords:
    """The words of a stream in a period, with their moves, and the stream's bandwidth in words per slot."""

    bandwidth: float
    words: tuple[Word, ...]


@dataclass(frozen=True)
class NodeTable:
    """A NuMesh node's timetable: per slot a VFSM number for each pipeline, and (pipeline, vfsm, type, source, destination)."""

    schedule: tuple[tuple[int, ...], ...]
    annotations: tuple[tuple[int, int, str, str, str], ...]


@dataclass(frozen=True)
class RouteResult:
    """Routes and slots of all streams.

    ``bound`` is the bound to compare the result with; ``bounds`` are all that were computed. ``length_reason`` says how
    the period was chosen; ``notes`` is anything else worth printing. ``images`` are the images of the nodes for these
    routes (numesh model), for the judge; they are not written to the file.
    """

    router: RouterName
    period: int
    streams: tuple[RoutedWords, ...] = field(repr=False)
    bound: Bound | None = None
    bounds: tuple[Bound, ...] = field(default=(), repr=False)
    seconds: float = 0.0
    bound_seconds: float = 0.0
    nodes: tuple[NodeTable, ...] | None = field(default=None, repr=False)
    length_reason: str = ""
    notes: tuple[str, ...] = ()
    images: Images | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The file that ``pointsman route --json`` writes."""
        answer: dict[str, Any] = {
            "router": self.router,
            "period": self.period,
            "bound": None if self.bound is None else bound_dict(self.bound),
            "bounds": [bound_dict(bound) for bound in self.bounds],
            "seconds": round(self.seconds, 6),
            "bound_seconds": round(self.bound_seconds, 6),
            "length_reason": self.length_reason,
            "notes": list(self.notes),
            "streams": [{"bandwidth": stream.bandwidth, "words": stream.words} for stream in self.streams],
        }
        if self.nodes is not None:
            answer["nodes"] = [{"schedule": node.schedule, "annotations": node.annotations} for node in self.nodes]
        return answer


def bound_dict(bound: Bound) -> dict[str, Any]:
    """A bound as it is written into files."""
    answer: dict[str, Any] = {"value": bound.value, "kind": bound.kind, "text": bound.text}
    if bound.tolerance:
        answer["tolerance"] = bound.tolerance
    return answer


def single_links(topology: Topology) -> Topology:
    """``topology`` with a single link for each pair of neighbours; a ring of two nodes, for example, has two."""
    seen: set[tuple[int, int]] = set()
    kept: list[Link] = []
    for link in topology.links:
        pair = (min(link.node, link.other), max(link.node, link.other))
        if pair not in seen:
            seen.add(pair)
            kept.append(link)
    return Topology(topology.kind, topology.size, tuple(kept))


def directed(nodes: int, pairs: Sequence[tuple[int, int]]) -> tuple[Topology, frozenset[tuple[int, int]]]:
    """A topology of two-way links that contains the directed links ``pairs``, and its directions not in ``pairs``."""
    wanted = set(pairs)
    used = [0] * nodes
    links = []
    for u, v in sorted({(min(pair), max(pair)) for pair in wanted}):
        links.append(Link(u, used[u], v, used[v]))
        used[u] += 1
        used[v] += 1
    extra = {(v, u) for u, v in wanted} - wanted
    return Topology("graph", (nodes,), tuple(links)), frozenset(extra)


def shape_for(topology: Topology, **sizes: Any) -> NodeShape:
    """Shape of a node with enough ports for ``topology``; ``sizes``: other parameters of ``NodeShape``.

    Raises
    ------
    PointsmanError
        If no node can have these sizes.
    """
    try:
        return NodeShape(neighbours=max(4, topology.ports), **sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
