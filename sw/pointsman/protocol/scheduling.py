"""Schedules that nodes make at run time for a shift or a permutation: its moves, and what a schedule for them costs.

The run time makes them (`pointsman.runtime.numesh.scheduling`); the timeline and the metric count what they cost, from the
moves alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import ceil

from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.network.dimension_order import way

CYCLES_A_TEST = 8
"""Cycles that a processor is assumed to need to look at a mask of free slots, or to change it, for each word of the mask."""
CYCLES_A_STREAM = 24
"""Cycles that a processor is assumed to need to find a stream's path and its place in the order."""
KEPT_SLOTS = 2
"""Slots of a period that barriers take from the streams, about."""
FILLED = 0.3
"""Of the others, the share that turns into words of the slowest stream where the streams that meet at a link and half of
those at a node count (fitted with KEPT_SLOTS to schedules on 2x2 to 8x8 for all shifts and random permutations)."""

Moves = tuple[tuple[int, int], ...]
"""(from, to) for each node that sends to another."""


def moves_of(kind: str, nodes: Sequence[int], distance: int, permutation: Sequence[int] | None = None) -> Moves:
    """The moves of a shift by ``distance``, or of a permutation, of ``nodes``; also those from a node to itself.

    >>> moves_of("eoshift", (4, 5, 6), 2)
    ((4, 6),)
    """
    size = len(nodes)
    if permutation is not None:
        return tuple((nodes[k], nodes[to]) for k, to in enumerate(permutation[:size]))
    if kind == "cshift":
        return tuple((node, nodes[(k + distance) % size]) for k, node in enumerate(nodes))
    return tuple((node, nodes[k + distance]) for k, node in enumerate(nodes) if 0 <= k + distance < size)


def typical_permutation(size: int, number: int) -> tuple[int, ...]:
    """A permutation of ``size`` nodes like any other, of which nothing is known; the same for the same ``number``."""
    found = list(range(size))
    random.Random(number).shuffle(found)
    return tuple(found)


@dataclass(frozen=True)
class ScheduleCost:
    """``cycles`` that a processor computes to make a schedule; ``words`` a period, about, of its slowest stream."""

    cycles: float
    words: float


def schedule_cost(topology: Topology, shape: NodeShape, moves: Moves, period: int, m: int) -> ScheduleCost:
    """What a schedule of ``period`` slots costs for ``moves`` of messages of ``m`` words, if its first order of streams finds
    slots.

    For a stream's first word a processor looks, at each node on the way, at the slots of each pipeline, and at those of the
    link; for each other word at the slots of one pipeline. In the round that finds no more words it takes half of those before.
    """
    ways = [way(topology, *move) for move in moves if move[0] != move[1]]
    if not ways:
        return ScheduleCost(0.0, m)
    links = Counter(chain.from_iterable(map(pairwise, ways)))
    nodes = Counter(chain.from_iterable(ways))
    load = max(links.values()) + max(nodes.values()) / 2
    words = min(m, max(1.0, FILLED * (period - KEPT_SLOTS) / load))
    crossed = sum(links.values())
    looks, takes = 2 * crossed + len(ways), crossed + len(ways)
    tests = shape.pipelines * looks + takes + (words - 1) * (looks + takes)
    if words < m:
        tests += looks + takes / 2
    return ScheduleCost(ceil(period / shape.width) * CYCLES_A_TEST * tests + CYCLES_A_STREAM * len(ways), words)
