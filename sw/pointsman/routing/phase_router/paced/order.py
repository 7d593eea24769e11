"""Which word waits for which, and the ways that each has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numesh.codes import ACCESS_TO_ACCESS
from pointsman.routing.pace import descending, read_before
from pointsman.routing.streams import Turn

from ..branches import given_tree, longest_first
from ..problem import RoutingPart
from ..routes import NodeVisit

WAYS = 4
"""Shortest ways of a word that are tried, at most."""

Turns = tuple[Turn, ...]
"""By demand."""


class Way(NamedTuple):
    """A way of a word: visits to nodes, pipelines left open; slots in which it is on wires; and by destination cycles from the
    first slot until it can be read."""

    visits: tuple[NodeVisit, ...]
    writes: tuple[tuple[int, int], ...]
    arrivals: dict[int, int]


@dataclass(frozen=True)
class WordOrder:
    """Which word is written after which."""

    part: RoutingPart
    period: int
    ways: tuple[tuple[Way, ...], ...]
    """By demand …"""
    read: tuple[tuple[int, ...], ...]
    """… those whose words are read before its own is written, …"""
    after: dict[int, int | None]
    """… that whose word is written when its own has been read, if there is one; words of higher levels first; …"""
    tail: tuple[int, ...]
    """… and cycles from the writing of its word to the end, at least."""
    lanes: tuple[tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...], ...]
    """By node, for each operator and part: demands whose words it reads to combine them, writes, and only reads."""
    multicasts: tuple[int, ...]


def order_of(part: RoutingPart, turns: Turns, period: int) -> WordOrder | None:
    """None: a word is read by several that are written after it, or has no way."""
    demands = range(len(turns))
    ends = {k: (demand.source, demand.destinations) for k, demand in enumerate(part.demands)}
    read = read_before(dict(enumerate(turns)), ends)
    after: dict[int, int | None] = dict.fromkeys(sorted(demands, key=lambda k: descending(turns[k], k)))
    for k in demands:
        for j in read[k]:
            if after[j] is not None or len(part.demands[j].destinations) > 1:
                return None
            after[j] = k
    ways = tuple(tuple(_ways(part, k)) for k in demands)
    if not all(ways) or any(visit.legs >= period for some in ways for way in some for visit in way.visits):
        return None
    tail = [0] * len(turns)
    for k, onward in after.items():
        tail[k] = 1 + max(ways[k][0].arrivals.values()) + (0 if onward is None else tail[onward])
    lanes = []
    for node in range(part.nodes):
        here = [k for k in demands if node in (part.demands[k].source, *part.demands[k].destinations)]
        groups = sorted({(turns[k].operator, turns[k].part) for k in here})
        lanes.append(
            tuple(
                (
                    tuple(k for k in some if part.demands[k].source != node and after[k] is not None),
                    tuple(k for k in some if part.demands[k].source == node),
                    tuple(k for k in some if part.demands[k].source != node and after[k] is None),
                )
                for some in ([k for k in here if (turns[k].operator, turns[k].part) == group] for group in groups)
            )
        )
    multicasts = tuple(k for k in demands if len(part.demands[k].destinations) > 1)
    return WordOrder(part, period, ways, tuple(map(tuple, read.values())), after, tuple(tail), tuple(lanes), multicasts)


def _ways(part: RoutingPart, k: int) -> Iterator[Way]:
    """The tree of a multicast, or some shortest ways."""
    demand = part.demands[k]
    if demand.tree is not None:
        onward = longest_first(part, demand, given_tree(part, demand))
        visits: list[NodeVisit] = []
        queue = [(demand.source, 0, -1, -1)]
        for node, slot, parent, entered in queue:
            links = onward.get(node, [])
            queue += [(part.links[link][1], slot + leg + 1, len(visits), link) for leg, link in enumerate(links)]
            visits.append(NodeVisit(node, parent, entered, 0, slot, 0, tuple(links), node in demand.destinations))
        if sum(visit.delivers for visit in visits) == len(demand.destinations):
            yield _way(part, visits)
        return
    (end,) = demand.destinations
    left = part.distances(end, demand.nodes, (demand.source,), to=True)
    found: list[list[int]] = [[]] if demand.source in left else []
    for _ in range(left.get(demand.source, 0)):
        longer = []
        for links in found:
            node = part.links[links[-1]][1] if links else demand.source
            longer += [
                [*links, link] for link in part.leaving[node] if left.get(part.links[link][1], len(left)) < left[node]
            ]
        found = longer[:: -(-len(longer) // (4 * WAYS))]
    for links in found[:: -(-len(found) // WAYS)]:
        nodes = [demand.source, *(part.links[link][1] for link in links)]
        visits = [
            NodeVisit(node, at - 1, links[at - 1] if at else -1, 0, at, 0, tuple(links[at : at + 1]), node == end)
            for at, node in enumerate(nodes)
        ]
        yield _way(part, visits)


def _way(part: RoutingPart, visits: Sequence[NodeVisit]) -> Way:
    writes = tuple((part.wires[link], one.slot + leg) for one in visits for leg, link in enumerate(one.links))
    arrivals = {one.node: one.slot + len(one.links) + ACCESS_TO_ACCESS for one in visits if one.delivers}
    return Way(tuple(visits), writes, arrivals)
