"""Words per stream: the search for the most words for each group of streams that can be routed.

Takes the parts of a phase; gives chains for each of them. All streams of a group get the same number of words per
period; a *level* is such a number for every group. Levels are tried by repeating short periods and by routing the whole
period at once. Budgets count work, not time, so the outcome is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm

import numpy as np

from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream

from .arrays import arrays_of
from .attempt import AttemptOutcome, Budget, Negotiation, RoutingTask
from .counting import Counting, Level
from .necessary import overloaded
from .placement import Placed
from .problem import NodeLimits, RoutingPart, Site
from .repetition import divisors, repeated, short_task, thinned
from .routes import Chain

Found = Placed | list[Chain]
"""Chains of a part for the whole period, or placed chains of a short period that is to be repeated."""

BUDGET = 100_000_000, 5_000, 2_000_000_000
"""Work at effort 1: the first number plus the second for each destination × link, but at most the third."""
QUICK = 8
"""Periods of up to so many slots are tried with PATIENCE in the first pass where the work is SMALL; all others with HASTE."""
HASTE = 24, 10
PATIENCE = 200, 60
"""Rounds of negotiation, and rounds without fewer conflicts, after which an attempt is given up."""
MENDING = 12, 4
"""Rounds, as PATIENCE, for an attempt that begins with the chains of a lower level: it settles soon or never."""
STUBBORN = 2
"""Levels in succession that may fail before the next period is tried."""
BEGUN = 16
"""Attempts, given up for want of patience, that are kept to be gone on with."""
SMALL = 10_000
"""Destinations × links up to which several groups get at least effort 1, which costs next to nothing; above, the least effort
falls in proportion. A single group reaches the words that counting permits without this."""


@dataclass
class StreamGroup:
    """A group of streams: their greatest weight, and the most words per period that each can have."""

    weight: Fraction
    most: int


class Search:
    """The search for the highest level that can be routed."""

    def __init__(
        self,
        streams: Sequence[Stream],
        parts: list[tuple[RoutingPart, Site]],
        limits: NodeLimits,
        period: int,
        seed: int,
        effort: float,
        progress: Callable[[str], None] | None,
        had: Sequence[int] = (),
    ) -> None:
        self.streams, self.parts, self.limits = streams, parts, limits
        self.period, self.seed, self.effort = period, seed, effort
        self.tell = progress or (lambda line: None)
        names = list(dict.fromkeys(stream.group for stream in streams))
        self.group_of = [names.index(stream.group) for stream in streams]
        self.own_groups = [tuple(self.group_of[stream] for stream in site.streams) for _, site in parts]
        """For each of ``parts``, the groups of its streams."""
        several = {
            (part, groups): number
            for number, ((part, _), groups) in enumerate(zip(parts, self.own_groups, strict=True))
        }
        self.different = sorted(several.values())
        """Indices of ``parts`` that differ, or whose streams are of other groups: of the rows of a mesh one."""
        self.counting = Counting(streams, parts, limits, period, self.group_of)
        self.groups = [self._group(index) for index in range(len(names))]
        self.reached: dict[int, int] = {}
        """For each group, its words when it was routed with fewer other streams (``PhaseConditions.had``)."""
        for index, words in zip(self.group_of, had, strict=False):
            self.reached[index] = max(self.reached.get(index, 0), words)
        self.outcomes: dict[tuple[RoutingTask, tuple[int, int]], AttemptOutcome] = {}
        self.final: dict[tuple[RoutingTask, int, int], AttemptOutcome] = {}
        """Those that come out the same with any patience, by task, seed, and identity of the chains that they began with."""
        self.begun: dict[tuple[RoutingTask, int], Negotiation] = {}
        """The last attempts from nothing that may be gone on with, by task and seed."""
        self.known: dict[tuple[RoutingPart, Level], Found] = {}
        self.ways: dict[tuple[RoutingPart, Level, int], list[tuple[RoutingTask, int]]] = {}
        self.divided: dict[tuple[RoutingPart, Level, int], bool] = {}
        self.stands: tuple[Found, ...] = ()
        """For each of ``parts``, chains of the present level, with which attempts at higher levels begin."""
        self.failure: tuple[Site, AttemptOutcome] | None = None
        work = sum(len(part.links) * sum(len(d.destinations) for d in part.demands) for part in self.counting.loads)
        self.quick = QUICK if work <= SMALL else 0
        """Slots up to which periods are tried with PATIENCE in the first pass."""
        if len(self.groups) > 1:
            self.effort = effort = max(effort, min(1.0, SMALL / max(1, work)))
        base, each, most = BUDGET
        self.budget = Budget(effort * min(base + each * work, most))
        self.share = self.budget
        self.patience = PATIENCE

    def run(self) -> list[tuple[Site, RoutingPart, list[Chain]]]:
        """Chains of every part; RoutingError if none are found with a word for every stream."""
        if not self.parts:
            return []
        self.counting.refuse()
        most = self.counting.limits([group.most for group in self.groups])
        for group, words in zip(self.groups, most, strict=True):
            group.most = words
        levels = self._levels()
        found, reached = self._climb(levels)
        if found is None:
            found, reached = self._least(levels[0]), 0
        if len(self.groups) > 1:
            found = self._raise_groups(found, levels[reached])
        chains = {id(one): self._chains(one) for one in found}
        return [(site, part, chains[id(one)]) for (part, site), one in zip(self.parts, found, strict=True)]

    def _raise_groups(self, found: tuple[Found, ...], level: Level) -> tuple[Found, ...]:
        """Raise groups singly from a common level, always the group that gains most by another word: operators of a phase are
        used one after the other, so the sum of weight / words is to be small."""
        going = [
            (-self._gain(index, level[index]), index)
            for index, group in enumerate(self.groups)
            if level[index] < group.most
        ]
        heapify(going)
        steps = 1
        while going:
            self.stands = found
            if steps > 1:
                # As long as all steps succeed, the next twice as many are tried at once.
                there, left = self._ahead(level, going, steps)
                more, _ = self._climb(self.counting.possible([there]))
                if more is not None:
                    found, level, going, steps = more, there, left, 2 * steps
                    continue
                steps = 1
            _, index = heappop(going)
            wanted = [self._with(level, index, words) for words in self._next(level, index, going)]
            higher = self.counting.possible(wanted)
            more, reached = self._climb(higher)
            if more is not None:
                found, level = more, higher[reached]
            if level == wanted[-1]:
                steps = 2
                self._push(going, index, level)
        return found

    def _ahead(
        self, level: Level, going: list[tuple[Fraction, int]], steps: int
    ) -> tuple[Level, list[tuple[Fraction, int]]]:
        """The level after so many successful steps, and the groups that can then be raised further."""
        going = list(going)
        for _ in range(steps):
            if going:
                _, index = heappop(going)
                level = self._with(level, index, self._next(level, index, going)[-1])
                self._push(going, index, level)
        return level, going

    def _next(self, level: Level, index: int, others: list[tuple[Fraction, int]]) -> range:
        """Words to try for a group: up to where another group would gain more."""
        second = -others[0][0] if others else Fraction(0)
        words, most = level[index] + 1, self.groups[index].most
        while words < most and self._gain(index, words) >= second:
            words += 1
        return range(level[index] + 1, words + 1)

    def _push(self, going: list[tuple[Fraction, int]], index: int, level: Level) -> None:
        if level[index] < self.groups[index].most:
            heappush(going, (-self._gain(index, level[index]), index))

    def _gain(self, index: int, words: int) -> Fraction:
        """Decrease of the group's weight / words when it gets ``words`` + 1 words instead of ``words``."""
        return self.groups[index].weight / (words * (words + 1))

    # What to try --------------------------------------------------------------------------------------------------

    def _levels(self) -> list[Level]:
        """Levels of rising share (words / weight) that counting permits. The first has a single word for every group."""
        common = lcm(*(group.weight.numerator for group in self.groups))
        shares = sorted(
            (words * int(common / group.weight), index, words)
            for index, group in enumerate(self.groups)
            for words in range(1, group.most + 1)
        )
        now = [1] * len(self.groups)
        levels = [tuple(now)]
        for number, (share, index, words) in enumerate(shares):
            now[index] = words
            if number + 1 == len(shares) or shares[number + 1][0] != share:
                levels.append(tuple(now))
        return self.counting.possible(list(dict.fromkeys(levels)))

    def _climb(self, levels: list[Level]) -> tuple[tuple[Found, ...] | None, int]:
        """The highest of ``levels`` that is reached within the budget: (chains of each part, index), or (None, -1).

        First, for every period from the shortest up, bisection over the levels above the best so far that the period divides
        (with HASTE unless period and work are small); then, with PATIENCE, the levels just above the best.
        """
        found, reached = None, -1
        periods = divisors(self.period)
        for slots in periods:
            quick = slots <= self.quick
            self._be_patient(PATIENCE if quick else HASTE)
            self.share = self.budget.share(1.0 if quick else 0.2)
            above = [index for index in range(reached + 1, len(levels)) if self._divides(levels[index], slots)]
            while above and not self.share.empty:
                middle = len(above) // 2
                chains = self._every_part(levels[above[middle]], slots)
                if chains is None:
                    above = above[:middle]
                else:
                    found, reached, above = chains, above[middle], above[middle + 1 :]
        self._be_patient(PATIENCE)
        for slots in periods:
            self.share = self.budget.share(0.5 if slots < self.period else 1.0)
            failures = 0
            for index in range(reached + 1, len(levels)):
                if self.share.empty or failures >= STUBBORN:
                    break
                if self._divides(levels[index], slots):
                    chains = self._every_part(levels[index], slots)
                    if chains is None:
                        failures += 1
                    else:
                        found, reached, failures = chains, index, 0
        return found, reached

    def _be_patient(self, rounds: tuple[int, int]) -> None:
        self.patience = max(4, int(rounds[0] * self.effort)), max(4, int(rounds[1] * self.effort))

    def _least(self, level: Level) -> tuple[Found, ...]:
        """Chains for the lowest level, without a limit of work; RoutingError after three attempts."""
        self.share = Budget(float("inf"))
        self.effort = max(1.0, self.effort)
        for attempt in range(3):
            self._be_patient((PATIENCE[0] << attempt, PATIENCE[1] << attempt))
            found = self._every_part(level, self.period)
            if found is not None:
                return found
            self.seed += 1
        raise self._failed()

    def _divides(self, level: Level, slots: int) -> bool:
        """Can each part reach ``level`` by repeating a period of ``slots``, as far as counting tells?"""
        for number in self.different:
            part, _ = self.parts[number]
            key = part, self._words(number, level), slots
            if key not in self.divided:
                self.divided[key] = next(self._make_tasks(*key), None) is not None
            if not self.divided[key]:
                return False
        return True

    def _tasks(self, number: int, level: Level, slots: int) -> list[tuple[RoutingTask, int]]:
        """Ways in which a part reaches ``level`` by repeating a period of ``slots``: (task, words to drop from each chain)."""
        key = self.parts[number][0], self._words(number, level), slots
        if key not in self.ways:
            self.ways[key] = list(self._make_tasks(*key))
        return self.ways[key]

    def _make_tasks(self, part: RoutingPart, words: Level, slots: int) -> Iterator[tuple[RoutingTask, int]]:
        room = slots < self.period and (self.limits.phase_change or any(d.rewritten for d in part.demands))
        tried: set[RoutingTask] = set()
        usual = self.counting.most_chains
        least = [
            (k, min(d.chains, usual, words[k])) for k, d in enumerate(part.demands) if d.all_chains and d.chains > 1
        ]
        drops = [0, 1] if room else [0]
        for most in (usual, 1):
            for drop in list(drops):
                task = short_task(part, words, most, slots, self.period, drop=drop)
                if task is None:
                    drops.remove(drop)  # what several chains cannot carry, one cannot either
                    continue
                if any(task.chains[k] < count for k, count in least):
                    continue
                if task not in tried:
                    tried.add(task)
                    yield task, drop

    def _every_part(self, level: Level, slots: int) -> tuple[Found, ...] | None:
        """Chains of each part at ``level`` by repeating a period of ``slots``; None if some part fails. Parts that are alike and
        whose streams have the same words, such as the rows of a mesh, have the same chains."""
        if self._beyond(level):
            return None
        found: list[Found] = []
        for number, (part, _) in enumerate(self.parts):
            words = self._words(number, level)
            if (part, words) not in self.known:
                chains = self._part(number, level, slots)
                if chains is None:
                    return None
                self.known[part, words] = chains
            found.append(self.known[part, words])
        return tuple(found)

    def _beyond(self, level: Level) -> bool:
        """Does ``level`` give some group more words, and none less, than with fewer other streams (``self.reached``)?"""
        more = [level[index] - words for index, words in self.reached.items()]
        return any(n > 0 for n in more) and all(n >= 0 for n in more)

    def _part(self, number: int, level: Level, slots: int) -> Found | None:
        part, site = self.parts[number]
        stands = self.stands[number] if self.stands else None
        for task, drop in self._tasks(number, level, slots):
            outcome = self._attempt(task, stands)
            if outcome.placed is None:
                if slots == self.period:
                    self.failure = site, outcome
                continue
            if not drop:
                return outcome.placed
            chains = self._chains(outcome.placed)
            thin = thinned(part, chains, [drop] * len(chains), self.period, self.limits)
            if thin is not None:
                return thin
        return None

    def _chains(self, found: Found) -> list[Chain]:
        """Chains of the whole period."""
        return repeated(found.chains(), found.slots, self.period) if isinstance(found, Placed) else found

    def _attempt(self, task: RoutingTask, stands: Found | None) -> AttemptOutcome:
        key = task, self.patience
        if key not in self.outcomes:
            loads = self.counting.loads[task.part]
            if overloaded(task.part, loads, task.words, task.chains, task.slots, self.limits, reserve=task.reserve):
                self.outcomes[key] = AttemptOutcome(None)
            else:
                self.outcomes[key] = self._negotiated(task, loads.totals, stands)
        return self.outcomes[key]

    def _negotiated(self, task: RoutingTask, totals: np.ndarray, stands: Found | None) -> AttemptOutcome:
        """An attempt, unless the same has failed for good, with another patience."""
        same = task, self.seed, id(stands)
        if same in self.final:
            return self.final[same]
        self.tell(f"{task.slots} slots, words {max(task.words)}, chains {max(task.chains)}")
        outcome = self._negotiate(task, totals, stands)
        if outcome.final and not self.share.empty:
            self.final[same] = outcome
        return outcome

    def _negotiate(self, task: RoutingTask, totals: np.ndarray, stands: Found | None) -> AttemptOutcome:
        """An attempt from the chains that stand, those of the present level, if it can use them. If that fails, one from nothing,
        except at effort below 1, as in large phases, where it is costly and seldom reaches more."""
        tables = arrays_of(task.part)
        if isinstance(stands, Placed):
            negotiation = Negotiation(task, totals, self.limits, tables, self.seed)
            if negotiation.keep(stands):
                outcome = negotiation.run(*MENDING, self.share)
                if outcome.placed is not None or self.effort < 1.0:
                    # MENDING is the same whatever patience the search has.
                    return replace(outcome, final=True)
        # With HASTE, as a rule, and then with PATIENCE.
        key = task, self.seed
        if key in self.begun:
            negotiation = self.begun.pop(key)
        else:
            negotiation = Negotiation(task, totals, self.limits, tables, self.seed)
        outcome = negotiation.run(*self.patience, self.share)
        if not outcome.final:
            self.begun[key] = negotiation
            if len(self.begun) > BEGUN:
                del self.begun[next(iter(self.begun))]
        return outcome

    # Groups -----------------------------------------------------------------------------------------------------

    def _group(self, index: int) -> StreamGroup:
        mine = [stream for stream, group in zip(self.streams, self.group_of, strict=True) if group == index]
        wanted = [stream.max_words for stream in mine if stream.max_words is not None]
        return StreamGroup(
            Fraction(max(stream.weight for stream in mine)), min([self.period * self.limits.pipelines, *wanted])
        )

    def _words(self, number: int, level: Level) -> Level:
        """Words of each stream of a part."""
        return tuple(map(level.__getitem__, self.own_groups[number]))

    @staticmethod
    def _with(level: Level, index: int, words: int) -> Level:
        return (*level[:index], words, *level[index + 1 :])

    # What went wrong ------------------------------------------------------------------------------------------------

    def _failed(self) -> RoutingError:
        where, names = "", [stream.name for stream in self.streams]
        if self.failure is not None:
            site, outcome = self.failure
            if outcome.contested:
                names = [self.streams[site.streams[number]].name for number in outcome.contested]
            if outcome.nodes:
                nodes = [str(site.nodes[node]) for node in outcome.nodes]
                where = f" at node{'s' * (len(nodes) > 1)} " + ", ".join(nodes[:6]) + ", ..." * (len(nodes) > 6)
        listed = ", ".join(names[:6]) + ", ..." * (len(names) > 6)
        return RoutingError(
            f"no slots found for one word of every stream in {self.period} slots; in conflict{where}: {listed}",
            hint="a longer period, more pipelines, more effort, or fewer streams in one phase",
        )
