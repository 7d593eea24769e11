"""All-gather on a line without waiting: every word floods both ways, so only its start can be chosen.

Nodes of a line get a word in 2n - 4 slots (n even, from 4 on) or 2n - 3 (n odd, from 5 on). An exhaustive search up to twelve
nodes has shown
that no start slots do with fewer; the pattern of those that it found goes on.
"""

from __future__ import annotations

import itertools

import numpy as np

from pointsman.artifacts.routes.collectives import CollectiveWord, Words
from pointsman.artifacts.routes.routes import RouteProblem

from .schedule import Schedule


def line_starts(count: int) -> tuple[int, list[int]]:
    """Period and the start slot of each of ``count`` nodes (at least four)."""
    if count % 2:
        half = count // 2
        middle = 3 * half - 1
        return 2 * count - 3, [*range(0, middle - 1, 3), *range(middle, 4, -3), 0, 1]
    jump = 2 * (count // 4)
    steps = [3] * (count // 2 - 1) + [jump] + [3] * (count // 2 - 2) + [1]
    period = 2 * count - 4
    return period, [sum(steps[:at]) % period for at in range(count)]


def along_line(net: RouteProblem, nodes: tuple[int, ...]) -> Schedule | None:
    """All-gather of a word a node; None if the network is no line of at least four nodes."""
    ends = [node for node in nodes if len(net.following[node]) == 1]
    if len(nodes) < 4 or len(ends) != 2 or any(len(net.following[node]) > 2 for node in nodes):
        return None
    order, seen = [ends[0]], {ends[0]}
    while len(order) < len(nodes):
        after = [node for node in net.following[order[-1]] if node not in seen]
        if len(after) != 1:
            return None
        order += after
        seen.update(after)
    if any(u not in net.following[v] for u, v in itertools.pairwise(order)):
        return None
    period, starts = line_starts(len(nodes))

    def make(index: int) -> CollectiveWord:
        start = starts[index]
        up = [(order[at], start + at - index, order[at + 1]) for at in range(index, len(order) - 1)]
        down = [(order[at], start + index - at, order[at - 1]) for at in range(index, 0, -1)]
        moves = np.array(up + down, np.int64).reshape(-1, 3)
        return CollectiveWord((order[index], 0), order[index], start, outward=moves, destinations=moves[:, 2])

    return Schedule(period, Words(len(nodes), make), "line, both ways at once")
