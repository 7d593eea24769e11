"""Ways through a mesh or torus in dimension order: x first, then y, then z, going the shorter way round each ring."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from .topology import Topology


def steps(topology: Topology, source: int, destination: int) -> tuple[tuple[int, int], ...]:
    """For each dimension, the number of links to cross and the direction (+1 or -1).

    Half way round a torus both directions are equally long: then a source with an even coordinate in that dimension
    goes in direction +1, a source with an odd coordinate in direction -1 (odd-even shortest path routing, Yuan 1998,
    §4.1.1.3).
    """
    answer = []
    for extent, at, end in zip(
        topology.size, topology.coordinates(source), topology.coordinates(destination), strict=True
    ):
        if topology.kind == "mesh":
            answer.append((abs(end - at), 1 if end >= at else -1))
            continue
        up = (end - at) % extent
        down = (at - end) % extent
        increasing = up < down or (up == down and at % 2 == 0)
        answer.append((up, 1) if increasing else (down, -1))
    return tuple(answer)


def way(topology: Topology, source: int, destination: int) -> tuple[int, ...]:
    """Nodes of the way in dimension order, both ends included.

    >>> from pointsman.network import torus
    >>> way(torus(4, 4), 0, 6)
    (0, 1, 2, 6)
    """
    return _walk(topology, source, [(axis, *step) for axis, step in enumerate(steps(topology, source, destination))])


def shortest_ways(topology: Topology, source: int, destination: int) -> Iterator[tuple[int, ...]]:
    """Shortest ways that cross the dimensions one after the other: in every order of dimensions, and in both directions
    where these are equally long. The way in dimension order comes first; none comes twice.
    """
    seen = set()
    first = steps(topology, source, destination)
    choices = []
    for extent, (count, direction) in zip(topology.size, first, strict=True):
        tie = topology.kind == "torus" and 2 * count == extent and count > 1
        choices.append([(count, direction), (count, -direction)] if tie else [(count, direction)])
    for chosen in product(*choices):
        for order in permutations(range(len(chosen))):
            path = _walk(topology, source, [(axis, *chosen[axis]) for axis in order])
            if path not in seen:
                seen.add(path)
                yield path


def turning_ways(topology: Topology, source: int, destination: int, most: int) -> Iterator[tuple[int, ...]]:
    """Shortest ways beyond ``shortest_ways``, at most ``most``: first three legs in two dimensions (x, y, x), then the
    rest."""
    seen = set(shortest_ways(topology, source, destination))
    first = steps(topology, source, destination)
    legs = [axis for axis, (count, _) in enumerate(first) if count]
    for axis, between in permutations(legs, 2):
        count, direction = first[axis]
        for before in range(1, count):
            rest = [(other, *first[other]) for other in legs if other not in (axis, between)]
            path = _walk(
                topology,
                source,
                [(axis, before, direction), (between, *first[between]), (axis, count - before, direction), *rest],
            )
            if path in seen:
                continue
            if most <= 0:
                return
            seen.add(path)
            most -= 1
            yield path


def _walk(topology: Topology, source: int, legs: list[tuple[int, int, int]]) -> tuple[int, ...]:
    """Nodes passed on ``legs`` of (dimension, links, direction)."""
    place = list(topology.coordinates(source))
    nodes = [source]
    for axis, count, direction in legs:
        for _ in range(count):
            place[axis] = (place[axis] + direction) % topology.size[axis]
            nodes.append(topology.node_at(*place))
    return tuple(nodes)
