"""Words that no router can exceed, by counting VFSM slots.

A VFSM slot writes one link or one interface register. So a word costs at least one slot for every delivery and for
every link that it must cross, some of them at nodes that it cannot avoid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .problem import Demand, Part


@dataclass(frozen=True)
class Need:
    """What a word of a demand uses at least: VFSM slots by node, links, VFSM slots in all."""

    nodes: dict[int, int]
    links: tuple[int, ...]
    total: int
    gap: int
    """Slots between two words of a chain."""


def need_of(part: Part, demand: Demand) -> Need | None:
    """What a word of ``demand`` needs at least; None if a destination cannot be reached."""
    allowed = frozenset(demand.nodes)
    hops = part.distances(demand.source, allowed)
    if any(node not in hops for node in demand.destinations):
        return None
    away = [node for node in demand.destinations if node != demand.source]
    nodes = dict.fromkeys(demand.destinations, 1)
    if demand.path is not None:
        for node in demand.path[:-1]:
            nodes[node] = nodes.get(node, 0) + 1
        crossed = len(demand.path) - 1
        links = tuple(
            found[0]
            for pair in zip(demand.path, demand.path[1:], strict=False)
            if len(found := [link for link in part.leaving[pair[0]] if part.links[link][1] == pair[1]]) == 1
        )
    else:
        crossed = max(len(away), max((hops[node] for node in away), default=0))
        links = ()
        if away:
            for node in _forced(part, demand, hops, away):
                nodes[node] = nodes.get(node, 0) + 1
            links = _forced_links(part, demand, away)
    return Need(nodes, links, crossed + len(demand.destinations), max(2, *nodes.values()))


def _forced(part: Part, demand: Demand, hops: dict[int, int], away: Sequence[int]) -> list[int]:
    """Nodes that write a link for every word: the source, and those without which a destination is cut off."""
    allowed = frozenset(demand.nodes)
    suspects: set[int] = set()
    for node in away:
        # A node that cannot be avoided lies on every way, so on this one.
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


def _forced_links(part: Part, demand: Demand, away: Sequence[int]) -> tuple[int, ...]:
    """The only links into a destination or out of the source, where there is one only."""
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


def overloaded(
    part: Part,
    needs: Sequence[Need],
    words: Sequence[int],
    slots: int,
    pipelines: int,
    *,
    reserve: bool,
) -> tuple[str, int] | None:
    """The first resource that cannot carry ``words`` per demand: its kind and number; None if counting finds none."""
    node_load = [0] * part.nodes
    wire_load = [0] * (max(part.wires, default=-1) + 1)
    total = 0
    for demand, need, count in zip(part.demands, needs, words, strict=True):
        if count * need.gap > demand.chains * slots:
            return "chains", part.demands.index(demand)
        for node, load in need.nodes.items():
            node_load[node] += load * count
        for link in need.links:
            wire_load[part.wires[link]] += count
        total += need.total * count
    capacity = pipelines * slots
    for node, load in enumerate(node_load):
        if load > capacity - reserve:
            return "node", node
    for wire, load in enumerate(wire_load):
        if load > slots:
            return "wire", wire
    if total > part.nodes * capacity:
        return "total", -1
    return None
