"""Calls of several operators that a node carries out at the same time, as `pointsman.runtime.api.together` does, or in an order
of its own.

Takes visits and the steps of their calls; gives runs of visits that belong together, and steps in which the lanes of all calls
are one move. Leaves alone: which visits these are (``sampling``, ``path_taken``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from .. import kernel as k
from ..lanes import AFTER, PAIR
from ..sampling import SampledVisit

Step = tuple[int, int, int]


def runs(visits: Iterable[SampledVisit]) -> Iterator[list[SampledVisit]]:
    """The visits one by one, and in one list those whose messages move at the same time, or whose calls have an order of their
    own."""
    coming = iter(visits)
    for visit in coming:
        last = max([len(visit.together) - 1, *(at for turn in visit.calls for at, _ in turn), 0])
        yield [visit, *islice(coming, last)]


def joined(calls: Sequence[Sequence[Step]], lanes: list[tuple[int, ...]]) -> list[Step]:
    """Steps of all ``calls``: the lanes of their first moves at the same time, then those of their second, …. New rows are added
    to ``lanes``, a table of `pointsman.plan.timeline.lanes`."""
    left = [list(steps) for steps in calls]
    found: list[Step] = []
    while any(left):
        moves = []
        for steps in left:
            while steps and steps[0][0] != k.MOVE:
                found.append(steps.pop(0))
            if steps:
                _, first, end = steps.pop(0)
                moves.append((first, end))
        if moves:
            start = len(lanes)
            for first, end in moves:
                before = len(lanes) - start
                for row in lanes[first:end]:
                    at = list(row)
                    for column in (AFTER, PAIR):
                        at[column] += before if at[column] >= 0 else 0
                    lanes.append(tuple(at))
            found.append((k.MOVE, start, len(lanes)))
    return found
