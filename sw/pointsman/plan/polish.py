"""The best plan -> a quicker one: candidates near it, which too rough an estimate may have ruled out, are planned, too.

Takes ``Attempts`` that have found a plan, and goes on with them. Leaves alone: what differs between a candidate and those near it
(``candidates``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from math import inf

from .attempts import CLOSE, LITTLE, Attempts, Centre, is_little, size_of
from .candidates.candidates import Candidate
from .phases.closing import cycles_of_barrier
from .plan import Plan

TINY = 16
"""Nodes of phases up to which estimates do not rule out another way of an operator: it takes no time to try it."""
POLISH = 1200
"""Streams, times the effort, that may be routed again to look for a quicker plan near the best plan."""
PLAYED = 1200
"""Nodes of phases, times the effort, that may be planned to try other ways of operators near the best plan."""
MANY = 4500
"""As PLAYED, of ways that alone need more than that, as a schedule for each node of a mesh of 6×6 or 8×8 does: a few, once, and
only of programs whose plan has at most two phases of LITTLE nodes. Longer ones would take minutes."""
UNLIKELY = 1.35
"""Factor on the estimate of the best plan beyond which no candidate near it was ever quicker (of 2,536 near 156 programs)."""
FEW = 3
"""Candidates near the best plan that must have been played before it is foretold from them what others take."""
DOUBT = 0.8
"""Share of what is foretold so that others take, at least."""
ASIDE = 300
"""As PLAYED, of several operators that are done in other ways at once."""
HARDLY = 1.25
"""Factor on the cycles of the best plan up to which plans of other divisions are centres, too, near which quicker ones may be."""
BESIDE = 200
"""As PLAYED, of candidates near such plans."""
SEEDS = 2
"""Other seeds of the router that are tried on the best candidate."""
SECONDS = 2
"""Small candidates close behind the best one on which they are tried, too."""
ENDS = 0.1
"""Share of a plan's cycles that barriers take between phases which are left several times, from which on they are tried in other
ways …"""
ENDED = 3
"""… with so many schedule lengths each, of candidates that are not little …"""
CLOSINGS = 1200
"""… and as POLISH, of these."""
USUAL = 3
"""Quickest small candidates with schedules of usual lengths, of which shorter ones are tried whatever the best plan is then."""


class Polish:
    """Looks for quicker plans near the best plan of ``attempts``."""

    def __init__(self, attempts: Attempts) -> None:
        self.attempts, self.candidates, self.ways = attempts, attempts.candidates, attempts.ways
        self.seed, self.effort = attempts.options.seed, attempts.effort
        self.left = PLAYED * self.effort
        """Nodes of phases that may still be planned to try other ways of operators."""
        self.more = MANY * self.effort
        """As ``left``, of ways that need more than PLAYED."""
        self.aside = ASIDE * self.effort
        """As ``left``, of several operators done in other ways at once."""
        self.beside = BESIDE * self.effort
        """As ``left``, of candidates near the quickest plans of other divisions."""
        self.brief = BESIDE * self.effort
        """As ``left``, of candidates with schedules shorter than usual near plans that are far behind."""
        self.closings = CLOSINGS * self.effort
        """Streams that may still be routed again to end phases in other ways."""
        self.other_ways: set[int] = set()
        """Numbers of candidates in which an operator of a best plan is done in another way."""
        self.seen_with_messages: set[tuple[Hashable, int]] = set()
        """Keys and schedule lengths of these."""
        self.seeds: set[tuple[int, int]] = set()
        """Numbers of candidates and seeds that were tried near the best plan."""
        self.exceeded: dict[bool, list[float]] = {True: [], False: []}
        """Of candidates played near the best plan, those that do an operator in another way (True) and other divisions: how far
        cycles, over those of the best plan, exceeded what the estimates said."""

    @property
    def _best(self) -> Plan:
        best = self.attempts.best
        assert best is not None
        return best

    def run(self) -> None:
        """Look for a quicker plan near the best plan, which too rough an estimate may have ruled out: operators done in another
        way, divisions with one phase end more or less, other schedule lengths, then other routes, then schedules shorter than
        usual. A quicker plan becomes the new centre. At last several operators are done in another way at once, also in other
        divisions, and others of these are centres, too."""
        if self.attempts.best is None:
            return
        left = self._polished(POLISH * self.effort)
        at: Plan | None = None
        while self._best is not at:
            at = self._best
            elsewhere = ((number, False, self.seed) for number in self._elsewhere())
            for number, beside, seed in chain(elsewhere, self._near_others()):
                self._try(number, seed, beside=beside)
                if self._best is not at:
                    left = self._polished(left)
                    break

    def _polished(self, left: float) -> float:
        """Look for a quicker plan near the best plan, routing at most ``left`` streams again; how many are left."""
        moves: Iterator[tuple[int, int, int]] = iter(())
        at: Plan | None = None
        while True:
            if self._best is not at:
                at, moves = self._best, self._near()
            number, seed, size = next(moves, (-1, 0, 0))
            if number < 0 or size > left:
                break
            left -= size
            self._try(number, seed)
        return left

    def _near(self) -> Iterator[tuple[int, int, int]]:
        """Numbers of candidates near the best plan that have not been tried, each with a seed of the router, and the streams that
        count against POLISH. Shorter schedules than usual are tried last, and near such a plan only others of them, and seeds."""
        number, seed = self.attempts.chosen
        shorter = number in self.attempts.short
        # Operators that share streams are work, too.
        size = sum(max(len(phase.routed.streams), len(phase.operators)) for phase in self._best.phases)
        if not shorter:
            for other in self._refused_lengths(number):
                yield other, seed, size
            for other, nodes in self._otherwise(Centre(self._best, number)):
                self._pay(nodes)
                yield other, seed, 0
        for one in () if shorter else self.candidates.near(self.ways[number]):
            if self._may_win(one, False, number) and not self._is_known(one):
                yield self.attempts.add(one), seed, size
        for other in self._closed_otherwise(number):
            if size <= self.closings:
                self.closings -= size
                yield other, seed, 0
        lengths = self._shorter_ones(self.ways[number], self._best)
        if shorter:
            yield from ((self._shortened(one), seed, size) for one in lengths)
            if is_little(self.ways[number]):
                # What each phase alone is quickest with differs from length to length, and need not be quickest together.
                same = self.candidates.as_played(self.ways[number], self._best)
                others = [] if same is None else self._shorter_ones(same, self._best)
                yield from ((self._shortened(one), self.seed, size) for one in others)
        for candidate in (number, *self._close_behind(number)):
            for other in range(self.seed + 1, self.seed + 1 + SEEDS):
                if (candidate, other) not in self.seeds:
                    yield candidate, other, size
        if not shorter:
            yield from ((self._shortened(one), seed, size) for one in lengths)
        elif seed != self.seed:
            yield from (
                (other, seed, size) for other in self._of_other_lengths(number) if (other, seed) not in self.seeds
            )
        # What suits schedules of usual lengths best need not suit shorter ones.
        for centre, luck in sorted(self.attempts.usual.values(), key=lambda one: one[0].plan.cycles)[:USUAL]:
            streams = sum(len(phase.routed.streams) for phase in centre.plan.phases)
            yield from ((other, luck, streams) for other, _ in self._shorter(centre))

    def _closed_otherwise(self, number: int) -> Iterator[int]:
        """Candidates that differ from that of this ``number``, of the best plan, in how barriers between phases are done."""
        context = self.attempts.context(self.ways[number], self.seed, fallbacks=False)
        ends = sum(
            phase.exits * (phase.settle + cycles_of_barrier(context, phase.barrier.operator))
            for phase in self._best.phases
            if phase.barrier is not None and phase.exits > 1
        )
        for several in self.candidates.closed_otherwise(self.ways[number]) if ends >= ENDS * self._best.cycles else ():
            lengths = 1 if number in self.attempts.short else len(several) if is_little(several[0]) else ENDED
            for one in several[:lengths]:
                if not self._is_known(one):
                    yield self._shortened(one) if number in self.attempts.short else self.attempts.add(one)

    def _refused_lengths(self, number: int) -> Iterator[int]:
        """Candidates that differ from that of this ``number`` in the schedule length, which has no room for some phase:
        processors pass on messages there, and all other phases may be quicker. None near a plan in which they may anyway."""
        for one in () if number in self.attempts.with_messages else self.candidates.of_other_lengths(self.ways[number]):
            way = one.key, one.period
            if way in self.seen_with_messages or not self._may_win(one, False, number):
                continue
            if self.attempts.cannot_be_planned(one):
                self.seen_with_messages.add(way)
                other = self.attempts.add(one)
                self.attempts.with_messages.add(other)
                yield other

    def _shortened(self, one: Candidate) -> int:
        """The number of a candidate with a schedule shorter than usual."""
        number = self.attempts.add(one)
        self.attempts.short.add(number)
        return number

    def _of_other_lengths(self, number: int) -> list[int]:
        """Candidates of the division of that of this ``number`` with schedules shorter than usual that have plans: a seed with
        which one is quicker may make others quicker."""
        one, considered = self.ways[number], self.attempts.considered
        same = (other for other in self.attempts.short if self.ways[other].labels == one.labels and other != number)
        return sorted(other for other in same if other in considered and considered[other].cycles is not None)

    def _close_behind(self, number: int) -> list[int]:
        """Small candidates done otherwise than that of this ``number`` whose plans are hardly slower, the quickest first: with
        routes of another seed they may be quicker."""
        found: dict[Hashable, tuple[float, int]] = {}
        for other, considered in self.attempts.considered.items():
            one = self.ways[other]
            if considered.cycles is None or considered.cycles > CLOSE * self._best.cycles or not is_little(one):
                continue
            found[one.key] = min(found.get(one.key, (inf, 0)), (considered.cycles, other))
        found.pop(self.ways[number].key, None)
        return [other for _, other in sorted(found.values())][:SECONDS]

    def _otherwise(self, centre: Centre) -> Iterator[tuple[int, int]]:
        """Candidates near a plan in which an operator is done in another way, with the nodes of their phases: with the schedule
        length that promises most, and with others if their plan is not far behind, or if they promise more than the plan."""
        for several in self.candidates.otherwise(self.ways[centre.number], centre.plan):
            refused: list[bool] = []
            for one in chain(several, self._longer(several, refused)):
                size = size_of(one)
                if size > self._left_for(size):
                    continue
                if self.attempts.cannot_be_planned(one):
                    refused.append(True)
                    continue
                if self.attempts.is_tried(one) or (size > TINY and not self._may_win(one, True, centre.number)):
                    continue
                if self._is_slow(one, centre):
                    break
                number = self.attempts.add(one)
                self.other_ways.add(number)
                yield number, size
                refused.append(self._is_refused(number))

    def _is_refused(self, number: int) -> bool:
        """Was a candidate refused that was tried near the best plan?"""
        return (number in self.attempts.with_messages, number) in self.attempts.failures

    def _is_slow(self, one: Candidate, centre: Centre) -> bool:
        """Is a candidate that is large, or promises less than a plan, slower than that plan with other schedule lengths?"""
        slow = min(self.attempts.tried.get(one.key, {}).values(), default=0.0) > CLOSE * centre.plan.cycles
        return slow and (not is_little(one) or one.estimate > centre.plan.cycles)

    def _left_for(self, size: int) -> float:
        """Nodes of phases that may still be planned for candidates of this size."""
        return self.more if self._is_large(size) and self._is_short() else self.left

    def _longer(self, several: Sequence[Candidate], refused: Sequence[bool]) -> Iterator[Candidate]:
        """A candidate with a longer schedule than ``several``, if all of them that have been tried meanwhile were ``refused``."""
        if refused and all(refused):
            yield from self.candidates.longer(max(several, key=lambda one: one.period))

    def _is_large(self, size: int) -> bool:
        """Do the nodes of a candidate's phases count against ``more``, not ``left``?"""
        return size > PLAYED * self.effort

    def _pay(self, size: int) -> None:
        if self._is_large(size):
            self.more -= size
        else:
            self.left -= size

    def _near_others(self) -> Iterator[tuple[int, bool, int]]:
        """Candidates near the quickest plans of other divisions that are hardly slower than the best: schedules shorter than
        usual, and operators done in another way. A quicker plan of a division becomes its new centre. What suits one division
        need not suit another, and no single change leads from the best plan there. Divisions given up for the sum of their
        phases are played before: the sum counts what is done side by side in a phase as if it were done in turn. And so are
        those of which nothing was planned, because others promised more."""
        given_up = [n for labels, (_, n) in self.attempts.unplayed.items() if labels not in self.attempts.divided]
        for number in (*given_up, *self._left_out()):
            size = size_of(self.ways[number])
            if size <= self.beside:
                self.beside -= size
                yield number, True, self.seed
        # What the best plan gained by a shorter schedule, others may gain, too.
        usual = min((one[0].plan.cycles for one in self.attempts.usual.values()), default=0.0)
        most = HARDLY * max(self._best.cycles, usual)
        best = self.ways[self.attempts.chosen[0]].labels
        others = [labels for labels, one in self.attempts.divided.items() if one.plan.cycles <= most and labels != best]
        for labels in sorted(others, key=lambda labels: self.attempts.divided[labels].plan.cycles):
            at: Centre | None = None
            while self.attempts.divided[labels] is not at:
                at = self.attempts.divided[labels]
                for number, size in chain(self._shorter(at), self._otherwise(at)):
                    if size > self.beside:
                        continue
                    self.beside -= size
                    yield number, True, self.seed
                    if self.attempts.divided[labels] is not at:
                        break
        for one in self._promising_short_ones():
            size = size_of(one)
            if size <= self.brief:
                self.brief -= size
                yield self._shortened(one), True, self.seed
        for number in self._close_behind(self.attempts.chosen[0]):
            size = size_of(self.ways[number])
            for seed in range(self.seed + 1, self.seed + 1 + SEEDS):
                if (number, seed) not in self.seeds and size <= self.beside:
                    self.beside -= size
                    yield number, True, seed

    def _left_out(self) -> list[int]:
        """Of each little division, done as the search does it, of which nothing has been planned: the candidate that promises
        most, if its estimate is below HARDLY times the cycles of the best plan."""
        planned = {self.ways[number].key for number, one in self.attempts.considered.items() if one.cycles is not None}
        planned |= {self.ways[number].key for _, number in self.attempts.unplayed.values()}
        found: list[int] = []
        for number in sorted(range(len(self.candidates.ways)), key=lambda number: self.ways[number].estimate):
            one = self.ways[number]
            if one.key not in planned and one.estimate < HARDLY * self._best.cycles and is_little(one):
                planned.add(one.key)
                if not self.attempts.cannot_be_planned(one):
                    found.append(number)
        return found

    def _shorter(self, centre: Centre) -> Iterator[tuple[int, int]]:
        """Candidates near a plan with schedules shorter than usual, with the nodes of their phases."""
        for one in self._shorter_ones(self.ways[centre.number], centre.plan):
            yield self._shortened(one), size_of(one)

    def _shorter_ones(self, one: Candidate, plan: Plan) -> list[Candidate]:
        found = self.candidates.shorter(one, plan)
        return [other for other in found if (other.key, other.period) not in self.attempts.seen]

    def _promising_short_ones(self) -> list[Candidate]:
        """Candidates with schedules shorter than usual that promise more than the best plan takes, also near plans that are far
        behind it: how far plans are from estimates differs most with these. The most promising first."""
        found = [
            one
            for centre, _ in self.attempts.usual.values()
            for one in self._shorter_ones(self.ways[centre.number], centre.plan)
            if one.estimate < self._best.cycles
        ]
        return sorted(found, key=lambda one: one.estimate)

    def _promise(self, one: Candidate, number: int) -> float:
        """The estimate of a candidate, over that of another of this ``number``."""
        before = self.ways[number].estimate
        return one.estimate / before if 0 < before < inf else 0.0

    def _may_win(self, one: Candidate, otherwise: bool, number: int) -> bool:
        """May a candidate near a plan, that of the candidate of this ``number``, be quicker? Estimates miss what is the same for
        many candidates of a program, for instance what another phase costs or that operators work side by side, so those played
        tell of the others."""
        exceeded = self.exceeded[otherwise]
        least = DOUBT * min(exceeded) if len(exceeded) >= FEW else 0.0
        return self._promise(one, number) * max(least, 1 / UNLIKELY) <= 1.0

    def _elsewhere(self) -> Iterator[int]:
        """Candidates of little divisions that promise more than the best plan, also if their own plans were given up for others
        near which nothing leads back to them: with several operators done in another way at once. Near a best plan that is not
        little, only little ones."""
        most = self.attempts.promised
        centres = list(self.attempts.divided.values())
        if not is_little(self.ways[self.attempts.chosen[0]]):
            centres.append(Centre(self._best, self.attempts.chosen[0]))
        for centre in sorted(centres, key=lambda one: self.ways[one.number].estimate):
            room = self.aside if is_little(self.ways[centre.number]) else LITTLE
            for one in self.candidates.several_otherwise(self.ways[centre.number]):
                size = size_of(one)
                if one.estimate <= most and size <= min(room, self.aside) and not self._is_known(one):
                    self.aside -= size
                    self.other_ways.add(self.attempts.add(one))
                    yield len(self.ways) - 1

    def _is_short(self) -> bool:
        """Has the best plan so few phases that a large way of an operator may be tried?"""
        return sum(len(phase.nodes) for phase in self._best.phases) <= 2 * LITTLE

    def _is_known(self, one: Candidate) -> bool:
        """Has a candidate been planned, do other schedule lengths tell that it is slower, or others that it cannot be planned?"""
        return self.attempts.is_tried(one) or self.attempts.cannot_be_planned(one)

    def _try(self, number: int, seed: int, *, beside: bool = False) -> None:
        """Plan a candidate with this seed of the router. ``beside``: it is of another division than the best plan."""
        self.seeds.add((number, seed))
        closed = self.ways[number].closing != self.ways[self.attempts.chosen[0]].closing
        otherwise = (
            beside
            or closed
            or number in self.other_ways
            or number in self.attempts.short
            or (number != self.attempts.chosen[0] and seed != self.seed)
        )
        # Little ones are played also if the sum of their phases says that they are slower.
        limit = inf if otherwise and is_little(self.ways[number]) else self.attempts.limit()
        draft = self.attempts.draft(number, seed, fallbacks=number in self.attempts.with_messages, limit=limit)
        plan = None if draft is None else self.attempts.routed(draft, limit)
        if draft is None or plan is None:
            return
        before, promise = self._best.cycles, self._promise(self.ways[number], self.attempts.chosen[0])
        cycles = self.attempts.play(draft, plan, HARDLY if beside else CLOSE)
        near = not beside and not closed and number not in self.attempts.short
        if cycles is not None and seed == self.seed and near and 0 < promise < inf:
            self.exceeded[number in self.other_ways].append(cycles / before / promise)
