"""The basic patterns that were measured on iWarp (Feldmann et al. 1993, §5.1), as connections of equally many words."""

from __future__ import annotations

from pointsman.artifacts.channels.channels import Demand
from pointsman.connections.patterns import all_to_all_pattern, neighbour_pattern
from pointsman.errors import PointsmanError
from pointsman.network import torus

NAMES = ("torus", "hypercube", "all-to-all")


def pattern(name: str, size: tuple[int, ...], words: int) -> tuple[Demand, ...]:
    """Connections on a torus of ``size``: to all neighbours, along a hypercube in Gray code, or between all nodes."""
    topology = torus(*size)
    if name == "torus":
        pairs = neighbour_pattern(topology)
    elif name == "hypercube":
        pairs = gray_hypercube(size)
    elif name == "all-to-all":
        pairs = all_to_all_pattern(topology.nodes)
    else:
        raise PointsmanError(f"there is no pattern '{name}'", hint=f"known are {', '.join(NAMES)}")
    return tuple(Demand(source, destination, words) for source, destination in pairs)


def gray_hypercube(size: tuple[int, ...]) -> list[tuple[int, int]]:
    """Connections between nodes whose coordinates, in Gray code, differ in a single bit; sides are powers of two."""
    if any(extent < 1 or extent & (extent - 1) for extent in size):
        raise PointsmanError(f"sides of a torus for a hypercube must be powers of two, not {size}")
    topology = torus(*size)
    pairs = []
    for node in range(topology.nodes):
        place = topology.coordinates(node)
        for axis, extent in enumerate(size):
            for bit in range(extent.bit_length() - 1):
                code = (place[axis] ^ place[axis] >> 1) ^ 1 << bit
                other = list(place)
                other[axis] = _position(code)
                pairs.append((node, topology.node_at(*other)))
    return pairs


def _position(code: int) -> int:
    """Where a Gray code stands."""
    position = 0
    while code:
        position ^= code
        code >>= 1
    return position
