"""The period and the words of every stream: the search for the greatest least bandwidth / weight that can be packed.

Takes the streams and the periods that are allowed; gives the best packing found within a budget of work. A *level* is a period
and the words of every stream in it; its *share* is the least bandwidth / weight. Budgets count work, not time, so that the
outcome is the same on every machine, unless a time limit is given.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .balance import balance
from .packing import PackedChain, PackingArrays, PackingAttempt, PackingOutcome

EASY = 0.70
"""Load (fraction of the estimate) of the level that is tried first."""
FINEST = 0.004
"""A level is kept only if its load is less by half of this than that of every level with a greater share."""
WORK_PER_HOP, LEAST_WORK, MOST_WORK = 700_000, 800_000_000, 200_000_000_000
"""Budget at effort 1: work per hop of all streams, and its limits."""
ROUNDS, PATIENCE = 1000, 200
EASY_LARGE, LARGE = 0.83, 200
"""EASY for networks of LARGE nodes and more, where an attempt takes long."""
NEAR, TRIES_NEAR, TRIES_LOWEST = 5, 5, 3
"""A level that fails with at most NEAR conflicts is tried TRIES_NEAR times; the lowest level TRIES_LOWEST times in any case."""
SHARING = 0.15
"""Added to a level's load for each word above a single word that its chains carry on average."""
CLIMB_SHARING, CLIMB_FULL, CLIMB_TRIES = 0.04, 1.1, 40
"""For the levels of `Levels._climb`: SHARING, their greatest load, and the number of rounds."""


@dataclass(frozen=True)
class Level:
    """``words`` of each stream in ``slots``; ``share``: the least bandwidth / weight; ``load``: estimated fullness, 1 = full."""

    slots: int
    words: tuple[int, ...]
    share: Fraction
    load: float


@dataclass
class Best:
    """The best level so far and its chains; ``estimate`` of the greatest share, attempts made and work spent."""

    level: Level
    chains: list[PackedChain]
    estimate: float
    attempts: int = 0
    work: int = 0


