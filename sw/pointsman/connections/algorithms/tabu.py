"""Tabu search over partial colourings: all connections but a few have a configuration, and each step places one of those.

A step takes a connection that has no place, and gives it the way and configuration where those that must leave for it weigh
least (Blöchliger and Zufferey 2008, with weights that grow for connections that are hard to place, after Nagata and Bräysy
2009). It may not go back there soon. Where a connection has several ways, way and configuration are chosen together.
"""

from __future__ import annotations

import numpy as np

from pointsman.connections.conflicts import Conflicts
from pointsman.kernels import kernel

FREE = -1


def without_last(colours: np.ndarray, conflicts: Conflicts, chosen: np.ndarray, degree: int) -> np.ndarray:
    """``colours`` with ``degree`` of them: those whose configurations are shortest have no place any more (-1)."""
    lengths = np.diff(conflicts.first)[chosen]
    count = int(colours.max()) + 1
    weight = np.zeros(count, np.int64)
    np.add.at(weight, colours, lengths)
    kept = np.sort(np.argsort(-weight, kind="stable")[:degree])
    number = np.full(count + 1, FREE, np.int64)
    number[kept] = np.arange(len(kept))
    return number[colours]


def place_all(
    conflicts: Conflicts, colours: np.ndarray, chosen: np.ndarray, degree: int, steps: int, seed: int
) -> bool:
    """Give everybody one of ``degree`` configurations, in place; whether that was achieved within so many steps."""
    return bool(
        _search(
            conflicts.ways, conflicts.first, conflicts.rows, conflicts.resources, colours, chosen, degree, steps, seed
        )
    )


@kernel
def _search(
    ways: np.ndarray,
    first: np.ndarray,
    rows: np.ndarray,
    resources: int,
    colours: np.ndarray,
    chosen: np.ndarray,
    degree: int,
    steps: int,
    seed: int,
) -> bool:
    np.random.seed(seed)
    count = len(ways) - 1
    holder = np.full((degree, resources), FREE, np.int64)
    waiting = np.empty(count, np.int64)
    n_waiting = 0
    for index in range(count):
        if colours[index] < 0:
            waiting[n_waiting] = index
            n_waiting += 1
        else:
            for at in range(first[chosen[index]], first[chosen[index] + 1]):
                holder[colours[index], rows[at]] = index
    weight = np.ones(count, np.float64)
    until = np.zeros((count, degree), np.int64)  # step before which a connection may not enter a configuration
    seen = np.full(count, -1, np.int64)
    mark = 0
    for step in range(steps):
        if n_waiting == 0:
            return True
        pick = np.random.randint(n_waiting)
        index = waiting[pick]
        n_waiting -= 1
        waiting[pick] = waiting[n_waiting]
        best, best_way, best_colour, ties = np.inf, -1, -1, 0
        for way in range(ways[index], ways[index + 1]):
            begin, end = first[way], first[way + 1]
            for colour in range(degree):
                mark += 1
                cost = 0.0
                for at in range(begin, end):
                    other = holder[colour, rows[at]]
                    if other >= 0 and seen[other] != mark:
                        seen[other] = mark
                        cost += weight[other]
                        if cost > best:
                            break
                if cost > best or (cost > 0 and until[index, colour] > step):
                    continue
                if cost < best:
                    best, best_way, best_colour, ties = cost, way, colour, 1
                else:
                    ties += 1
                    if np.random.randint(ties) == 0:
                        best_way, best_colour = way, colour
            if best == 0:
                break
        if best_way < 0:  # everything is forbidden
            best_way, best_colour = ways[index], np.random.randint(degree)
        if best > 0:
            weight[index] += 1
        for at in range(first[best_way], first[best_way + 1]):
            other = holder[best_colour, rows[at]]
            if other >= 0 and other != index:
                for there in range(first[chosen[other]], first[chosen[other] + 1]):
                    holder[best_colour, rows[there]] = FREE
                colours[other] = FREE
                waiting[n_waiting] = other
                n_waiting += 1
                until[other, best_colour] = step + 10 + np.random.randint(10) + n_waiting
            holder[best_colour, rows[at]] = index
        colours[index] = best_colour
        chosen[index] = best_way
    return n_waiting == 0
