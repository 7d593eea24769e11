"""Words that no router can exceed, by counting what they use at least.

A VFSM slot writes one link or one interface register. So a word costs at least one slot for every delivery and for
every link that it must cross, some of them at nodes that it cannot avoid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .problem import Demand, Limits, Part


@dataclass(frozen=True)
class Need:
    """What a demand uses at least."""

    nodes: dict[int, int]
    """VFSM slots of a word by node; also the VFSMs of a chain."""
    registers: dict[int, int]
    """Interface registers of a chain by node."""
    links: tuple[int, ...]
    """Links that every word crosses."""
    total: int
    """VFSM slots of a word at all nodes together."""
    gap: int
    """Slots from one word of a chain to the next."""


def need_of(part: Part, demand: Demand) -> Need | None:
    """What ``demand`` needs at least; None if a destination cannot be reached."""
    allowed = frozenset(demand.nodes)
    hops = part.distances(demand.source, allowed)
    if any(node not in hops for node in demand.destinations):
        return None
    away = [node for node in demand.destinations if node != demand.source]
    forwarding: Sequence[int] = ()
    crossed = 0
    links: tuple[int, ...] = ()
    if demand.path is not None:
        forwarding, crossed = demand.path[:-1], len(demand.path) - 1
        links = _only_links(part, demand.path)
    elif away:
        forwarding, crossed = _forced(part, demand, hops, away), max(len(away), max(hops[node] for node in away))
        links = _forced_links(part, demand, away)
    nodes = {node: (node in forwarding) + (node in demand.destinations) for node in (*forwarding, *demand.destinations)}
    injecting = {demand.source, *(forwarding if demand.injects_anywhere else ())}
    registers = {node: (node in injecting) + (node in demand.destinations) for node in {*injecting, *nodes}}
    clash = demand.delivers in part.clashes[demand.reads]
    gap = max(count + (clash and node in injecting and node in demand.destinations) for node, count in nodes.items())
    return Need(nodes, registers, links, crossed + len(demand.destinations), max(2, gap))


def _only_links(part: Part, path: Sequence[int]) -> tuple[int, ...]:
    """Links of ``path``, but for those that have a second link beside them."""
    found = []
    for node, after in pairwise(path):
        links = [link for link in part.leaving[node] if part.links[link][1] == after]
        if len(links) == 1:
            found.append(links[0])
    return tuple(found)


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
    chains: Sequence[int],
    slots: int,
    limits: Limits,
    *,
    reserve: bool,
) -> tuple[str, int] | None:
    """The first thing of which ``words`` in ``chains`` per demand need too much; None if counting finds nothing.

    It is a kind and a number: ("chain", demand), ("slots" | "vfsms" | "registers", node), ("wire", wire) or ("total",
    -1). ``reserve``: a slot of each node is kept for the reprogramming VFSM.
    """
    use: dict[str, list[int]] = {kind: [0] * part.nodes for kind in ("slots", "vfsms", "registers")}
    wires = [0] * (max(part.wires, default=-1) + 1)
    total = 0
    for number, (need, count, split) in enumerate(zip(needs, words, chains, strict=True)):
        if -(-count // split) * need.gap > slots:
            return "chain", number
        for node, load in need.nodes.items():
            use["slots"][node] += load * count
            use["vfsms"][node] += load * split
        for node, load in need.registers.items():
            use["registers"][node] += load * split
        for link in need.links:
            wires[part.wires[link]] += count
        total += need.total * count
    most = {
        "slots": limits.pipelines * slots - (reserve and limits.phase_change),
        "vfsms": limits.pipelines * (limits.vfsms - 2),
        "registers": limits.registers - limits.pipelines,
    }
    for kind, loads in use.items():
        for node, load in enumerate(loads):
            if load > most[kind]:
                return kind, node
    for wire, load in enumerate(wires):
        if load > slots:
            return "wire", wire
    return ("total", -1) if total > part.nodes * limits.pipelines * slots else None
