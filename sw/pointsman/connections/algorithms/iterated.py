"""Iterated greedy (Culberson 1992): configurations in another order, first fit again; the number can never grow.

With free routing every connection tries all its ways in each configuration, the one it has first, so the ways change on the road.
"""

from __future__ import annotations

import numpy as np

from pointsman.connections.conflicts import Conflicts
from pointsman.kernels import kernel


def iterated_greedy(
    conflicts: Conflicts, colours: np.ndarray, chosen: np.ndarray, bound: int, rounds: int, seed: int
) -> None:
    """Improve ``colours`` and ``chosen`` in place, until ``bound`` or for so many ``rounds``."""
    random = np.random.default_rng(seed)
    for turn in range(rounds):
        count = int(colours.max(initial=-1)) + 1
        if count <= bound:
            return
        sizes = np.bincount(colours, minlength=count)
        key = (-np.arange(count), -sizes, random.permutation(count))[min(2, turn % 4)]
        rank = np.empty(count, np.int64)
        rank[np.argsort(key, kind="stable")] = np.arange(count)
        order = np.lexsort((random.random(len(colours)), rank[colours]))
        _refit(conflicts.ways, conflicts.first, conflicts.rows, conflicts.resources, order, colours, chosen, count)


@kernel
def _refit(
    ways: np.ndarray,
    first: np.ndarray,
    rows: np.ndarray,
    resources: int,
    order: np.ndarray,
    colours: np.ndarray,
    chosen: np.ndarray,
    count: int,
) -> None:
    taken = np.zeros((count, resources), np.bool_)
    for index in order:
        placed = False
        for colour in range(count):
            for turn in range(-1, ways[index + 1] - ways[index]):
                way = chosen[index] if turn < 0 else ways[index] + turn
                placed = True
                for at in range(first[way], first[way + 1]):
                    if taken[colour, rows[at]]:
                        placed = False
                        break
                if placed:
                    colours[index], chosen[index] = colour, way
                    for at in range(first[way], first[way + 1]):
                        taken[colour, rows[at]] = True
                    break
            if placed:
                break
