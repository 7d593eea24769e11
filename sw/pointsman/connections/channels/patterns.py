"""The basic patterns that were measured on iWarp (Feldmann et al. 1993, §5.1), as connections of equally many words."""

from __future__ import annotations

from itertools import product

from pointsman.artifacts.channels.channels import Demand
from pointsman.errors import PointsmanError
from pointsman.network import torus

NAMES = ("torus", "hypercube", "all-to-all")


def pattern(name: str, size: tuple[int, ...], words: int) -> tuple[Demand, ...]:
    """Connections on a torus of ``size``: to all neighbours, along a hypercube in Gray code, or between all nodes. They are
    listed direction by direction, a permutation each."""
    topology = torus(*size)
    if name == "torus":
        ports = topology.at_port
        directions = [
            [(node, at[port][0]) for node, at in enumerate(ports) if port in at] for port in range(topology.ports)
        ]
        pairs = [pair for direction in directions for pair in direction]
    elif name == "hypercube":
        pairs = gray_hypercube(size)
    elif name == "all-to-all":
        pairs = [
            (node, topology.node_at(*map(_round, topology.coordinates(node), offset, size)))
            for offset in product(*map(range, size))
            if any(offset)
            for node in range(topology.nodes)
        ]
    else:
        raise PointsmanError(f"there is no pattern '{name}'", hint=f"known are {', '.join(NAMES)}")
    return tuple(Demand(source, destination, words) for source, destination in pairs)


def gray_hypercube(size: tuple[int, ...]) -> list[tuple[int, int]]:
    """Connections between nodes whose coordinates, in Gray code, differ in a single bit; sides are powers of two."""
    if any(extent < 1 or extent & (extent - 1) for extent in size):
        raise PointsmanError(f"sides of a torus for a hypercube must be powers of two, not {size}")
    topology = torus(*size)
    pairs = []
    for axis, extent in enumerate(size):
        for bit in range(extent.bit_length() - 1):
            for node in range(topology.nodes):
                place = topology.coordinates(node)
                code = (place[axis] ^ place[axis] >> 1) ^ 1 << bit
                other = list(place)
                other[axis] = _position(code)
                pairs.append((node, topology.node_at(*other)))
    return pairs


def _round(at: int, step: int, extent: int) -> int:
    return (at + step) % extent


def _position(code: int) -> int:
    """Where a Gray code stands."""
    position = 0
    while code:
        position ^= code
        code >>= 1
    return position
