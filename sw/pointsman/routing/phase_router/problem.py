"""A routing problem with node and link numbers of its own, free of coordinates, ports and names.

Takes the streams of a phase, the topology and the shape; gives independent ``RoutingPart``\\ s: sets of streams whose nodes
(``Stream.keep_in``) are not shared with other parts. Parts that look alike (the columns of a mesh, say) compare equal, so
that only the first is routed and its routes are copied. Leaves all choices alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.routing.streams import Condition, RoutedPhase, Stream

from .fixed_routes import FixedVfsm, fixed_vfsms

T = TypeVar("T")


@dataclass(frozen=True)
class NodeLimits:
    """Sizes of a node, and ``phase_change``: keep a slot for the VFSM that reprograms the node at the end of the phase."""

    pipelines: int
    vfsms: int
    registers: int
    phase_change: bool


@dataclass(frozen=True)
class Demand:
    """A stream in the numbers of its part. ``reads`` and ``delivers`` are indices of ``RoutingPart.conditions``."""

    source: int
    destinations: tuple[int, ...]
    chains: int
    nodes: tuple[int, ...]
    """Nodes that the stream may use, ascending."""
    tree: tuple[tuple[int, int], ...] | None
    """(from, to) of the links to take; None: the router chooses."""
    injects_anywhere: bool
    reads: int
    delivers: int
    rewritten: bool
    freed: tuple[tuple[int, int], ...] = ()
    """Blocked (link, slot) that this stream may use all the same."""
    all_chains: bool = False
    """Fewer chains only for fewer words, or for want of registers."""
    joins: bool = False
    """It delivers into a register of another stream (``Stream.into``)."""


@dataclass(frozen=True)
class RoutingPart:
    """Streams that share nodes, and the links between these nodes.

    ``links`` are directed (writer, reader); ``wires`` gives each the resource that it occupies, which the two
    directions share if their handshake is aliased. ``blocked`` are the (link, slot) not to be used.
    """

    nodes: int
    links: tuple[tuple[int, int], ...]
    wires: tuple[int, ...]
    demands: tuple[Demand, ...]
    conditions: tuple[tuple[int, bool] | None, ...]
    blocked: tuple[tuple[int, int], ...]
    fixed: tuple[FixedVfsm, ...] = ()
    """VFSMs of fixed routes."""

    @cached_property
    def _hash(self) -> int:
        return hash((self.nodes, self.links, self.demands, self.blocked))

    def __hash__(self) -> int:
        # A part is in the key of every attempt, so its hash is kept.
        return self._hash

    @cached_property
    def known(self) -> dict[Hashable, Any]:
        """What other modules have found out of the part, by keys of theirs (`kept`)."""
        return {}

    @cached_property
    def leaving(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the links that it writes."""
        table: list[list[int]] = [[] for _ in range(self.nodes)]
        for link, (writer, _) in enumerate(self.links):
            table[writer].append(link)
        return tuple(map(tuple, table))

    @cached_property
    def entering(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the links that it reads."""
        table: list[list[int]] = [[] for _ in range(self.nodes)]
        for link, (_, reader) in enumerate(self.links):
            table[reader].append(link)
        return tuple(map(tuple, table))

    @cached_property
    def clashes(self) -> tuple[tuple[int, ...], ...]:
        """For each condition the conditions that can hold at the same time."""
        return tuple(
            tuple(
                other
                for other, second in enumerate(self.conditions)
                if first is None or second is None or first[0] != second[0] or first[1] == second[1]
            )
            for first in self.conditions
        )

    @cached_property
    def _distances(self) -> dict[tuple[int, frozenset[int], bool], tuple[dict[int, int], list[int]]]:
        """Searches so far, with the nodes that each reached last."""
        return {}

    def distances(
        self,
        node: int,
        nodes: Collection[int],
        until: Collection[int] | None = None,
        slack: int = 0,
        *,
        to: bool = False,
    ) -> Mapping[int, int]:
        """Hops from ``node`` (with ``to``: to ``node``) to each of ``nodes``, without leaving them; absent: no path.

        ``until``: nodes beyond which, and ``slack`` hops more, nothing is asked, so that others may be absent; None: all. Streams
        between neighbours then cost nothing on large meshes. A search is gone on with where the one before ended.
        """
        key = node, frozenset(nodes), to
        if key not in self._distances:
            self._distances[key] = {node: 0}, [node]
        found, fringe = self._distances[key]
        inside = key[1]
        links, beyond, end = self.links, self.entering if to else self.leaving, 0 if to else 1
        while fringe:
            hops = found[fringe[0]]
            if until is not None and all(other in found and found[other] + slack <= hops for other in until):
                break
            after: list[int] = []
            for at in fringe:
                for link in beyond[at]:
                    other = links[link][end]
                    if other not in found and other in inside:
                        found[other] = hops + 1
                        after.append(other)
            fringe[:] = after
        return found


PARTS = 64
"""Parts that are remembered from phase to phase (`_same`) …"""
MODERATE = 20_000
"""… if they have at most so many nodes × demands: what hangs on a large one takes much room."""


@lru_cache(maxsize=PARTS)
def _same(part: RoutingPart) -> RoutingPart:
    """The first part that was equal to this one. Streams are routed again and again, with other periods and seeds and in other
    plans; what has been found out of their part (`RoutingPart.known`) holds for all of them."""
    return part


def kept(part: RoutingPart, key: Hashable, make: Callable[[], T]) -> T:
    """What ``make`` gives, asked for once for each part and key."""
    if key not in part.known:
        part.known[key] = make()
    found: T = part.known[key]
    return found


@dataclass(frozen=True)
class Site:
    """A part's place in the network: the numbers there of its streams and nodes, and the ports of its links."""

    streams: tuple[int, ...]
    nodes: tuple[int, ...]
    ports: tuple[tuple[int, int], ...]
    """For each link the port of its writer and the port of its reader."""


def split(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    forbidden: Collection[tuple[int, int, int]],
    beside: Sequence[RoutedPhase] = (),
    freed: Mapping[str, Collection[tuple[int, int, int]]] | None = None,
) -> list[tuple[RoutingPart, Site]]:
    """Independent parts of a phase, in the order of their first streams. ``freed``: see `router.route_phase`."""
    nodes_of = _nodes_of(streams, topology)
    first: dict[int, int] = {}
    leader: dict[int, int] = {}
    parent = list(range(len(streams)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for index, nodes in enumerate(nodes_of):
        # Nodes of an earlier stream with the same nodes have been joined.
        for node in nodes if first.setdefault(id(nodes), index) == index else nodes[:1]:
            one, mine = root(leader.setdefault(node, index)), root(index)
            parent[max(one, mine)] = min(one, mine)
    members: dict[int, list[int]] = {}
    for index in range(len(streams)):
        members.setdefault(root(index), []).append(index)
    blocked: dict[int, list[tuple[int, int]]] = {}
    for node, port, slot in sorted(forbidden):
        blocked.setdefault(node, []).append((port, slot))
    found: list[tuple[RoutingPart, Site]] = []
    alike: dict[RoutingPart, RoutingPart] = {}
    for group in members.values():
        part, site = _part(tuple(group), streams, nodes_of, topology, shape, blocked, beside, freed or {})
        if part not in alike:
            alike[part] = _same(part) if part.nodes * len(part.demands) <= MODERATE else part
        found.append((alike[part], site))
    return found


def _nodes_of(streams: Sequence[Stream], topology: Topology) -> list[tuple[int, ...]]:
    """By stream, the nodes that it may use, ascending. Streams with the same nodes, perhaps all of a mesh, share a tuple."""
    known: dict[frozenset[int], tuple[int, ...]] = {}

    def nodes(stream: Stream) -> tuple[int, ...]:
        if stream.path is not None:
            return tuple(sorted(set(stream.path)))
        if stream.tree is not None:
            return tuple(sorted({stream.source, *(to for _, to in stream.tree)}))
        within = everywhere if stream.keep_in is None else stream.keep_in
        if within not in known:
            known[within] = tuple(sorted(within))
        return known[within]

    everywhere = frozenset(range(topology.nodes))
    return [nodes(stream) for stream in streams]


def _local_tree(stream: Stream, local: Mapping[int, int]) -> tuple[tuple[int, int], ...] | None:
    given = stream.tree if stream.path is None else tuple(pairwise(stream.path))
    return None if given is None else tuple((local[node], local[after]) for node, after in given)


def _inject_condition(stream: Stream) -> Condition | None:
    return stream.inject_condition if stream.injects_anywhere else None


def _choices(streams: Iterable[tuple[Stream, tuple[int, ...]]]) -> dict[str, int]:
    """Numbers of the choices that conditions of streams, given with their nodes, speak of. Choices made at different nodes, such
    as those of the rows of a mesh, share a number: accesses under them never meet, and tables have a row for each number."""
    places: dict[str, set[int]] = {}
    for stream, nodes in streams:
        for given in (_inject_condition(stream), stream.deliver_condition):
            if given is not None:
                places.setdefault(given.choice, set()).update(nodes)
    found: dict[str, int] = {}
    taken: list[set[int]] = []
    for choice, own in places.items():
        number = next((i for i, others in enumerate(taken) if others.isdisjoint(own)), len(taken))
        if number == len(taken):
            taken.append(set())
        taken[number] |= own
        found[choice] = number
    return found


def _part(
    members: tuple[int, ...],
    streams: Sequence[Stream],
    nodes_of: Sequence[tuple[int, ...]],
    topology: Topology,
    shape: NodeShape,
    blocked: dict[int, list[tuple[int, int]]],
    beside: Sequence[RoutedPhase],
    freed: Mapping[str, Collection[tuple[int, int, int]]],
) -> tuple[RoutingPart, Site]:
    own_nodes = {id(nodes_of[index]): nodes_of[index] for index in members}.values()
    nodes = tuple(sorted(set().union(*own_nodes)))
    local = {node: index for index, node in enumerate(nodes)}
    links: list[tuple[int, int]] = []
    wires: list[int] = []
    ports: list[tuple[int, int]] = []
    shut: list[tuple[int, int]] = []
    wire_of: dict[tuple[int, int], int] = {}
    for node in nodes:
        for port, (other, other_port) in sorted(topology.at_port[node].items()):
            if other not in local:
                continue
            end = min((node, port), (other, other_port)) if shape.aliased_handshake else (node, port)
            wires.append(wire_of.setdefault(end, len(wire_of)))
            shut.extend((len(links), slot) for p, slot in blocked.get(node, ()) if p == port)
            links.append((local[node], local[other]))
            ports.append((port, other_port))
    conditions: dict[tuple[int, bool] | None, int] = {None: 0}
    choices = _choices((streams[index], nodes_of[index]) for index in members)

    def condition(given: Condition | None) -> int:
        key = None if given is None else (choices[given.choice], given.value)
        return conditions.setdefault(key, len(conditions))

    def freed_for(stream: Stream) -> tuple[tuple[int, int], ...]:
        own = freed.get(stream.name, ())
        if not own:
            return ()
        return tuple((link, slot) for link, slot in shut if (nodes[links[link][0]], ports[link][0], slot) in own)

    inside = {id(own): tuple(local[node] for node in own) for own in own_nodes}
    demands = tuple(
        Demand(
            source=local[stream.source],
            destinations=tuple(local[node] for node in stream.destinations),
            chains=stream.chains,
            all_chains=stream.all_chains,
            nodes=inside[id(nodes_of[index])],
            tree=_local_tree(stream, local),
            injects_anywhere=stream.injects_anywhere,
            reads=condition(_inject_condition(stream)),
            delivers=condition(stream.deliver_condition),
            rewritten=stream.rewritten,
            freed=freed_for(stream),
            joins=stream.into is not None,
        )
        for index, stream in ((index, streams[index]) for index in members)
    )
    fixed: tuple[FixedVfsm, ...] = ()
    if beside:
        ends = zip(links, ports, strict=True)
        wire_at = {(nodes[writer], port): wires[i] for i, ((writer, _), (port, _)) in enumerate(ends)}
        fixed = fixed_vfsms(beside, local, wire_at)
    part = RoutingPart(len(nodes), tuple(links), tuple(wires), demands, tuple(conditions), tuple(shut), fixed)
    return part, Site(members, nodes, tuple(ports))
