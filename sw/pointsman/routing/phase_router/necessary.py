"""Least use of slots, VFSMs, registers and links by words, which no router can avoid.

A VFSM slot writes a single link or interface register. So a word costs at least a slot for every delivery and for
every link that it must cross, some of them at nodes that it cannot avoid. A link has as many slots as are not blocked, and
all words of a chain take the same links.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import networkx as nx
import numpy as np

from pointsman.kernels import kernel

from .problem import Demand, NodeLimits, RoutingPart, kept


@dataclass(frozen=True)
class Need:
    """Least resources that a demand uses."""

    nodes: dict[int, int]
    """VFSM slots of a word by node; equal to the VFSMs of a chain."""
    registers: dict[int, int]
    """Interface registers of a chain by node."""
    links: tuple[int, ...]
    """Links that every word crosses."""
    total: int
    """VFSM slots of a word at all nodes together."""
    gap: int
    """Least slots from a word of a chain to the next."""


def need_of(part: RoutingPart, demand: Demand) -> Need | None:
    """Least resources of ``demand``; None if a destination cannot be reached."""
    away = [node for node in demand.destinations if node != demand.source]
    forwarding: Sequence[int] = ()
    crossed = 0
    links: tuple[int, ...] = ()
    if demand.tree is not None:
        between = [[link for link in part.leaving[node] if part.links[link][1] == after] for node, after in demand.tree]
        if not all(between):
            return None
        forwarding, crossed = [node for node, _ in demand.tree], len(demand.tree)
        # Of several links between the same nodes a word may take any.
        links = tuple(several[0] for several in between if len(several) == 1)
    elif away:
        hops = part.distances(demand.source, demand.nodes, away)
        if any(node not in hops for node in away):
            return None
        forwarding, crossed = _forced(part, demand, hops, away), max(len(away), max(hops[node] for node in away))
        links = _forced_links(part, demand, away)
    legs = Counter(forwarding)
    nodes = {node: legs[node] + (node in demand.destinations) for node in (*forwarding, *demand.destinations)}
    ends = () if demand.joins else demand.destinations
    injecting = {demand.source, *(forwarding if demand.injects_anywhere else ())}
    registers = {node: (node in injecting) + (node in ends) for node in {*injecting, *nodes}}
    clash = demand.delivers in part.clashes[demand.reads]
    gap = max(count + (clash and node in injecting and node in demand.destinations) for node, count in nodes.items())
    return Need(nodes, registers, links, crossed + len(demand.destinations), max(2, gap))


def needs_of(part: RoutingPart) -> tuple[Need | None, ...]:
    """`need_of` for each demand, found out once."""
    return kept(part, "needs", lambda: tuple(need_of(part, demand) for demand in part.demands))


FEW = 16
"""Destinations up to which it is quicker to look at the way to each than at the whole network."""


def _forced(part: RoutingPart, demand: Demand, hops: Mapping[int, int], away: Sequence[int]) -> list[int]:
    """Nodes that write a link for every word: the source, and nodes whose removal would cut off a destination."""
    allowed = frozenset(demand.nodes)
    forced = set[int]()
    if len(away) > FEW:
        inside = ((a, b) for a, b in part.links if a in allowed and b in allowed)
        above = nx.immediate_dominators(nx.DiGraph(inside), demand.source)
        for node in away:
            while (node := above[node]) != demand.source and node not in forced:
                forced.add(node)
        return [demand.source, *sorted(forced)]
    for end in away:
        way = [end]
        while hops[way[-1]]:
            entering = (part.links[link][0] for link in part.entering[way[-1]])
            way.append(min(node for node in entering if hops.get(node, -1) == hops[way[-1]] - 1))
        forced |= _unavoidable(part, allowed, way[::-1])
    return [demand.source, *sorted(forced - {demand.source})]


def _unavoidable(part: RoutingPart, allowed: frozenset[int], way: Sequence[int]) -> set[int]:
    """Nodes between the ends of a way that are on every way from its first node to its last. A node can be avoided if some path
    beside the way leads from a place before it to one behind it; no path need be looked at twice."""
    place = {node: k for k, node in enumerate(way)}
    found: set[int] = set()
    beside: set[int] = set()
    farthest = 0
    for k, node in enumerate(way[:-1]):
        if 0 < k == farthest:
            found.add(node)
        waiting = deque([node])
        while waiting and farthest < len(way) - 1:
            # The end is near, as a rule, and the network large.
            at = waiting.popleft()
            for link in part.leaving[at]:
                other = part.links[link][1]
                if other in place:
                    farthest = max(farthest, place[other])
                elif other in allowed and other not in beside:
                    beside.add(other)
                    waiting.append(other)
    return found


def _forced_links(part: RoutingPart, demand: Demand, away: Sequence[int]) -> tuple[int, ...]:
    """Links that are the only link into a destination or out of the source."""
    allowed = frozenset(demand.nodes)
    found = []
    for node in away:
        entering = [link for link in part.entering[node] if part.links[link][0] in allowed]
        if len(entering) == 1:
            found.append(entering[0])
    leaving = [link for link in part.leaving[demand.source] if part.links[link][1] in allowed]
    if len(leaving) == 1:
        found.append(leaving[0])
    return tuple(sorted(set(found)))


KINDS = ("slots", "vfsms", "registers", "wire", "total")
"""Kinds of resources, in the order of their numbers in `Loads`."""


@dataclass(frozen=True)
class Loads:
    """Least use of every resource by the demands of a part, as a sparse matrix: demand ``d`` has the entries from
    ``first[d]`` to ``first[d + 1]``."""

    first: np.ndarray
    resource: np.ndarray
    """By entry, the number of the resource: slots by node, VFSMs by node, registers by node, wires, and slots of all nodes."""
    amount: np.ndarray
    """By entry, how much of it a word (slots, wires) or a chain (VFSMs, registers) needs."""
    begins: np.ndarray
    """By kind of ``KINDS``, number of its first resource; at the end, the number of resources."""
    gap: np.ndarray
    """By demand, least slots from a word of a chain to the next."""
    shut: np.ndarray
    """(wire, slot) that no demand may use, a row each."""
    totals: np.ndarray
    """By demand, VFSM slots of a word at all nodes together."""

    @classmethod
    def of(cls, part: RoutingPart, needs: Sequence[Need]) -> Loads:
        """``needs``: of each demand of ``part``."""
        wires = max(part.wires, default=-1) + 1
        begins = np.cumsum([0, part.nodes, part.nodes, part.nodes, wires, 1])
        slots, vfsms, registers, wire, total, _ = begins.tolist()
        first, entries = [0], list[tuple[int, int]]()
        for need in needs:
            entries += [(slots + node, count) for node, count in need.nodes.items()]
            entries += [(vfsms + node, count) for node, count in need.nodes.items()]
            entries += [(registers + node, count) for node, count in need.registers.items()]
            entries += [(wire + part.wires[link], 1) for link in need.links]
            entries.append((total, need.total))
            first.append(len(entries))
        table = np.array(entries, np.int64).reshape(-1, 2)
        gap = np.array([need.gap for need in needs], np.int64)
        totals = np.array([need.total for need in needs], np.int64)
        return cls(np.array(first, np.int64), table[:, 0].copy(), table[:, 1].copy(), begins, gap, _shut(part), totals)

    def wire_room(self, slots: int) -> np.ndarray:
        """By wire, how many of ``slots`` slots words may use when they are repeated round the period."""
        shut = np.zeros((self.begins[4] - self.begins[3], slots), np.bool_)
        shut[self.shut[:, 0], self.shut[:, 1] % slots] = True
        room: np.ndarray = slots - shut.sum(1)
        return room


def loads_of(part: RoutingPart) -> Loads:
    """The loads of a part of which all destinations can be reached, found out once."""
    return kept(part, "loads", lambda: Loads.of(part, [need for need in needs_of(part) if need is not None]))


def _shut(part: RoutingPart) -> np.ndarray:
    """(wire, slot) in which all links of the wire are blocked for all demands, a row each."""
    freed = {pair for demand in part.demands for pair in demand.freed}
    links = Counter(part.wires)
    blocked = Counter((part.wires[link], slot) for link, slot in set(part.blocked) - freed)
    found = sorted(place for place, count in blocked.items() if count == links[place[0]])
    return np.array(found, np.int64).reshape(-1, 2)


def most_words(part: RoutingPart, slots: int) -> np.ndarray:
    """By demand, the most words of a chain for which links from its source to all its destinations have slots that are not
    blocked, of ``slots`` slots that are repeated round the period."""
    if not part.blocked:
        return np.full(len(part.demands), slots, np.int64)
    rooms: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for demand in part.demands:
        if demand.freed not in rooms:
            shut: list[set[int]] = [set() for _ in part.links]
            for link, slot in set(part.blocked).difference(demand.freed):
                shut[link].add(slot % slots)
            rooms[demand.freed] = [slots - len(taken) for taken in shut]
    return np.array([_narrowest(part, demand, rooms[demand.freed], slots) for demand in part.demands], np.int64)


def _narrowest(part: RoutingPart, demand: Demand, room: Sequence[int], slots: int) -> int:
    """Room of the narrowest link on the widest ways to the destinations of a demand."""
    nodes = frozenset(demand.nodes)
    given = None if demand.tree is None else frozenset(demand.tree)
    widest: dict[int, int] = {}
    todo = [(-slots, demand.source)]
    while todo:
        width, node = heappop(todo)
        if node in widest:
            continue
        widest[node] = -width
        for link in part.leaving[node]:
            after = part.links[link][1]
            if after not in widest and after in nodes and (given is None or (node, after) in given):
                heappush(todo, (-min(-width, room[link]), after))
    return min((widest.get(node, 0) for node in demand.destinations), default=slots)


def overloaded(
    part: RoutingPart,
    loads: Loads,
    words: Sequence[int],
    chains: Sequence[int],
    slots: int,
    limits: NodeLimits,
    *,
    reserve: bool,
    blocked: bool = True,
) -> tuple[str, int] | None:
    """The first resource of which ``words`` in ``chains`` per demand need too much; None if counting finds no overload.

    The resource is ("chain", demand), ("slots" | "vfsms" | "registers", node), ("wire", wire) or ("total", -1).
    ``reserve``: keep a slot of each node for the reprogramming VFSM. ``blocked``: blocked slots count as used.
    """
    [over] = _first_overloads(
        part, loads, np.array([words], np.int64), np.array([chains], np.int64), slots, limits, reserve, blocked
    ).tolist()
    if over < 0:
        return None
    demands = len(loads.gap)
    if over < demands:
        return "chain", over
    kind = int(np.searchsorted(loads.begins, over - demands, "right")) - 1
    return KINDS[kind], int(over - demands - loads.begins[kind]) if KINDS[kind] != "total" else -1


def possible(
    part: RoutingPart,
    loads: Loads,
    words: np.ndarray,
    chains: np.ndarray,
    slots: int,
    limits: NodeLimits,
    *,
    reserve: bool,
) -> np.ndarray:
    """For each row of ``words`` and ``chains`` per demand: does counting find no overload, blocked slots left aside?"""
    return _first_overloads(part, loads, words, chains, slots, limits, reserve, False) < 0


def _first_overloads(
    part: RoutingPart,
    loads: Loads,
    words: np.ndarray,
    chains: np.ndarray,
    slots: int,
    limits: NodeLimits,
    reserve: bool,
    blocked: bool,
) -> np.ndarray:
    """For each row, the first demand whose chains have too little time, or the number of demands and the first resource that
    is overloaded; -1 if counting finds no overload."""
    rows = np.ascontiguousarray(words), np.ascontiguousarray(chains)
    room, most = kept(part, (slots, limits, reserve, blocked), lambda: _limits(part, slots, limits, reserve, blocked))
    return _find_overloads(*rows, loads.first, loads.resource, loads.amount, loads.begins, room, most)


def _limits(
    part: RoutingPart, slots: int, limits: NodeLimits, reserve: bool, blocked: bool
) -> tuple[np.ndarray, np.ndarray]:
    """What there is of each resource, and the most words of a chain of each demand."""
    each = [
        limits.pipelines * slots - (reserve and limits.phase_change),
        limits.pipelines * (limits.vfsms - 2),
        limits.registers - limits.pipelines,
    ]
    loads, total = loads_of(part), part.nodes * limits.pipelines * slots
    wires = loads.wire_room(slots) if blocked else np.full(loads.begins[4] - loads.begins[3], slots)
    room = np.concatenate([np.repeat(np.array(each, np.int64), part.nodes), wires, [total]])
    return room, np.minimum(slots // loads.gap, most_words(part, slots)) if blocked else slots // loads.gap


@kernel
def _find_overloads(
    words: np.ndarray,
    chains: np.ndarray,
    first: np.ndarray,
    resource: np.ndarray,
    amount: np.ndarray,
    begins: np.ndarray,
    room: np.ndarray,
    most: np.ndarray,
) -> np.ndarray:
    """`_first_overloads` over arrays; ``room``: capacity of each resource, ``most``: words of a chain of each demand."""
    demands = len(most)
    found = np.full(len(words), -1, np.int64)
    used = np.empty(begins[-1], np.int64)
    for row in range(len(words)):
        for d in range(demands):
            if -(-words[row, d] // chains[row, d]) > most[d]:
                found[row] = d
                break
        if found[row] >= 0:
            continue
        used[:] = 0
        for d in range(demands):
            for entry in range(first[d], first[d + 1]):
                r = resource[entry]
                per_chain = begins[1] <= r < begins[3]
                used[r] += amount[entry] * (chains[row, d] if per_chain else words[row, d])
        for r in range(len(room)):
            if used[r] > room[r]:
                found[row] = demands + r
                break
    return found
