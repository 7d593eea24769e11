"""The network of a document: where nodes are drawn, and directed links with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, cos, pi, sin, sqrt
from typing import Any

from pointsman.network import Topology
from pointsman.network.lattice import MAX_DIAMOND, diamond_positions

from .document import Net

_DIAMOND_AXES = ((1.6, 0.3), (-0.8, 1.4), (-0.7, -1.3), (0.1, -0.6))


def net_of(topology: Topology, shape: Mapping[str, Any] | None = None) -> Net:
    """The network as the views draw it. Links of a pair of nodes that is joined twice count as one."""
    pairs = {(link.node, link.other) for link in topology.links}
    links = sorted(pairs | {(v, u) for u, v in pairs})
    dead = sorted(topology.dead)
    return Net(topology.kind, list(topology.size), topology.nodes, places_of(topology), links, dead, dict(shape or {}))


def places_of(topology: Topology) -> list[tuple[float, float]]:
    """Where each node is drawn: planes of a mesh in three dimensions beside each other, a graph on a circle."""
    if topology.has_coordinates:
        width = topology.size[0] + 1
        spots = []
        for node in range(topology.nodes):
            x, y, z = (*topology.coordinates(node), 0, 0)[:3]
            spots.append((float(x + z * width), float(y)))
        return spots
    if topology.kind == "diamond":
        for size in range(1, MAX_DIAMOND + 1):
            corners = diamond_positions(size)
            if len(corners) == topology.nodes:
                return [
                    (
                        sum(c * axis[0] for c, axis in zip(corner, _DIAMOND_AXES, strict=True)),
                        sum(c * axis[1] for c, axis in zip(corner, _DIAMOND_AXES, strict=True)),
                    )
                    for corner in corners
                ]
    return circle(topology.nodes)


def circle(nodes: int) -> list[tuple[float, float]]:
    """Places on a circle, neighbours about one apart."""
    radius = max(1.0, nodes / (2 * pi))
    return [
        (round(radius * sin(2 * pi * n / nodes), 3), round(-radius * cos(2 * pi * n / nodes), 3)) for n in range(nodes)
    ]


def grid(nodes: int) -> list[tuple[float, float]]:
    """Places in a square."""
    width = max(1, ceil(sqrt(nodes)))
    return [(float(n % width), float(n // width)) for n in range(nodes)]
