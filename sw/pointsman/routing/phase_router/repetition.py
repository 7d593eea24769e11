"""Short periods repeated to fill the whole period, with words taken out again to make room for the reprogramming VFSM.

Takes chains placed in a number of slots that divides the period; gives chains of the whole period. Leaves alone their routes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from .attempt import RoutingTask
from .fixed_routes import count_cells
from .problem import NodeLimits, RoutingPart, kept
from .routes import Chain, Footprint


def divisors(period: int) -> list[int]:
    """Divisors of ``period`` from 2 up."""
    return [p for p in range(2, period + 1) if period % p == 0]


def repeated(chains: Sequence[Chain], slots: int, period: int) -> list[Chain]:
    """The chains of ``slots`` slots, repeated to fill ``period`` slots."""
    return [
        Chain(
            chain.demand,
            chain.route,
            tuple(start + slots * turn for turn in range(period // slots) for start in chain.starts),
        )
        for chain in chains
    ]


def thinned(
    part: RoutingPart, chains: Sequence[Chain], drop: Sequence[int], period: int, limits: NodeLimits
) -> list[Chain] | None:
    """``chains`` without ``drop`` words each, chosen so that all reprogramming VFSMs have a slot; None if that fails.

    First the earliest words of every chain are dropped, then the choice is improved chain by chain.
    """
    return _Thinning(part, chains, drop, period, limits).run()


class _Thinning:
    def __init__(
        self, part: RoutingPart, chains: Sequence[Chain], drop: Sequence[int], period: int, limits: NodeLimits
    ) -> None:
        self.period, self.chains, self.drop = period, chains, drop
        self.marks = [Footprint(chain.route, limits.pipelines, period) for chain in chains]
        places = part.nodes * limits.pipelines
        use, writers = np.zeros((2, places, period), np.int64)
        count_cells(part.fixed, use, writers, limits.pipelines)
        self.use: list[int] = use.reshape(-1).tolist()
        self.writers: list[int] = writers.reshape(-1).tolist()
        self.need = [False] * places
        for chain, mark in zip(chains, self.marks, strict=True):
            for place in mark.counts:
                self.need[place - place % limits.pipelines] |= limits.phase_change
                self.need[place] |= part.demands[chain.demand].rewritten
            self._count(mark, chain.starts, 1)

    def run(self) -> list[Chain] | None:
        gone: list[tuple[int, ...]] = []
        for chain, mark, drop in zip(self.chains, self.marks, self.drop, strict=True):
            gone.append(chain.starts[:drop])
            self._count(mark, gone[-1], -1)
        for _ in range(4):
            bad = {place for place, needed in enumerate(self.need) if needed and self._is_full(place)}
            if not bad:
                return [
                    Chain(chain.demand, chain.route, tuple([s for s in chain.starts if s not in out]))
                    for chain, out in zip(self.chains, gone, strict=True)
                ]
            for index, (chain, mark) in enumerate(zip(self.chains, self.marks, strict=True)):
                if bad.isdisjoint(mark.counts):
                    continue
                self._count(mark, gone[index], 1)
                gone[index] = self._best(chain, mark, self.drop[index], gone[index])
                self._count(mark, gone[index], -1)
        return None

    def _best(self, chain: Chain, mark: Footprint, drop: int, now: tuple[int, ...]) -> tuple[int, ...]:
        """The ``drop`` consecutive words of ``chain`` whose removal leaves the fewest places without a slot for reprogramming."""
        best, fewest = now, None
        places = [place for place in dict.fromkeys(mark.counts) if self.need[place]]
        for first in range(len(chain.starts)):
            out = tuple([chain.starts[(first + step) % len(chain.starts)] for step in range(drop)])
            self._count(mark, out, -1)
            bad = sum(map(self._is_full, places))
            self._count(mark, out, 1)
            if fewest is None or bad < fewest:
                best, fewest = out, bad
        return best

    def _is_full(self, place: int) -> bool:
        """Has a place no slot for reprogramming?"""
        first = place * self.period
        before = first + self.period - 1
        for cell in range(first, first + self.period):
            if not self.use[cell] and not self.writers[before]:
                return False
            before = cell
        return True

    def _count(self, mark: Footprint, starts: Sequence[int], sign: int) -> None:
        for start in starts:
            for cell in mark.cells[start]:
                self.use[cell] += sign
            for cell in mark.delivers[start]:
                self.writers[cell] += sign


def short_task(
    part: RoutingPart, words: Sequence[int], most: int, slots: int, period: int, *, drop: int
) -> RoutingTask | None:
    """A task for ``slots`` slots whose repetition carries ``words`` per ``period``, with at most ``most`` chains per demand.

    ``drop`` words will be taken out of each chain afterwards to make room for the reprogramming VFSM, for which the task then
    reserves no slot. None if the words cannot be divided evenly over repetitions and chains.
    """
    turns = period // slots
    at_most = kept(part, ("at most", most), lambda: [min(most, demand.chains) for demand in part.demands])
    divided = []
    for count, chains in zip(words, at_most, strict=True):
        fitting = _division(count, chains, turns, drop)
        if fitting is None:
            return None
        divided.append(fitting)
    return RoutingTask(part, slots, tuple([each for _, each in divided]), tuple([n for n, _ in divided]), not drop)


@cache
def _division(count: int, most: int, turns: int, drop: int) -> tuple[int, int] | None:
    """(chains, at most ``most``; their words per repetition) that give ``count`` words in ``turns`` repetitions, after each chain
    drops ``drop`` words; None if there are none."""
    for split in range(most, 0, -1):
        if (count + drop * split) % (turns * split) == 0:
            return split, (count + drop * split) // turns
    return None
