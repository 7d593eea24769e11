"""Flood fills ordered by dimension: from whom a node gets the words of a source, and to whom it passes them on.

Words go along the last dimension first, along the first (x) last, so that every node knows its part from the source alone
(Metcalf 1997, §4.1.1, "Processor Intervention").
"""

from __future__ import annotations

from functools import lru_cache

from pointsman.network import Topology


@lru_cache(maxsize=1 << 14)
def flood_parent(node: int, source: int, topology: Topology) -> int:
    """Node from which ``node`` gets the words of ``source`` in a flood fill ordered by dimension."""
    place, origin = list(topology.coordinates(node)), topology.coordinates(source)
    for axis in range(len(place)):
        if place[axis] != origin[axis]:
            place[axis] += 1 if origin[axis] > place[axis] else -1
            return topology.node_at(*place)
    return node


@lru_cache(maxsize=1024)
def mesh_neighbours(node: int, members: frozenset[int], topology: Topology) -> list[int]:
    """Neighbours inside ``members``, without the links that close a torus."""
    place = topology.coordinates(node)
    found = []
    for _, (other, _) in sorted(topology.at_port[node].items()):
        distance = sum(abs(a - b) for a, b in zip(place, topology.coordinates(other), strict=True))
        if other in members and distance == 1 and other not in found:
            found.append(other)
    return found


def flood_children(node: int, source: int, members: frozenset[int], topology: Topology) -> list[int]:
    """Nodes that get the words of ``source`` from ``node``: first those along the last dimension, which serve most nodes."""
    place = topology.coordinates(node)
    found = []
    for axis in reversed(range(len(place))):
        for step in (1, -1):
            other = list(place)
            other[axis] += step
            if not 0 <= other[axis] < topology.size[axis]:
                continue
            number = topology.node_at(*other)
            if number in members and flood_parent(number, source, topology) == node:
                found.append(number)
    return found