class Levels:
    """The search for the best level that can be packed.

    Parameters
    ----------
    arrays : PackingArrays
        Streams on their network.
    periods : sequence of int
        Lengths that may be chosen.
    hold : bool
        Keep slots for the reprogramming VFSM.
    fixed : sequence of PackedChain
        Chains that stay as they are; their streams get no others. ``periods`` must be the period of these chains.
    """

    def __init__(
        self,
        arrays: PackingArrays,
        periods: Sequence[int],
        *,
        hold: bool = True,
        fixed: Sequence[PackedChain] = (),
        seed: int = 0,
        effort: float = 1.0,
        time_limit: float | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.arrays, self.periods, self.hold, self.seed = arrays, list(periods), hold, seed
        self.tell = tell or (lambda line: None)
        self.problem = arrays.problem
        self.fixed = list(fixed)
        self.pinned = {packed.stream for packed in self.fixed}
        weights = [stream.weight for stream in self.problem.streams]
        fraction = {weight: Fraction(weight).limit_denominator(10_000) for weight in set(weights)}
        self.weights = [fraction[weight] for weight in weights]
        self.different = {weight for index, weight in enumerate(self.weights) if index not in self.pinned}
        """Weights of the streams that are not pinned."""
        ends = [(stream.source, *stream.destinations) for stream in self.problem.streams]
        self._end_nodes = np.array([node for nodes in ends for node in nodes], np.int64)
        self._end_streams = np.repeat(np.arange(len(ends)), [len(nodes) for nodes in ends])
        self.slack = 2 if self.problem.nodes <= MOST_NODES_LOOSE else 0
        hops = int(arrays.length.sum()) + len(self.problem.streams)
        self.effort = effort
        self.budget = int(effort * min(max(LEAST_WORK, WORK_PER_HOP * hops), MOST_WORK))
        self.patience = max(20, int(PATIENCE * min(effort, 4.0)))
        self.until = None if time_limit is None else time.monotonic() + time_limit
        self.failures: list[tuple[Level, PackingOutcome]] = []

    # -- levels ------------------------------------------------------------------------------------------------

    def levels(self, estimate: float) -> list[Level]:
        """Levels worth trying, by rising share and load."""
        found: dict[Fraction, Level] = {}
        for slots in self.periods:
            for share in self._shares(slots, estimate):
                level = self._level(slots, share, estimate)
                if level is not None and (level.share not in found or level.load < found[level.share].load):
                    found[level.share] = level
        # Only levels with a smaller load than every level of a greater share.
        kept: list[Level] = []
        least = float("inf")
        for level in sorted(found.values(), key=lambda one: -one.share):
            if level.load < least - FINEST / 2:
                least = level.load
                kept.append(level)
        kept.reverse()
        return kept

    def _shares(self, slots: int, estimate: float) -> list[Fraction]:
        """Shares at which some stream has a whole number of words in ``slots``; thinned when there are many."""
        shares: set[Fraction] = set()
        for weight in set(self.weights):
            most = int(1.1 * estimate * float(weight) * slots) + 1
            shares.update(Fraction(words) / (weight * slots) for words in range(1, min(most, 4 * slots) + 1))
        ordered = sorted(shares)
        thin: list[Fraction] = []
        for share in ordered:
            if not thin or share > thin[-1] * (1 + Fraction(1, 200)):
                thin.append(share)
        return thin

    def _level(self, slots: int, share: Fraction, estimate: float, sharing: float = SHARING) -> Level | None:
        # Streams have few different weights, and fractions are slow.
        of = {weight: max(1, -int(-(share * weight * slots) // 1)) for weight in self.different}
        words = tuple(0 if index in self.pinned else of[weight] for index, weight in enumerate(self.weights))
        least = min((Fraction(count) / (weight * slots) for weight, count in of.items()), default=Fraction(0))
        free = 1 if self.hold else 0
        ending = np.bincount(self._end_nodes, np.array(words, np.float64)[self._end_streams], self.problem.nodes)
        if len(ending) and ending.max() > self.problem.pipelines * (slots - free):
            return None  # a node has too few slots for its injections and deliveries alone
        split = self.split(slots, words)
        if split is None:
            return None
        room = (slots - free) / slots
        load = float(least) / (estimate * room) if estimate else 1.0
        load += sharing * (sum(words) / max(1, sum(split)) - 1)
        return Level(slots, words, least, load)

    def split(self, slots: int, words: Sequence[int]) -> list[int] | None:
        """Number of chains of each stream: as many as registers and VFSMs allow, at most its words; None if too few."""
        problem = self.problem
        free = [problem.registers] * problem.nodes
        least = [-(-2 * count // slots) for count in words]
        ends = [(stream.source, *stream.destinations) for stream in problem.streams]
        for index, nodes in enumerate(ends):
            for node in nodes:
                free[node] -= least[index]
        for packed in self.fixed:
            for node in ends[packed.stream]:
                free[node] -= 1
        if min(free, default=0) < 0:
            return None
        busy = slots - (1 if self.hold else 0)
        ratio = min(1.0, 1.12 * problem.room / busy)
        most = [max(low, int(count * ratio)) for count, low in zip(words, least, strict=True)]
        split = list(least)
        heap = [(-words[i] / split[i], i) for i in range(len(words)) if split[i] < most[i]]
        heapq.heapify(heap)
        while heap:
            _, index = heapq.heappop(heap)
            if all(free[node] > 0 for node in ends[index]):
                for node in ends[index]:
                    free[node] -= 1
                split[index] += 1
                if split[index] < most[index]:
                    heapq.heappush(heap, (-words[index] / split[index], index))
        return split

    # -- search ------------------------------------------------------------------------------------------------

    def estimate(self) -> float:
        """Estimate of the greatest share if words were divisible and no slots were held for reprogramming."""
        arrays, problem = self.arrays, self.problem
        if not problem.streams:
            return 1.0
        slots = 8
        share = balance(
            arrays.net,
            arrays.hops,
            arrays.allowed,
            arrays.hops_row,
            np.array([stream.source for stream in problem.streams], np.int64),
            arrays.first_end,
            arrays.ends,
            np.array([float(weight) for weight in self.weights]),
            float(problem.pipelines),
            1.0,
            60,
            self.slack,
            arrays.scratch(slots, self.slack),
        )
        return self._tree_estimate(share)

    def _tree_estimate(self, share: float) -> float:
        """``share``, limited by the injections and deliveries of the busiest node."""
        problem = self.problem
        ops = [0.0] * problem.nodes
        for stream, weight in zip(problem.streams, self.weights, strict=True):
            ops[stream.source] += float(weight)
            for end in stream.destinations:
                ops[end] += float(weight)
        counted = problem.pipelines / max(ops)
        return min(share, counted) if share > 0 else counted

    def run(self) -> Best | None:
        """The best packing found; None if not even the lowest level could be packed."""
        estimate = self.estimate()
        levels = self.levels(estimate)
        if not levels:
            return None
        best: Best | None = None
        low, high = -1, len(levels)
        index = self._nearest(levels, EASY if self.problem.nodes < LARGE else EASY_LARGE, low, high)
        tries: dict[int, int] = {}
        spent = 0
        while index is not None:
            level = levels[index]
            self.tell(f"{level.slots} slots, up to {max(level.words)} words a stream")
            lowest = best is None and index == 0
            left = self.budget - spent
            budget = self.budget if lowest else max(left // 2, self.budget // 8)
            outcome, work = self._attempt(level, budget, tries.get(index, 0))
            tries[index] = tries.get(index, 0) + 1
            spent += work
            if outcome.chains is not None:
                best = Best(level, outcome.chains, estimate)
                low = index
            else:
                self.failures.append((level, outcome))
                if lowest and tries[index] >= TRIES_LOWEST:
                    return None
                near = outcome.conflicts <= NEAR and tries[index] < TRIES_NEAR and self.problem.nodes < LARGE
                if not lowest and not near:
                    high = index
            if best is not None and self._spent(spent):
                break
            if outcome.chains is None and (lowest or index < high):
                continue  # try the same level again with other random numbers
            index = self._next(levels, low, high, best is None)
        if best is not None:
            attempts = sum(tries.values())
            if self.effort > 1:
                best, more, spent = self._climb(best, estimate, spent)
                attempts += more
            best.attempts, best.work = attempts, spent
        return best

    def _climb(self, best: Best, estimate: float, spent: int) -> tuple[Best, int, int]:
        """Spend the rest of the budget on levels above the best, a try for each in every round: bisection assumes that levels
        with less load are easier, which is only roughly true. Gives the best, the tries, and the work done in all."""
        attempts = 0
        conflicts: dict[Level, int] = {}
        levels = self._above(best, estimate)
        for turn in range(CLIMB_TRIES):
            levels = [level for level in levels if level.share > best.level.share]
            if turn:
                # In each round the half with the fewest conflicts.
                levels = sorted(levels, key=lambda level: (conflicts[level], level.load))[: max(2, len(levels) // 2)]
            for level in levels:
                if self._spent(spent):
                    return best, attempts, spent
                if level.share <= best.level.share:
                    conflicts[level] = 0
                    continue
                self.tell(f"{level.slots} slots, up to {max(level.words)} words a stream, try {turn + 1}")
                outcome, work = self._attempt(level, (self.budget - spent) // 2, 100 + turn)
                attempts, spent = attempts + 1, spent + work
                conflicts[level] = min(outcome.conflicts, conflicts.get(level, outcome.conflicts))
                if outcome.chains is not None:
                    best = Best(level, outcome.chains, estimate)
        return best, attempts, spent

    def _above(self, best: Best, estimate: float) -> list[Level]:
        """Levels with a greater share than the best, of all periods, by rising load."""
        found = []
        for slots in self.periods:
            for share in self._shares(slots, estimate):
                if share <= best.level.share:
                    continue
                level = self._level(slots, share, estimate, CLIMB_SHARING)
                if level is not None and level.share > best.level.share and level.load <= CLIMB_FULL:
                    found.append(level)
        return sorted(found, key=lambda level: (level.load, level.slots))

    def _spent(self, work: int) -> bool:
        return work >= self.budget or (self.until is not None and time.monotonic() > self.until)

    @staticmethod
    def _nearest(levels: list[Level], target: float, low: int, high: int) -> int | None:
        between = range(low + 1, high)
        if not between:
            return None
        return min(between, key=lambda index: (abs(levels[index].load - target), index))

    def _next(self, levels: list[Level], low: int, high: int, nothing: bool) -> int | None:
        """The level to try next: between the best that was packed and the lowest that failed, about halfway by load."""
        if nothing:
            return self._nearest(levels, levels[high].load * 0.8, low, high) if high > 0 else None
        upper = levels[high].load if high < len(levels) else 1.02
        lower = levels[low].load
        gap = upper - lower
        target = lower + (gap / 2 if high < len(levels) else max(0.03, gap * 0.4))
        return self._nearest(levels, target, low, high)

    def _attempt(self, level: Level, budget: int, number: int) -> tuple[PackingOutcome, int]:
        split = self.split(level.slots, level.words)
        assert split is not None
        packing = PackingAttempt(
            self.arrays,
            level.slots,
            level.words,
            split,
            hold=self.hold,
            seed=self.seed * 1000 + number,
            slack=self.slack,
            fixed=self.fixed,
        )
        packing.run(ROUNDS, self.patience, budget, self._late)
        return packing.outcome(), packing.work

    def _late(self) -> bool:
        return self.until is not None and time.monotonic() > self.until


MOST_NODES_LOOSE = 1024
"""Larger networks are routed on shortest paths only."""
