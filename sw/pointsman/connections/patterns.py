"""Sets of connections to measure schedulers with (Yuan 1998, §5.4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.artifacts.configurations.configurations import Connection
from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .algorithms.hypercube import hypercube

Distribution = Sequence[tuple[int, int]]
"""(processors, block size) for each dimension of an array that is distributed block-cyclically."""


def ring_pattern(nodes: int) -> list[Connection]:
    """Connections of every node to the nodes with the next and the previous number, cyclically."""
    return _distinct([(node, (node + step) % nodes) for node in range(nodes) for step in (1, -1)])


def neighbour_pattern(topology: Topology) -> list[Connection]:
    """Connections of every node to all its neighbours."""
    pairs = [(link.node, link.other) for link in topology.links]
    return sorted(set(pairs) | {(v, u) for u, v in pairs})


def hypercube_pattern(nodes: int) -> list[Connection]:
    """Connections between nodes whose numbers differ in a single bit; ``nodes`` must be a power of two."""
    return hypercube(_bits(nodes))


def shuffle_exchange_pattern(nodes: int) -> list[Connection]:
    """Connections of every node to the nodes with its number rotated left by a bit, and with its last bit flipped."""
    bits = _bits(nodes)
    shuffle = [(node, (node << 1 | node >> bits - 1) & nodes - 1) for node in range(nodes)] if bits else []
    return _distinct(shuffle + [(node, node ^ 1) for node in range(nodes) if bits])


def all_to_all_pattern(nodes: int) -> list[Connection]:
    return [(source, destination) for source in range(nodes) for destination in range(nodes) if source != destination]


def random_pattern(nodes: int, connections: int, seed: int) -> list[Connection]:
    """A random set of ``connections`` different pairs of different nodes; all sets are equally likely."""
    pairs = all_to_all_pattern(nodes)
    chosen = np.random.default_rng([seed, nodes, connections]).permutation(len(pairs))[:connections]
    return [pairs[index] for index in chosen.tolist()]


def redistribution(extent: int, before: Distribution, after: Distribution) -> list[Connection]:
    """Connections that move an array of ``extent`` elements in each dimension from distribution ``before`` to ``after``.

    Processors are numbered with the last dimension fastest.
    """
    pairs = {(0, 0)}
    elements = np.arange(extent)
    for (old, old_block), (new, new_block) in zip(before, after, strict=True):
        owners = set(zip((elements // old_block % old).tolist(), (elements // new_block % new).tolist(), strict=True))
        pairs = {(s * old + a, d * new + b) for s, d in pairs for a, b in owners}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def random_distribution(nodes: int, extent: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """A random distribution of a three-dimensional array over ``nodes`` processors, none of which is without elements.

    All numbers are powers of two; all divisions of the processors are equally likely.
    """
    bits = _bits(nodes)
    divisions = [(a, b, bits - a - b) for a in range(bits + 1) for b in range(bits + 1 - a)]
    chosen = divisions[int(random.integers(len(divisions)))]
    room = [_bits(extent) - part for part in chosen]
    if min(room) < 0:
        raise PointsmanError(f"an array of {extent} a side has no elements for {nodes} processors in one dimension")
    return [(1 << part, 1 << int(random.integers(most + 1))) for part, most in zip(chosen, room, strict=True)]


def _bits(nodes: int) -> int:
    if nodes < 1 or nodes & (nodes - 1):
        raise PointsmanError(f"the number of nodes must be a power of two, not {nodes}")
    return nodes.bit_length() - 1


def _distinct(pairs: list[Connection]) -> list[Connection]:
    return [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
