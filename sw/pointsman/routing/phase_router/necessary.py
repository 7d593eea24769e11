"""Least use of slots, VFSMs, registers and links by words, which no router can avoid.

A VFSM slot writes a single link or interface register. So a word costs at least a slot for every delivery and for
every link that it must cross, some of them at nodes that it cannot avoid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .problem import Demand, NodeLimits, RoutingPart


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
    allowed = frozenset(demand.nodes)
    hops = part.distances(demand.source, allowed)
    if any(node not in hops for node in demand.destinations):
        return None
    away = [node for node in demand.destinations if node != demand.source]
    forwarding: Sequence[int] = ()
    crossed = 0
    links: tuple[int, ...] = ()
    if demand.tree is not None:
        forwarding, crossed = [node for node, _ in demand.tree], len(demand.tree)
        links = _only_links(part, demand.tree)
    elif away:
        forwarding, crossed = _forced(part, demand, hops, away), max(len(away), max(hops[node] for node in away))
        links = _forced_links(part, demand, away)
    legs = Counter(forwarding)
    nodes = {node: legs[node] + (node in demand.destinations) for node in (*forwarding, *demand.destinations)}
    injecting = {demand.source, *(forwarding if demand.injects_anywhere else ())}
    registers = {node: (node in injecting) + (node in demand.destinations) for node in {*injecting, *nodes}}
    clash = demand.delivers in part.clashes[demand.reads]
    gap = max(count + (clash and node in injecting and node in demand.destinations) for node, count in nodes.items())
    return Need(nodes, registers, links, crossed + len(demand.destinations), max(2, gap))


def _only_links(part: RoutingPart, tree: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Links of a path or tree, without those parallel to a second link between the same nodes."""
    found = []
    for node, after in tree:
        links = [link for link in part.leaving[node] if part.links[link][1] == after]
        if len(links) == 1:
            found.append(links[0])
    return tuple(found)


def _forced(part: RoutingPart, demand: Demand, hops: dict[int, int], away: Sequence[int]) -> list[int]:
    """Nodes that write a link for every word: the source, and nodes whose removal would cut off a destination."""
    allowed = frozenset(demand.nodes)
    suspects: set[int] = set()
    for node in away:
        # An unavoidable node is on every path, so also on this shortest path.
        while hops[node]:
            node = min(
                part.links[link][0]
                for link in part.entering[node]
                if hops.get(part.links[link][0], -1) == hops[node] - 1
            )
            suspects.add(node)
    suspects.discard(demand.source)
    forced = [demand.source]
    for node in sorted(suspects):
        left = part.distances(demand.source, allowed - {node})
        if any(end != node and end not in left for end in away):
            forced.append(node)
    return forced


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


@dataclass(frozen=True)
class Loads:
    """Least use by the demands of a part, as arrays: by demand and node, demand and wire, or demand alone."""

    slots: np.ndarray
    registers: np.ndarray
    wires: np.ndarray
    total: np.ndarray
    gap: np.ndarray

    @classmethod
    def of(cls, part: RoutingPart, needs: Sequence[Need]) -> Loads:
        slots = np.zeros((len(needs), part.nodes), np.int64)
        registers = np.zeros((len(needs), part.nodes), np.int64)
        wires = np.zeros((len(needs), max(part.wires, default=-1) + 1), np.int64)
        for number, need in enumerate(needs):
            slots[number, list(need.nodes)] = list(need.nodes.values())
            registers[number, list(need.registers)] = list(need.registers.values())
            for link in need.links:
                wires[number, part.wires[link]] += 1
        total = np.array([need.total for need in needs], np.int64)
        return cls(slots, registers, wires, total, np.array([need.gap for need in needs], np.int64))


def overloaded(
    part: RoutingPart,
    loads: Loads,
    words: Sequence[int],
    chains: Sequence[int],
    slots: int,
    limits: NodeLimits,
    *,
    reserve: bool,
) -> tuple[str, int] | None:
    """The first resource of which ``words`` in ``chains`` per demand need too much; None if counting finds no overload.

    The resource is ("chain", demand), ("slots" | "vfsms" | "registers", node), ("wire", wire) or ("total", -1).
    ``reserve``: keep a slot of each node for the reprogramming VFSM.
    """
    for kind, loaded, most in _sums(part, loads, np.array(words), np.array(chains), slots, limits, reserve):
        over = np.flatnonzero(loaded > most)
        if len(over):
            return kind, int(over[0]) if kind != "total" else -1
    return None


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
    """For each row of ``words`` and ``chains`` per demand: does counting find no overload?"""
    left = np.ones(len(words), np.bool_)
    for _, loaded, most in _sums(part, loads, words, chains, slots, limits, reserve):
        left &= (loaded <= most).all(1)
    return left


def _sums(
    part: RoutingPart,
    loads: Loads,
    words: np.ndarray,
    chains: np.ndarray,
    slots: int,
    limits: NodeLimits,
    reserve: bool,
) -> Iterator[tuple[str, np.ndarray, int]]:
    """(kind of resource, least use of each resource of this kind along the last axis, capacity of each)."""
    yield "chain", -(-words // chains) * loads.gap, slots
    yield "slots", words @ loads.slots, limits.pipelines * slots - (reserve and limits.phase_change)
    yield "vfsms", chains @ loads.slots, limits.pipelines * (limits.vfsms - 2)
    yield "registers", chains @ loads.registers, limits.registers - limits.pipelines
    yield "wire", words @ loads.wires, slots
    yield "total", words @ loads.total[:, None], part.nodes * limits.pipelines * slots
