"""Candidates -> the quickest plan: the most promising are drafted, planned and played.

Takes what ``candidates`` finds. Leaves alone: how a candidate is routed and closed (``phases``), and which candidates near the
best plan may be quicker still (``polish``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from pointsman.errors import PointsmanError

from .candidates.candidates import Candidate, Candidates
from .context import PlanContext, PlanMemo
from .cost.schedule_lengths import PERIODS
from .errors import MembershipError, PlanError
from .membership.passages import passages
from .memory.capacity import refuse_overfull_plan
from .options import PlanOptions
from .phases.candidate import draft_candidate, plan_candidate, refuse_again
from .plan import Considered, Plan
from .timeline.timeline import timed
from .work import Work

PLANS = 4
"""Most candidates that are planned, times the effort: those with the fewest estimated cycles."""
HOPELESS = 1.5
"""Factor on the cycles of the best plan: candidates estimated to take more are not routed."""
ROUGH = 1.25
"""Factor on the cycles of the best plan: a candidate whose phases add up to more is given up before it is played."""
CLOSE = 1.1
"""Factor as ROUGH, used when sum of phases and played cycles of the best plan agree within TRUSTED."""
LITTLE = 64
"""Nodes of phases up to which a candidate in which an operator is done in another way is always played, and with every
schedule length that promises more than the best plan: how far sums of phases are from played cycles differs from way to way,
and from length to length."""
SEVERAL = 8
"""Operators of a phase up to which their number does not count as work."""
TRUSTED = 1.25
"""Factor between these two measures of the best plan up to which they agree."""
CLEARLY = 1.03
"""Factor between the cycles of two schedule lengths from which on one is taken to be the better."""
FAR = 2.0
"""Factor on the cycles of the best plan from which on no other schedule length of a candidate is tried, whatever it promises."""
REMEDIED = 1200
"""Nodes of phases, times the effort, that may be planned instead of those for which all candidates were refused."""

DIVIDED = 6
"""Divisions that are looked for, one after the other, instead of those that were refused."""

LENGTHS = 2
"""Most schedule lengths with which each of these is planned; others are tried near the best plan."""

Tried = dict[Hashable, dict[int, float]]
"""By key of a candidate and schedule length, the fewest cycles that a plan took; infinite if planning was given up."""


@dataclass(frozen=True, eq=False)
class CandidateDraft:
    """A candidate whose phases have been routed, each without regard to the others."""

    number: int
    """Index of the candidate in ``Attempts.ways``."""
    context: PlanContext
    least: tuple[float, ...]
    """Cycles that each phase takes at least, about; empty where operators continue through phases."""
    promise: float
    """Cycles that the program is expected to take."""


@dataclass(frozen=True, eq=False)
class Centre:
    """A plan near which quicker ones are looked for, with the number of its candidate."""

    plan: Plan
    number: int


class Attempts:
    """Plans candidates and keeps the quickest plan. Those with the best estimates are drafted, that is, their phases are routed
    without barriers; drafts are then planned to the end, quickest first, until the others can hardly be quicker."""

    def __init__(
        self,
        name: str,
        candidates: Candidates,
        effort: float,
        options: PlanOptions,
    ) -> None:
        self.name, self.candidates, self.effort, self.options = name, candidates, effort, options
        self.progress = options.progress or (lambda line: None)
        self.most = 1 if options.first else max(1, round(PLANS * effort))
        self.planned = 0
        self.best: Plan | None = None
        self.rough = inf
        """Cycles of the best plan as the sum of its phases, before it was played."""
        self.considered: dict[int, Considered] = {}
        self.ways = list(candidates.ways)
        """All candidates; their index is the ``number`` used below."""
        self.chosen = (0, options.seed)
        """Number of the candidate that the best plan was made from, and seed of its router."""
        self.memo = PlanMemo()
        self.tried: Tried = {}
        self.seen: set[tuple[Hashable, int]] = set()
        """Candidates' keys and schedule lengths that were planned, or tried near the best plan."""
        self.divided: dict[tuple[tuple[str, ...], ...], Centre] = {}
        """By division, of little candidates: the quickest plan."""
        self.usual: dict[Hashable, tuple[Centre, int]] = {}
        """By key, of little candidates with schedules of usual lengths: the quickest plan, and the seed of its router."""
        self.unplayed: dict[tuple[tuple[str, ...], ...], tuple[float, int]] = {}
        """By division, of little candidates that were given up for the sum of their phases: the least promise, and its number."""
        self.short: set[int] = set()
        """Numbers of candidates with schedules shorter than usual, tried near the best plan."""
        self.with_messages: set[int] = set()
        """Numbers of candidates in which processors may pass on messages where nothing else can be done: those for which no plan
        was found without, those with schedules that are too short for a phase, and what is tried near such a plan."""
        self.failures: dict[tuple[bool, int], PointsmanError] = {}
        """Why candidates were refused, by whether processors might pass on messages, and number."""

    @property
    def failure(self) -> PointsmanError | None:
        """Why the first refused candidate was refused, or the first for an operator whose implementation was asked for, which is
        easily taken back; None if none was."""
        refused = self.candidates.refused
        if refused or not self.failures:
            return refused[0] if refused else None
        asking = (one for one in self.candidates.analysis.operators if one.impl is not None)
        asked = tuple([f"{one.position}: operator '{one.label}'" for one in asking])
        found = [self.failures[key] for key in sorted(self.failures)]
        return next((error for error in found if error.message.startswith(asked)), found[0])

    @property
    def crowded(self) -> bool:
        """Was a candidate refused for another reason than that a node could not tell when to go through a phase?"""
        return any(not isinstance(failure, MembershipError) for failure in self.failures.values())

    @property
    def secret(self) -> bool:
        """Was a candidate refused because a node could not tell when to go through a phase?"""
        return any(isinstance(failure, MembershipError) for failure in self.failures.values())

    @property
    def decisions(self) -> tuple[Considered, ...]:
        """What was considered, the most promising first."""
        return tuple(self.considered[number] for number in sorted(self.considered))

    def run(self) -> None:
        """Find the quickest plan, if there is any."""
        # Processors pass on messages (``fallbacks``) only if no plan is found without; if the operators need more VFSMs than
        # the nodes have, at once.
        for fallbacks in (False, True) if self.candidates.fits else (True,):
            self._run(enumerate(self.ways), fallbacks)
            if self.best is not None:
                break
        if not self.options.first:
            self._divide_otherwise()

    def _run(self, ways: Iterable[tuple[int, Candidate]], fallbacks: bool) -> None:
        """Plan candidates, given with their numbers."""
        left = deque(ways)
        while left:
            drafted = self._drafted(left, fallbacks)
            self._plan_all(sorted(drafted, key=lambda one: (one.promise, one.number)))

    def _divide_otherwise(self) -> None:
        """Plan other divisions where the most promising were refused, since estimates do not tell which phases have room for a
        barrier: those that the search finds without the phases for which divisions were refused."""
        known: set[frozenset[frozenset[str]]] = set()
        for _ in range(DIVIDED):
            refused = self._refused()
            if refused is None or refused[1] in known:
                return
            known.add(refused[1])
            more = [one for one in self.candidates.without(*refused, self.effort) if not self.is_tried(one)]
            first = len(self.ways)
            self.ways += (one for one in more if one.estimate < self.promised)
            self.most = self.planned + LENGTHS
            self._run(enumerate(self.ways[first:], first), False)

    @property
    def promised(self) -> float:
        """Cycles below which an estimate promises more than the best plan."""
        return inf if self.best is None else max(self.best.cycles, self.ways[self.chosen[0]].estimate)

    def _refused(self) -> tuple[Candidate, frozenset[frozenset[str]]] | None:
        """The most promising candidate, if its division was refused for phases with several operators; with the labels of all
        such phases. None if it has been planned with some schedule length."""
        planned = {one.phases for one in self.considered.values() if one.cycles is not None}
        ways = (
            one for _, one in sorted(enumerate(self.ways), key=lambda way: way[1].estimate) if one.labels not in planned
        )
        one = next(ways, None)
        if one is None or one.estimate >= self.promised:
            return None
        chosen = one.variant.analysis.chosen
        labels = {
            frozenset(key.labels)
            for key in self.memo.refused
            if len(key.labels) > 1 and key.chosen == tuple(map(chosen.get, key.labels))
        }
        of_it = any(frozenset(phase) in labels for phase in one.labels)
        return (one, frozenset(labels)) if of_it else None

    def _drafted(self, left: deque[tuple[int, Candidate]], fallbacks: bool) -> list[CandidateDraft]:
        """Take candidates from ``left`` and draft them: as many as may still be planned. Candidates too slow to be
        worth routing are noted; where that depends on drafts not yet planned they stay in ``left``."""
        found: list[CandidateDraft] = []
        later: list[tuple[int, Candidate]] = []
        while left:
            number, one = left.popleft()
            if found and self.best is None and one.estimate > HOPELESS * min(draft.promise for draft in found):
                # Whether it is hopeless shows when the drafts found so far are planned.
                later.append((number, one))
                continue
            others = bool(found) or self.best is not None
            # A single phase for everything takes long to route: only if its estimate is below the best plan's cycles.
            most = HOPELESS * self.rough if self.best is None or not one.whole else self.best.cycles
            hopeless = one.estimate > most
            wait = one.whole and self.best is None
            full = self.planned + len(found) + len(later) >= self.most
            if others and (wait or hopeless or full or behind(one, self.tried)):
                if self.best is None:
                    left.appendleft((number, one))
                    break
                why = "promises too little" if hopeless else "not routed: there were better ones"
                self._note(number, None, why, again=False)
                continue
            if one.estimate == inf and not fallbacks and len(one.structure.phases) > 1:
                self._note(number, None, "a phase has too much in it")
                continue
            drafted = self.draft(number, self.options.seed, fallbacks=fallbacks)
            if drafted is not None:
                found.append(drafted)
        left.extendleft(reversed(later))
        return found

    def _plan_all(self, drafts: Sequence[CandidateDraft]) -> None:
        """Plan drafts, the most promising first. A plan that turned out far slower than what comes next promises is played last,
        if it need be played at all."""
        later: list[tuple[CandidateDraft, Plan]] = []
        for number, draft in enumerate(drafts):
            if self.best is not None and behind(self.ways[draft.number], self.tried):
                self._note(draft.number, None, "not routed: there were better ones")
                continue
            plan = self.routed(draft, self.limit())
            if plan is not None and any(plan.cycles > ROUGH * one.promise for one in drafts[number + 1 : number + 2]):
                later.append((draft, plan))
            elif plan is not None:
                self.play(draft, plan)
        for draft, plan in later:
            if plan.cycles < self.limit():
                self.play(draft, plan)
            else:
                self._give_up(draft)

    def _give_up(self, draft: CandidateDraft) -> None:
        """Note a draft that is not played for the sum of its phases."""
        one = self.ways[draft.number]
        if is_little(one):
            known = self.unplayed.get(one.labels, (inf, draft.number))
            self.unplayed[one.labels] = min(known, (draft.promise, draft.number))
        self._tell(draft.number, None)

    def remedy(self) -> None:
        """Plan candidates near those that were refused until one can be: without the phase for which they were. A candidate that
        is refused for another phase is gone on from; so each phase that has no room is taken apart, or done in another way."""
        left = REMEDIED * self.effort
        for root in range(len(self.ways)):
            at, nearby = [root], [self._remedied(root)]
            while nearby and self.best is None:
                one = next(nearby[-1], None)
                if one is None:
                    at.pop()
                    nearby.pop()
                    continue
                left -= size_of(one, besides=self.ways[at[-1]])
                if left < 0:
                    return
                number = self.add(one)
                draft = self.draft(number, self.options.seed, fallbacks=False)
                plan = None if draft is None else self.routed(draft, inf)
                if draft is not None and plan is not None:
                    self.play(draft, plan)
                at.append(number)
                nearby.append(self._remedied(number))

    def _remedied(self, number: int) -> Iterator[Candidate]:
        """Candidates that were not planned before, without the phase for which the candidate of this ``number`` was refused."""
        one = self.ways[number]
        context = self.context(one, self.options.seed, fallbacks=False)
        for index in range(len(one.structure.phases)):
            if context.refused_key(index) in self.memo.refused:
                for several in self.candidates.remedied(one, index):
                    yield from (other for other in several if (other.key, other.period) not in self.seen)
                return

    def draft(self, number: int, seed: int, *, fallbacks: bool, limit: float = inf) -> CandidateDraft | None:
        """Route the phases of a candidate, each by itself; None if a phase cannot be routed, or they take ``limit`` cycles."""
        one = self.ways[number]
        number_of = len(one.structure.phases)
        phases = "1 phase" if number_of == 1 else f"{number_of} phases"
        self.progress(f"planning {self.name} with {phases} of {one.period} slots ({one.estimate:.0f} cycles)")
        context = self.context(one, seed, fallbacks=fallbacks)
        try:
            least = draft_candidate(context, limit)
        except PointsmanError as error:
            self._refuse(number, context, error)
            return None
        if least is None:
            self._tell(number, None)
            return None
        return CandidateDraft(number, context, least, one.estimate if one.structure.through else sum(least))

    def routed(self, draft: CandidateDraft, limit: float) -> Plan | None:
        """The plan of a candidate, not played; None if it is refused, or its phases add up to ``limit`` cycles."""
        try:
            plan = plan_candidate(draft.context, self.name, limit, draft.least)
            if plan is None:
                self._give_up(draft)
            else:
                refuse_overfull_plan(plan)
                passages(plan)  # raises if a node would not know its way; not every plan is played
        except PointsmanError as error:
            self._refuse(draft.number, draft.context, error)
            return None
        return plan

    def play(self, draft: CandidateDraft, rough: Plan, most: float = CLOSE) -> float | None:
        """Play a plan, and keep it if it is the quickest. Gives its cycles; None if it is refused. ``most``: factor on the cycles
        of the best plan beyond which it is played no further."""
        try:
            plan = timed(rough, most=inf if self.best is None else most * self.best.cycles)
        except PointsmanError as error:
            self._refuse(draft.number, draft.context, error)
            return None
        self._tell(draft.number, plan.cycles)
        one = self.ways[draft.number]
        if is_little(one):
            known = self.divided.get(one.labels)
            if known is None or plan.cycles < known.plan.cycles:
                self.divided[one.labels] = Centre(plan, draft.number)
            usual = self.usual.get(one.key)
            if draft.number not in self.short and (usual is None or plan.cycles < usual[0].plan.cycles):
                self.usual[one.key] = Centre(plan, draft.number), draft.context.seed
        if self.best is None or plan.cycles < self.best.cycles:
            self.best, self.rough, self.chosen = plan, rough.cycles, (draft.number, draft.context.seed)
            if draft.context.fallbacks:
                self.with_messages.add(draft.number)
            for other, way in self.considered.items():
                if way.cycles is not None:
                    self.considered[other] = replace(way, outcome="chosen" if other == draft.number else "slower")
        return plan.cycles

    def _tell(self, number: int, cycles: float | None) -> None:
        """Note how a candidate went; ``cycles``: of its plan, None if it was given up."""
        one = self.ways[number]
        self.planned += 1
        self.seen.add((one.key, one.period))
        if number not in self.with_messages:  # messages of a phase that has no room tell nothing of other lengths
            tried = self.tried.setdefault(one.key, {})
            tried[one.period] = min(tried.get(one.period, inf), inf if cycles is None else cycles)
        self._note(number, cycles, "slower" if self.best is not None else "chosen")

    def _note(self, number: int, cycles: float | None, outcome: str, *, again: bool = True) -> None:
        one, before = self.ways[number], self.considered.get(number)
        if before is not None and before.cycles is not None and (cycles is None or before.cycles <= cycles):
            return  # this candidate was planned before, with other routes, and was at least as quick
        if again or before is None:
            self.considered[number] = Considered(one.labels, one.period, one.estimate, cycles, outcome)

    def _refuse(self, number: int, context: PlanContext, error: PointsmanError) -> None:
        self.failures.setdefault((context.fallbacks, number), error.without_frames())
        if self.options.refused is not None:
            self.options.refused(error.message)
        self._note(number, None, f"refused: {error.message}")

    def limit(self) -> float:
        """Cycles, as the sum of its phases, at which a plan can hardly be quicker than the best plan any more."""
        if self.best is None:
            return inf
        cycles = self.best.cycles
        close = max(cycles, self.rough) < TRUSTED * min(cycles, self.rough)
        return (CLOSE if close else ROUGH) * max(cycles, self.rough)

    def context(self, one: Candidate, seed: int, *, fallbacks: bool) -> PlanContext:
        return PlanContext(
            analysis=one.variant.analysis,
            replaced=one.variant.replaced,
            structure=one.structure,
            period=one.period,
            seed=seed,
            express=self.options.express,
            effort=self.effort,
            asked=self.candidates.period is not None,
            fallbacks=fallbacks,
            closing=one.closing,
            memo=self.memo,
            work=self.options.work or Work(),
        )

    def add(self, one: Candidate) -> int:
        """The number of a candidate near the best plan."""
        self.seen.add((one.key, one.period))
        self.ways.append(one)
        number = len(self.ways) - 1
        if self.chosen[0] in self.with_messages:
            self.with_messages.add(number)
        return number

    def is_tried(self, one: Candidate) -> bool:
        """Has a candidate been planned, or do other schedule lengths tell that it is slower?"""
        return (one.key, one.period) in self.seen or behind(one, self.tried) or self._is_far(one)

    def _is_far(self, one: Candidate) -> bool:
        """Was a candidate FAR slower than the best plan with each schedule length with which it was played?"""
        played = [cycles for cycles in self.tried.get(one.key, {}).values() if cycles < inf]
        return self.best is not None and min(played, default=0.0) > FAR * self.best.cycles

    def cannot_be_planned(self, one: Candidate) -> bool:
        """Has a candidate a phase that could not be planned in another one, nor can be in this?"""
        if not self.memo.refused:
            return False
        try:
            refuse_again(self.context(one, self.options.seed, fallbacks=self.chosen[0] in self.with_messages))
        except PlanError:
            return True
        return False


