"""The algorithms of Yuan 1998, §5.4, as they are described there: greedy, colouring, ordered AAPC and combined.

Each takes connections with their resources and gives a configuration number for each. Ties are broken by the order of
the connections. The printed Figures 5.11 and 5.13 never count configurations up; here they do.
"""

from __future__ import annotations

import numpy as np

from pointsman.connections.conflicts import Conflicts
from pointsman.errors import PointsmanError
from pointsman.kernels import kernel

from .all_to_all import configuration_of_pairs

MAX_COLOURING = 20_000
"""Connections that the colouring takes: it looks at every pair that conflicts."""


def greedy(conflicts: Conflicts) -> np.ndarray:
    """Fill one configuration after the other in the order given (Figure 5.11). O(connections × degree × way)."""
    return _in_order(conflicts, np.arange(conflicts.connections))


def colouring(conflicts: Conflicts) -> np.ndarray:
    """Fill one configuration after the other, by priority (Figure 5.13). O(connections² × way).

    The priority is the length of the way over the number of connections that it conflicts with, in the whole set; of two with the
    same, the longer comes first, as in the example of Figure 5.12. Tables 5.4 and
    5.6 of the thesis come out this way (83 for an all-to-all), and not as its text has it (``colouring_updated``: 89).
    """
    first, rows = _first_ways(conflicts)
    lengths, degree = _lengths(first), _degrees(conflicts, first, rows)
    priority = np.divide(lengths, degree, out=np.full(len(degree), np.inf), where=degree > 0)
    return _in_order(conflicts, np.lexsort((np.arange(len(degree)), -lengths, -priority)))


def colouring_updated(conflicts: Conflicts) -> np.ndarray:
    """As the text of Yuan 1998, §5.4.2 has it: only connections without configuration count as conflicts.

    Those who lose a neighbour have a new priority for the next configuration, as the sorting stands before the filling.
    """
    first, rows = _first_ways(conflicts)
    degree = _degrees(conflicts, first, rows)
    return np.asarray(_colouring(first, rows, conflicts.resources, _lengths(first), degree))


def ordered_aapc(conflicts: Conflicts) -> np.ndarray:
    """Greedy in the order of the configurations of an all-to-all, the busiest first (Figure 5.14).

    At most as many configurations as the all-to-all has (Yuan 1998, §5.4.3).
    """
    phase_of = configuration_of_pairs(conflicts.problem.network)
    phases = np.array([phase_of[pair] for pair in conflicts.problem.connections], np.int64)
    rank = np.zeros(int(phases.max()) + 1 if len(phases) else 0, np.int64)
    first, _ = _first_ways(conflicts)
    np.add.at(rank, phases, np.diff(first) - 2)
    order = np.lexsort((np.arange(len(phases)), phases, -rank[phases]))
    return _in_order(conflicts, order)


def combined(conflicts: Conflicts) -> np.ndarray:
    """The better of colouring and ordered AAPC (Yuan 1998, §5.4.4)."""
    return min(colouring(conflicts), ordered_aapc(conflicts), key=lambda colours: colours.max(initial=-1))


def _first_ways(conflicts: Conflicts) -> tuple[np.ndarray, np.ndarray]:
    """Bounds and resources of everybody's first way."""
    if conflicts.connections == len(conflicts.nodes):
        return conflicts.first, conflicts.rows
    parts = [conflicts.resources_of(index) for index in conflicts.ways[:-1].tolist()]
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return first, np.concatenate(parts)


def _in_order(conflicts: Conflicts, order: np.ndarray) -> np.ndarray:
    first, rows = _first_ways(conflicts)
    return np.asarray(_first_fit(first, rows, conflicts.resources, order))


def _lengths(first: np.ndarray) -> np.ndarray:
    """Links of every way; one where there are none (a crossbar)."""
    return np.maximum(np.diff(first) - 2, 1)


def _degrees(conflicts: Conflicts, first: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if conflicts.connections > MAX_COLOURING:
        raise PointsmanError(
            f"colouring: there must be at most {MAX_COLOURING} connections, not {conflicts.connections}",
            hint="the algorithms greedy, aapc and best take more",
        )
    return np.asarray(_count_conflicts(first, rows, *_users(first, rows, conflicts.resources)))


@kernel
def _users(first: np.ndarray, rows: np.ndarray, resources: int) -> tuple[np.ndarray, np.ndarray]:
    """Connections on each resource, resource by resource, and where those of each begin."""
    begin = np.zeros(resources + 1, np.int64)
    for at in range(len(rows)):
        begin[rows[at] + 1] += 1
    begin = np.cumsum(begin)
    filled = begin[:-1].copy()
    users = np.empty(len(rows), np.int64)
    for index in range(len(first) - 1):
        for at in range(first[index], first[index + 1]):
            users[filled[rows[at]]] = index
            filled[rows[at]] += 1
    return begin, users


@kernel
def _count_conflicts(first: np.ndarray, rows: np.ndarray, begin: np.ndarray, users: np.ndarray) -> np.ndarray:
    count = len(first) - 1
    degree = np.zeros(count, np.int64)
    seen = np.full(count, -1, np.int64)
    for index in range(count):
        seen[index] = index
        for at in range(first[index], first[index + 1]):
            for slot in range(begin[rows[at]], begin[rows[at] + 1]):
                other = users[slot]
                if seen[other] != index:
                    seen[other] = index
                    degree[index] += 1
    return degree


@kernel
def _first_fit(first: np.ndarray, rows: np.ndarray, resources: int, order: np.ndarray) -> np.ndarray:
    """Each connection into the first configuration that takes it: the same as filling them one by one in this order."""
    colours = np.full(len(order), -1, np.int64)
    taken = np.zeros((8, resources), np.bool_)
    for index in order:
        colour = 0
        while True:
            if colour == len(taken):
                wider = np.zeros((2 * len(taken), resources), np.bool_)
                wider[: len(taken)] = taken
                taken = wider
            free = True
            for at in range(first[index], first[index + 1]):
                if taken[colour, rows[at]]:
                    free = False
                    break
            if free:
                break
            colour += 1
        colours[index] = colour
        for at in range(first[index], first[index + 1]):
            taken[colour, rows[at]] = True
    return colours


@kernel
def _colouring(
    first: np.ndarray, rows: np.ndarray, resources: int, lengths: np.ndarray, degree: np.ndarray
) -> np.ndarray:
    count = len(first) - 1
    begin, users = _users(first, rows, resources)
    colours = np.full(count, -1, np.int64)
    blocked = np.full(count, -1, np.int64)  # the configuration that cannot take it
    seen = np.full(count, -1, np.int64)
    priority = np.zeros(count, np.float64)
    colour = 0
    waiting = np.arange(count)
    while len(waiting):
        for index in waiting:
            priority[index] = lengths[index] / degree[index] if degree[index] else np.inf
        waiting = waiting[np.argsort(-lengths[waiting], kind="mergesort")]
        for index in waiting[np.argsort(-priority[waiting], kind="mergesort")]:
            if blocked[index] == colour:
                continue
            colours[index] = colour
            for at in range(first[index], first[index + 1]):
                for slot in range(begin[rows[at]], begin[rows[at] + 1]):
                    other = users[slot]
                    if other != index and colours[other] < 0 and seen[other] != index:
                        seen[other] = index
                        degree[other] -= 1
                        blocked[other] = colour
        waiting = np.flatnonzero(colours < 0)
        colour += 1
    return colours
