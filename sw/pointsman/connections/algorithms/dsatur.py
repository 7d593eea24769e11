"""Saturation first: the connection that fewest configurations can still take is placed next (Brélaz 1979).

On tables of resources instead of a conflict graph: a configuration is closed for a connection as soon as one of its resources is
in use there. O(connections² + connections × way × load).
"""

from __future__ import annotations

import numpy as np

from pointsman.connections.conflicts import Conflicts
from pointsman.kernels import kernel


def dsatur(conflicts: Conflicts) -> np.ndarray:
    """A configuration number for every connection, on its first way; ties: more conflicts, then the lower number."""
    firsts = conflicts.ways[:-1]
    begin, end = conflicts.first[firsts], conflicts.first[firsts + 1]
    load = conflicts.loads()
    weight = np.array([load[conflicts.rows[a:b]].sum() for a, b in zip(begin, end, strict=True)], np.int64)
    most = int(load.max(initial=0))
    return np.asarray(_dsatur(begin, end, conflicts.rows, conflicts.resources, load, weight, most))


@kernel
def _dsatur(
    begin: np.ndarray,
    end: np.ndarray,
    rows: np.ndarray,
    resources: int,
    load: np.ndarray,
    weight: np.ndarray,
    most: int,
) -> np.ndarray:
    count = len(begin)
    limit = most + 8
    colours = np.full(count, -1, np.int64)
    users = np.full((resources, max(1, most)), -1, np.int64)
    filled = np.zeros(resources, np.int64)
    for index in range(count):
        for at in range(begin[index], end[index]):
            users[rows[at], filled[rows[at]]] = index
            filled[rows[at]] += 1
    closed = np.zeros((count, limit), np.bool_)
    saturation = np.zeros(count, np.int64)
    for _ in range(count):
        best = -1
        for index in range(count):
            if colours[index] >= 0:
                continue
            if best < 0 or (saturation[index], weight[index]) > (saturation[best], weight[best]):
                best = index
        colour = 0
        while closed[best, colour]:
            colour += 1
        colours[best] = colour
        if colour + 1 == limit:  # room for one colour more
            wider = np.zeros((count, 2 * limit), np.bool_)
            wider[:, :limit] = closed
            closed, limit = wider, 2 * limit
        for at in range(begin[best], end[best]):
            resource = rows[at]
            for slot in range(load[resource]):
                other = users[resource, slot]
                if colours[other] < 0 and not closed[other, colour]:
                    closed[other, colour] = True
                    saturation[other] += 1
    return colours