def size_of(one: Candidate, besides: Candidate | None = None) -> int:
    """Nodes of the phases of a candidate, more where a phase has more than SEVERAL operators and takes longer to plan; only of
    phases that ``besides``, with the same schedule length, does not have."""
    known = set()
    if besides is not None and besides.period == one.period:
        known = {(phase.operators, phase.value) for phase in besides.structure.phases}
    return sum(
        len(phase.nodes) * max(SEVERAL, len(phase.operators)) // SEVERAL
        for phase in one.structure.phases
        if (phase.operators, phase.value) not in known
    )


def is_little(one: Candidate) -> bool:
    """Have the phases of a candidate LITTLE nodes at most?"""
    return size_of(one) <= LITTLE


def behind(one: Candidate, tried: Tried) -> bool:
    """Would a candidate's schedule length go further in a direction in which cycles already rose? If a plan with 32 slots was
    clearly slower than with 16, 64 slots are "behind" 32: cycles over schedule length are taken to have a single minimum among
    the usual lengths, but for what the router's luck makes of them."""
    cycles = {length: cycles for length, cycles in tried.get(one.key, {}).items() if length >= PERIODS[0]}
    for worse, much in cycles.items():
        if any(
            CLEARLY * less < much and (other < worse < one.period or one.period < worse < other)
            for other, less in cycles.items()
        ):
            return True
    return False
