"""Program -> Plan: the most promising candidates are planned, the quickest is kept.

Takes a Program and the shape of a node. Leaves alone: which divisions and schedule lengths are candidates
(``candidates``), how a candidate is routed and closed (``phases``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.garbage import seldom_collected
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation, Loading
from pointsman.program.program import Group, Program

from .analysis import ProgramAnalysis
from .candidates.candidates import Candidate, Candidates, find_candidates
from .context import PlanContext, PlanMemo
from .cost.schedule_lengths import PERIODS, other_lengths
from .errors import MembershipError, PlanError
from .membership.passages import passages
from .memory.capacity import refuse_overfull_plan
from .phases.candidate import draft_candidate, plan_candidate, refuse_again
from .phases.closing import cycles_of_barrier
from .plan import Considered, Plan
from .structure.structure import Structure
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
TRUSTED = 1.25
"""Factor between these two measures of the best plan up to which they agree."""
TINY = 16
"""Nodes of phases up to which estimates do not rule out another way of an operator: it takes no time to try it."""
POLISH = 1200
"""Streams, times the effort, that may be routed again to look for a quicker plan near the best plan."""
PLAYED = 1200
"""Nodes of phases, times the effort, that may be planned to try other ways of operators near the best plan."""
MANY = 4500
"""As PLAYED, of ways that alone need more than that, as a schedule for each node of a mesh of 6×6 or 8×8 does: a few, once, and
only of programs whose plan has at most two phases of LITTLE nodes. Longer ones would take minutes."""
CLEARLY = 1.03
"""Factor between the cycles of two schedule lengths from which on one is taken to be the better."""
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
REMEDIED = 1200
"""Nodes of phases, times the effort, that may be planned instead of those for which all candidates were refused."""
SEEDS = 2
"""Other seeds of the router that are tried on the best candidate."""
SECONDS = 2
"""Small candidates close behind the best one on which they are tried, too."""
ENDS = 0.1
"""Share of a plan's cycles that barriers take between phases which are left several times, from which on they are tried in other
ways …"""
ENDED = 3
"""… with so many schedule lengths each …"""
CLOSINGS = 1200
"""… and as POLISH, of these."""
USUAL = 3
"""Quickest small candidates with schedules of usual lengths, of which shorter ones are tried whatever the best plan is then."""


@dataclass(frozen=True)
class PlanOptions:
    """Options of the planner that are seldom changed.

    Parameters
    ----------
    seed : int
        Seed of the router's random choices. With the same seed a program gets the same plan.
    express : int
        Channels for online messages: 0: those with which they are expected to be quickest (``routing.online.overlays``), 1: to
        all neighbours, k: to all neighbours and express channels of k hops (Metcalf 1997, §4.2.3).
    most_phases : int or None
        Most phases of a node; None: any number.
    first : bool
        Keep the first plan that is found, look for no quicker one, and try no longer schedules than usual.
    progress : callable or None
        Called with a line of text before each attempt.
    refused : callable or None
        Called with the reason of each candidate that is refused.
    work : Work or None
        How much may be tried; None: as much as is needed.
    """

    seed: int = 0
    express: int = 0
    most_phases: int | None = None
    first: bool = False
    progress: Callable[[str], None] | None = None
    refused: Callable[[str], None] | None = None
    work: Work | None = None


@seldom_collected
def make_plan(
    program: Program,
    shape: NodeShape,
    *,
    name: str,
    period: int | None = None,
    implementations: Sequence[Implementation] = IMPLEMENTATIONS,
    structures: Sequence[Structure] | None = None,
    effort: float = 1.0,
    options: PlanOptions = PlanOptions(),
) -> Plan:
    """Plan ``program`` for nodes of ``shape``.

    Parameters
    ----------
    period : int or None
        Schedule length in slots; None: the length of ``schedule_lengths.PERIODS`` that fits the schedule memory and
        whose plan takes the fewest predicted cycles, or one that suits the operators; if there is no plan with any of them, the
        shortest other one that will do.
    implementations : sequence of Implementation
        Implementations to choose from; `pointsman.operators.api.registry` finds others than the built-in ones.
    structures : sequence of Structure or None
        Divisions into phases to choose from; None: those of ``candidates.divisions``.
    effort : float
        Factor on the work: search nodes, candidates that are routed, and work inside the router; 1.0 is usual.

    Raises
    ------
    PointsmanError
        With the first reason met, if no plan is found. `pointsman.plan.fitting.fitted_plan` says what hardware would do.
    """
    if program.topology.ports > shape.neighbours:
        raise PlanError(f"the network needs {program.topology.ports} ports a node, the node has {shape.neighbours}")
    asked = period if period is not None else program.schedlen
    if asked is not None and asked < 2:
        raise PlanError(f"the schedule length must be at least 2, not {asked}")
    analysis = ProgramAnalysis(program, Context(program.topology, shape), tuple(implementations))

    def attempted(length: int | None, analysis: ProgramAnalysis = analysis) -> _Attempts:
        candidates = find_candidates(
            analysis, period=length, effort=effort, structures=structures, most_phases=options.most_phases
        )
        attempts = _Attempts(name, candidates, effort, options)
        attempts.run()
        return attempts

    first = attempts = attempted(asked)
    if asked is None and not options.first and first.best is None and first.crowded:
        for length in other_lengths(shape, {way.period for way in first.ways}):
            attempts = attempted(length)
            if attempts.best is not None:
                break
    refused: tuple[Considered, ...] = ()
    if structures is None and attempts.best is None and first.secret and _has_phases(program):
        # What comes next in the same phase needs no node to know when it begins.
        refused = first.decisions
        attempts = attempted(asked, replace(analysis, sealed=False))
    if (
        structures is None
        and attempts.best is None
        and not any(one.loading is Loading.ONLINE for one in implementations)
    ):
        # With messages, a phase for which nothing else has room was planned with these, or not even these have room.
        attempts = first
        attempts.remedy()
    if structures is None and not options.first:
        attempts.polish()
    best = attempts.best
    if best is None:
        raise first.failure or PlanError(f"{name} cannot be planned: too many streams for the nodes")
    return replace(best, considered=(*refused, *attempts.decisions), gap=attempts.candidates.gap)


def _has_phases(program: Program) -> bool:
    """Does the program say of any operators that they are to share a phase?"""
    return any(isinstance(part, Group) and part.kind == "phase" for part, _ in program.root.walk())


@dataclass(frozen=True, eq=False)
class _CandidateDraft:
    """A candidate whose phases have been routed, each without regard to the others."""

    number: int
    """Index of the candidate in ``_Attempts.ways``."""
    context: PlanContext
    least: tuple[float, ...]
    """Cycles that each phase takes at least, about; empty where operators continue through phases."""
    promise: float
    """Cycles that the program is expected to take."""


@dataclass(frozen=True, eq=False)
class _Centre:
    """A plan near which quicker ones are looked for, with the number of its candidate."""

    plan: Plan
    number: int


class _Attempts:
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
        self.left = PLAYED * effort
        """Nodes of phases that may still be planned to try other ways of operators."""
        self.more = MANY * effort
        """As ``left``, of ways that need more than PLAYED."""
        self.aside = ASIDE * effort
        """As ``left``, of several operators done in other ways at once."""
        self.beside = BESIDE * effort
        """As ``left``, of candidates near the quickest plans of other divisions."""
        self.closings = CLOSINGS * effort
        """Streams that may still be routed again to end phases in other ways."""
        self.divided: dict[tuple[tuple[str, ...], ...], _Centre] = {}
        """By division, of little candidates: the quickest plan."""
        self.usual: dict[Hashable, tuple[_Centre, int]] = {}
        """By key, of little candidates with schedules of usual lengths: the quickest plan, and the seed of its router."""
        self.unplayed: dict[tuple[tuple[str, ...], ...], tuple[float, int]] = {}
        """By division, of little candidates that were given up for the sum of their phases: the least promise, and its number."""
        self.other_ways: set[int] = set()
        """Numbers of candidates in which an operator of a best plan is done in another way."""
        self.short: set[int] = set()
        """Numbers of candidates with schedules shorter than usual, tried near the best plan."""
        self.with_messages: set[int] = set()
        """Numbers of candidates in which processors may pass on messages where nothing else can be done: those for which no plan
        was found without, those with schedules that are too short for a phase, and what is tried near such a plan."""
        self.seen_with_messages: set[tuple[Hashable, int]] = set()
        """Keys and schedule lengths of these."""
        self.seeds: set[tuple[int, int]] = set()
        """Numbers of candidates and seeds that were tried near the best plan."""
        self.exceeded: dict[bool, list[float]] = {True: [], False: []}
        """Of candidates played near the best plan, those that do an operator in another way (True) and other divisions: how far
        cycles, over those of the best plan, exceeded what the estimates said."""
        self._failures: dict[tuple[bool, int], PointsmanError] = {}

    @property
    def failure(self) -> PointsmanError | None:
        """Why the first refused candidate was refused; None if none was."""
        refused = self.candidates.refused
        return refused[0] if refused else self._failures[min(self._failures)] if self._failures else None

    @property
    def crowded(self) -> bool:
        """Was a candidate refused for another reason than that a node could not tell when to go through a phase?"""
        return any(not isinstance(failure, MembershipError) for failure in self._failures.values())

    @property
    def secret(self) -> bool:
        """Was a candidate refused because a node could not tell when to go through a phase?"""
        return any(isinstance(failure, MembershipError) for failure in self._failures.values())

    @property
    def decisions(self) -> tuple[Considered, ...]:
        """What was considered, the most promising first."""
        return tuple(self.considered[number] for number in sorted(self.considered))

    def run(self) -> None:
        """Find the quickest plan, if there is any."""
        # Processors pass on messages (``fallbacks``) only if no plan is found without; if the operators need more VFSMs than
        # the nodes have, at once.
        for fallbacks in (False, True) if self.candidates.fits else (True,):
            left = deque(enumerate(self.ways))
            while left:
                drafted = self._drafted(left, fallbacks)
                self._plan_all(sorted(drafted, key=lambda one: (one.promise, one.number)))
            if self.best is not None:
                break

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
                left -= _size(one, besides=self.ways[at[-1]])
                if left < 0:
                    return
                number = self._added(one)
                draft = self._draft(number, self.options.seed, fallbacks=False)
                plan = None if draft is None else self._routed(draft, inf)
                if draft is not None and plan is not None:
                    self._play(draft, plan)
                at.append(number)
                nearby.append(self._remedied(number))

    def _remedied(self, number: int) -> Iterator[Candidate]:
        """Candidates that were not planned before, without the phase for which the candidate of this ``number`` was refused."""
        one = self.ways[number]
        context = self._context(one, self.options.seed, fallbacks=False)
        for index in range(len(one.structure.phases)):
            if context.refused_key(index) in self.memo.refused:
                for several in self.candidates.remedied(one, index):
                    yield from (other for other in several if (other.key, other.period) not in self.seen)
                return

    def _plan_all(self, drafts: Sequence[_CandidateDraft]) -> None:
        """Plan drafts, the most promising first. A plan that turned out far slower than what comes next promises is played last,
        if it need be played at all."""
        later: list[tuple[_CandidateDraft, Plan]] = []
        for number, draft in enumerate(drafts):
            if self.best is not None and _behind(self.ways[draft.number], self.tried):
                self._note(draft.number, None, "not routed: there were better ones")
                continue
            plan = self._routed(draft, self._limit())
            if plan is not None and any(plan.cycles > ROUGH * one.promise for one in drafts[number + 1 : number + 2]):
                later.append((draft, plan))
            elif plan is not None:
                self._play(draft, plan)
        for draft, plan in later:
            if plan.cycles < self._limit():
                self._play(draft, plan)
            else:
                self._give_up(draft)

    def _give_up(self, draft: _CandidateDraft) -> None:
        """Note a draft that is not played for the sum of its phases."""
        one = self.ways[draft.number]
        if _is_little(one):
            known = self.unplayed.get(one.labels, (inf, draft.number))
            self.unplayed[one.labels] = min(known, (draft.promise, draft.number))
        self._tell(draft.number, None)

    def polish(self) -> None:
        """Look for a quicker plan near the best plan, which too rough an estimate may have ruled out: operators done in another
        way, divisions with one phase end more or less, other schedule lengths, then other routes, then schedules shorter than
        usual. A quicker plan becomes the new centre. At last several operators are done in another way at once, also in other
        divisions, and others of these are centres, too."""
        left = self._polished(POLISH * self.effort)
        at: Plan | None = None
        while self.best is not at:
            at = self.best
            for number, beside in chain(((number, False) for number in self._elsewhere()), self._near_others()):
                self._try(number, self.options.seed, beside=beside)
                if self.best is not at:
                    left = self._polished(left)
                    break

    def _polished(self, left: float) -> float:
        """Look for a quicker plan near the best plan, routing at most ``left`` streams again; how many are left."""
        moves: Iterator[tuple[int, int, int]] = iter(())
        at: Plan | None = None
        while self.best is not None:
            if self.best is not at:
                at, moves = self.best, self._near()
            number, seed, size = next(moves, (-1, 0, 0))
            if number < 0 or size > left:
                break
            left -= size
            self._try(number, seed)
        return left

    def _near(self) -> Iterator[tuple[int, int, int]]:
        """Numbers of candidates near the best plan that have not been tried, each with a seed of the router, and the streams that
        count against POLISH. Shorter schedules than usual are tried last, and near such a plan only others of them, and seeds."""
        assert self.best is not None
        number, seed = self.chosen
        shorter = number in self.short
        # Operators that share streams are work, too.
        size = sum(max(len(phase.routed.streams), len(phase.operators)) for phase in self.best.phases)
        if not shorter:
            for other in self._refused_lengths(number):
                yield other, seed, size
            for other, nodes in self._otherwise(_Centre(self.best, number)):
                self._pay(nodes)
                yield other, seed, 0
        for one in () if shorter else self.candidates.near(self.ways[number]):
            if self._may_win(one, False, number) and not self._is_known(one):
                yield self._added(one), seed, size
        for other in self._closed_otherwise(number):
            if size <= self.closings:
                self.closings -= size
                yield other, seed, 0
        lengths = [
            one
            for one in self.candidates.shorter(self.ways[number], self.best)
            if (one.key, one.period) not in self.seen
        ]
        if shorter:
            yield from ((self._shortened(one), seed, size) for one in lengths)
        for candidate in (number, *self._close_behind(number)):
            for other in range(self.options.seed + 1, self.options.seed + 1 + SEEDS):
                if (candidate, other) not in self.seeds:
                    yield candidate, other, size
        if not shorter:
            yield from ((self._shortened(one), seed, size) for one in lengths)
        # What suits schedules of usual lengths best need not suit shorter ones.
        for centre, luck in sorted(self.usual.values(), key=lambda one: one[0].plan.cycles)[:USUAL]:
            streams = sum(len(phase.routed.streams) for phase in centre.plan.phases)
            yield from ((other, luck, streams) for other, _ in self._shorter(centre))

    def _closed_otherwise(self, number: int) -> Iterator[int]:
        """Candidates that differ from that of this ``number``, of the best plan, in how barriers between phases are done."""
        assert self.best is not None
        context = self._context(self.ways[number], self.options.seed, fallbacks=False)
        ends = sum(
            phase.exits * (phase.settle + cycles_of_barrier(context, phase.barrier.operator))
            for phase in self.best.phases
            if phase.barrier is not None and phase.exits > 1
        )
        for several in self.candidates.closed_otherwise(self.ways[number]) if ends >= ENDS * self.best.cycles else ():
            for one in several[: 1 if number in self.short else ENDED]:
                if not self._is_known(one):
                    yield self._shortened(one) if number in self.short else self._added(one)

    def _refused_lengths(self, number: int) -> Iterator[int]:
        """Candidates that differ from that of this ``number`` in the schedule length, which has no room for some phase:
        processors pass on messages there, and all other phases may be quicker. None near a plan in which they may anyway."""
        for one in () if number in self.with_messages else self.candidates.of_other_lengths(self.ways[number]):
            way = one.key, one.period
            if way in self.seen_with_messages or not self._may_win(one, False, number):
                continue
            if self._cannot_be_planned(one):
                self.seen_with_messages.add(way)
                other = self._added(one)
                self.with_messages.add(other)
                yield other

    def _shortened(self, one: Candidate) -> int:
        """The number of a candidate with a schedule shorter than usual."""
        number = self._added(one)
        self.short.add(number)
        return number

    def _close_behind(self, number: int) -> list[int]:
        """Small candidates done otherwise than that of this ``number`` whose plans are hardly slower, the quickest first: with
        routes of another seed they may be quicker."""
        assert self.best is not None
        found: dict[Hashable, tuple[float, int]] = {}
        for other, considered in self.considered.items():
            one = self.ways[other]
            if considered.cycles is None or considered.cycles > CLOSE * self.best.cycles or not _is_little(one):
                continue
            found[one.key] = min(found.get(one.key, (inf, 0)), (considered.cycles, other))
        found.pop(self.ways[number].key, None)
        return [other for _, other in sorted(found.values())][:SECONDS]

    def _otherwise(self, centre: _Centre) -> Iterator[tuple[int, int]]:
        """Candidates near a plan in which an operator is done in another way, with the nodes of their phases: with the schedule
        length that promises most, and with others if their plan is not far behind, or if they promise more than the plan."""
        for several in self.candidates.otherwise(self.ways[centre.number], centre.plan):
            refused: list[bool] = []
            for one in chain(several, self._longer(several, refused)):
                size = _size(one)
                if size > self._left_for(size):
                    continue
                if self._cannot_be_planned(one):
                    refused.append(True)
                    continue
                if self._is_tried(one) or (size > TINY and not self._may_win(one, True, centre.number)):
                    continue
                if self._is_slow(one, centre):
                    break
                number = self._added(one)
                self.other_ways.add(number)
                yield number, size
                refused.append(self._is_refused(number))

    def _is_refused(self, number: int) -> bool:
        """Was a candidate refused that was tried near the best plan?"""
        return (number in self.with_messages, number) in self._failures

    def _is_slow(self, one: Candidate, centre: _Centre) -> bool:
        """Is a candidate that is large, or promises less than a plan, slower than that plan with other schedule lengths?"""
        slow = min(self.tried.get(one.key, {}).values(), default=0.0) > CLOSE * centre.plan.cycles
        return slow and (not _is_little(one) or one.estimate > centre.plan.cycles)

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

    def _near_others(self) -> Iterator[tuple[int, bool]]:
        """Candidates near the quickest plans of other divisions that are hardly slower than the best: schedules shorter than
        usual, and operators done in another way. A quicker plan of a division becomes its new centre. What suits one division
        need not suit another, and no single change leads from the best plan there. Divisions given up for the sum of their
        phases are played before: the sum counts what is done side by side in a phase as if it were done in turn."""
        assert self.best is not None
        for labels, (_, number) in list(self.unplayed.items()):
            size = _size(self.ways[number])
            if labels not in self.divided and size <= self.beside:
                self.beside -= size
                yield number, True
        most = HARDLY * self.best.cycles
        best = self.ways[self.chosen[0]].labels
        others = [labels for labels, one in self.divided.items() if one.plan.cycles <= most and labels != best]
        for labels in sorted(others, key=lambda labels: self.divided[labels].plan.cycles):
            at: _Centre | None = None
            while self.divided[labels] is not at:
                at = self.divided[labels]
                for number, size in chain(self._shorter(at), self._otherwise(at)):
                    if size > self.beside:
                        continue
                    self.beside -= size
                    yield number, True
                    if self.divided[labels] is not at:
                        break

    def _shorter(self, centre: _Centre) -> Iterator[tuple[int, int]]:
        """Candidates near a plan with schedules shorter than usual, with the nodes of their phases."""
        for one in self.candidates.shorter(self.ways[centre.number], centre.plan):
            if (one.key, one.period) not in self.seen:
                yield self._shortened(one), _size(one)

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
        near which nothing leads back to them: with several operators done in another way at once."""
        assert self.best is not None
        most = self.best.cycles
        for centre in sorted(self.divided.values(), key=lambda one: self.ways[one.number].estimate):
            for one in self.candidates.several_otherwise(self.ways[centre.number]):
                size = _size(one)
                if one.estimate <= most and size <= self.aside and not self._is_known(one):
                    self.aside -= size
                    self.other_ways.add(self._added(one))
                    yield len(self.ways) - 1

    def _is_short(self) -> bool:
        """Has the best plan so few phases that a large way of an operator may be tried?"""
        assert self.best is not None
        return sum(len(phase.nodes) for phase in self.best.phases) <= 2 * LITTLE

    def _is_known(self, one: Candidate) -> bool:
        """Has a candidate been planned, do other schedule lengths tell that it is slower, or others that it cannot be planned?"""
        return self._is_tried(one) or self._cannot_be_planned(one)

    def _is_tried(self, one: Candidate) -> bool:
        """Has a candidate been planned, or do other schedule lengths tell that it is slower?"""
        return (one.key, one.period) in self.seen or _behind(one, self.tried)

    def _cannot_be_planned(self, one: Candidate) -> bool:
        """Has a candidate a phase that could not be planned in another one, nor can be in this?"""
        if not self.memo.refused:
            return False
        try:
            refuse_again(self._context(one, self.options.seed, fallbacks=self.chosen[0] in self.with_messages))
        except PlanError:
            return True
        return False

    def _added(self, one: Candidate) -> int:
        """The number of a candidate near the best plan."""
        self.seen.add((one.key, one.period))
        self.ways.append(one)
        number = len(self.ways) - 1
        if self.chosen[0] in self.with_messages:
            self.with_messages.add(number)
        return number

    def _try(self, number: int, seed: int, *, beside: bool = False) -> None:
        """Plan a candidate with this seed of the router. ``beside``: it is of another division than the best plan."""
        self.seeds.add((number, seed))
        closed = self.ways[number].closing != self.ways[self.chosen[0]].closing
        otherwise = (
            beside or closed or number in self.other_ways or (number != self.chosen[0] and seed != self.options.seed)
        )
        # Little ones are played also if the sum of their phases says that they are slower.
        limit = inf if otherwise and _is_little(self.ways[number]) else self._limit()
        draft = self._draft(number, seed, fallbacks=number in self.with_messages, limit=limit)
        plan = None if draft is None else self._routed(draft, limit)
        if draft is None or plan is None:
            return
        assert self.best is not None
        before, promise = self.best.cycles, self._promise(self.ways[number], self.chosen[0])
        cycles = self._play(draft, plan, HARDLY if beside else CLOSE)
        near = not beside and not closed and number not in self.short
        if cycles is not None and seed == self.options.seed and near and 0 < promise < inf:
            self.exceeded[number in self.other_ways].append(cycles / before / promise)

    def _drafted(self, left: deque[tuple[int, Candidate]], fallbacks: bool) -> list[_CandidateDraft]:
        """Take candidates from ``left`` and draft them: as many as may still be planned. Candidates too slow to be
        worth routing are noted; where that depends on drafts not yet planned they stay in ``left``."""
        found: list[_CandidateDraft] = []
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
            if others and (wait or hopeless or full or _behind(one, self.tried)):
                if self.best is None:
                    left.appendleft((number, one))
                    break
                why = "promises too little" if hopeless else "not routed: there were better ones"
                self._note(number, None, why, again=False)
                continue
            if one.estimate == inf and not fallbacks and len(one.structure.phases) > 1:
                self._note(number, None, "a phase has too much in it")
                continue
            drafted = self._draft(number, self.options.seed, fallbacks=fallbacks)
            if drafted is not None:
                found.append(drafted)
        left.extendleft(reversed(later))
        return found

    def _draft(self, number: int, seed: int, *, fallbacks: bool, limit: float = inf) -> _CandidateDraft | None:
        """Route the phases of a candidate, each by itself; None if a phase cannot be routed, or they take ``limit`` cycles."""
        one = self.ways[number]
        number_of = len(one.structure.phases)
        phases = "1 phase" if number_of == 1 else f"{number_of} phases"
        self.progress(f"planning {self.name} with {phases} of {one.period} slots ({one.estimate:.0f} cycles)")
        context = self._context(one, seed, fallbacks=fallbacks)
        try:
            least = draft_candidate(context, limit)
        except PointsmanError as error:
            self._refuse(number, context, error)
            return None
        if least is None:
            self._tell(number, None)
            return None
        return _CandidateDraft(number, context, least, one.estimate if one.structure.through else sum(least))

    def _context(self, one: Candidate, seed: int, *, fallbacks: bool) -> PlanContext:
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

    def _routed(self, draft: _CandidateDraft, limit: float) -> Plan | None:
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

    def _play(self, draft: _CandidateDraft, rough: Plan, most: float = CLOSE) -> float | None:
        """Play a plan, and keep it if it is the quickest. Gives its cycles; None if it is refused. ``most``: factor on the cycles
        of the best plan beyond which it is played no further."""
        try:
            plan = timed(rough, most=inf if self.best is None else most * self.best.cycles)
        except PointsmanError as error:
            self._refuse(draft.number, draft.context, error)
            return None
        self._tell(draft.number, plan.cycles)
        one = self.ways[draft.number]
        if _is_little(one):
            known = self.divided.get(one.labels)
            if known is None or plan.cycles < known.plan.cycles:
                self.divided[one.labels] = _Centre(plan, draft.number)
            usual = self.usual.get(one.key)
            if draft.number not in self.short and (usual is None or plan.cycles < usual[0].plan.cycles):
                self.usual[one.key] = _Centre(plan, draft.number), draft.context.seed
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

    def _limit(self) -> float:
        """Cycles, as the sum of its phases, at which a plan can hardly be quicker than the best plan any more."""
        if self.best is None:
            return inf
        cycles = self.best.cycles
        close = max(cycles, self.rough) < TRUSTED * min(cycles, self.rough)
        return (CLOSE if close else ROUGH) * max(cycles, self.rough)

    def _refuse(self, number: int, context: PlanContext, error: PointsmanError) -> None:
        self._failures.setdefault((context.fallbacks, number), error)
        if self.options.refused is not None:
            self.options.refused(error.message)
        self._note(number, None, f"refused: {error.message}")

    def _note(self, number: int, cycles: float | None, outcome: str, *, again: bool = True) -> None:
        one, before = self.ways[number], self.considered.get(number)
        if before is not None and before.cycles is not None and (cycles is None or before.cycles <= cycles):
            return  # this candidate was planned before, with other routes, and was at least as quick
        if again or before is None:
            self.considered[number] = Considered(one.labels, one.period, one.estimate, cycles, outcome)


Tried = dict[Hashable, dict[int, float]]
"""By key of a candidate and schedule length, the fewest cycles that a plan took; infinite if planning was given up."""


def _size(one: Candidate, besides: Candidate | None = None) -> int:
    """Nodes of the phases of a candidate; only of those that ``besides``, with the same schedule length, does not have."""
    known = set()
    if besides is not None and besides.period == one.period:
        known = {(phase.operators, phase.value) for phase in besides.structure.phases}
    return sum(len(phase.nodes) for phase in one.structure.phases if (phase.operators, phase.value) not in known)


def _is_little(one: Candidate) -> bool:
    """Have the phases of a candidate LITTLE nodes at most?"""
    return _size(one) <= LITTLE


def _behind(one: Candidate, tried: Tried) -> bool:
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
