"""The diamond lattice: four neighbours a node, connected like a mesh in three dimensions."""

from __future__ import annotations

from itertools import product

from pointsman.errors import PointsmanError

from .topology import MAX_NODES, Link, Topology

MAX_DIAMOND = 14
"""Largest lattice of at most MAX_NODES nodes."""


def diamond_positions(size: int) -> tuple[tuple[int, int, int, int], ...]:
    """Coordinates of the nodes of a ``size``-ary 4-diamond, in the order of their numbers.

    They are the points of four coordinates 0..size-1 whose sum is 2·(size-1) or 2·(size-1) - 1; a link changes a
    coordinate by 1. Seven a side give the 455 nodes of Metcalf 1997, Figure 1-4. The last coordinate runs fastest.
    """
    if not 1 <= size <= MAX_DIAMOND:
        raise PointsmanError(f"a diamond lattice must have 1 to {MAX_DIAMOND} nodes a side, not {size}")
    middle = 2 * (size - 1)
    return tuple((a, b, c, d) for a, b, c, d in product(range(size), repeat=4) if a + b + c + d in (middle, middle - 1))


def diamond(size: int) -> Topology:
    """Diamond lattice of ``size`` nodes a side; port k leads along coordinate k, at both ends of a link."""
    positions = diamond_positions(size)
    number = {position: node for node, position in enumerate(positions)}
    middle = 2 * (size - 1)
    links = []
    for position, node in number.items():
        if sum(position) != middle:
            continue
        for port in range(4):
            below = tuple(at - (axis == port) for axis, at in enumerate(position))
            if below in number:
                links.append(Link(node, port, number[below], port))
    if len(positions) > MAX_NODES:
        raise PointsmanError(f"a network must have 1 to {MAX_NODES} nodes, not {len(positions)}")
    return Topology("diamond", (len(positions),), tuple(sorted(links)))
