"""Program -> candidates for a plan, the most promising first, each with an estimate of its cycles.

A candidate is a variant of the program (``replacements``), its division into phases (``divisions``) and a schedule
length. Nothing is routed here.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from pointsman.errors import PointsmanError
from pointsman.operators.api.loading import Loading
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.cost.cost_model import CostModel
from pointsman.plan.cost.critical_path import critical_path_cycles
from pointsman.plan.cost.schedule_lengths import (
    PERIODS,
    longest,
    refuse_many_phases,
    schedule_lengths,
    shorter_lengths,
)
from pointsman.plan.errors import PlanError
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import Structure
from pointsman.plan.termination.closing_barrier import CLOSING
from pointsman.program.program import Operator

from .alternatives import (
    Alternative,
    Played,
    all_by_messages,
    alternatives,
    by_messages,
    by_messages_beside,
    by_messages_together,
    by_values,
    changed,
    without_meeting,
)
from .divisions import alone, costs_of, divisions, neighbours, searched
from .remedies import remedies
from .replacements import Variant, variants
from .value_schedules import with_schedules


@dataclass(frozen=True)
class Candidate:
    """A way to plan a program."""

    variant: Variant
    structure: Structure
    period: int
    estimate: float
    """Cycles of the whole program, estimated before anything is routed."""
    whole: bool
    """Is everything in one phase although the search found divisions that it estimates to be quicker? Such a candidate
    takes longest to route, so it comes last."""
    closing: int = 0
    """`PlanContext.closing`."""

    @property
    def key(self) -> Hashable:
        """The same for candidates that differ in schedule length and estimate only."""
        return self.labels, tuple(sorted(self.variant.analysis.chosen.items())), self.closing

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """By phase, the labels of its operators, those that continue through it included."""
        through = self.structure.through
        return tuple(
            (
                *(one.operator.label for one in through if index in one.phases),
                *(operator.label for operator in phase.operators),
            )
            for index, phase in enumerate(self.structure.phases)
        )


@dataclass(frozen=True)
class _Priced:
    """A variant of the program, and the model that estimates the cycles of its phases."""

    variant: Variant
    costs: CostModel

    def ways(
        self, structure: Structure, lengths: Iterable[int], *, whole: bool = False, closing: int = 0
    ) -> Iterator[Candidate]:
        """Candidates of one division, one for each schedule length in ``lengths``, in slots."""
        chosen = {o.label for phase in structure.phases if phase.value is not None for o in phase.operators}
        prices = self.costs
        if chosen:
            prices = costs_of(self.variant.analysis, period=self.costs.period, by_value=chosen)
        for n in lengths:
            at = prices.at(n)
            if structure.threads is None:
                estimate = at.of(_apart_from_values(structure))
            else:
                estimate = critical_path_cycles(structure, at.phase)
            estimate += sum(at.alone(one.operator) for one in structure.through)
            yield Candidate(self.variant, structure, n, estimate, whole, closing)


@dataclass(frozen=True)
class Candidates:
    """All candidates of a program. ``gap``: share of the searches' estimates, from 0 to 1, by which a better division
    could still be quicker. ``refused``: errors of variants and divisions that cannot be planned."""

    ways: tuple[Candidate, ...]
    gap: float
    refused: tuple[PointsmanError, ...]
    fits: bool
    """Do the operators need no more VFSMs than the nodes have, by a lower bound? Otherwise processors must pass on messages."""
    analysis: ProgramAnalysis
    """Of the program as it was written."""
    period: int | None
    """The schedule length that was asked for."""
    most_phases: int | None
    priced: dict[int, _Priced] = field(default_factory=dict)
    """By ``id`` of a variant."""

    def without(self, one: Candidate, refused: Collection[frozenset[str]], effort: float) -> list[Candidate]:
        """Candidates of the divisions that the search finds for the variant of ``one`` if no phase has all operators of one of
        the sets ``refused``, given by their labels; with all schedule lengths, the most promising first."""
        priced, analysis = self._priced(one.variant), one.variant.analysis
        found = searched(analysis, priced.costs, effort=effort, most_phases=self.most_phases, refused=refused)
        ways: list[Candidate] = []
        for structure in with_schedules(divisions(analysis, found), analysis):
            phases = [{operator.label for operator in phase.operators} for phase in structure.phases]
            if not any(labels <= phase for phase in phases for labels in refused):
                ways += self._otherwise(one.variant, structure)
        return sorted((way for way in ways if way.estimate < inf), key=lambda way: way.estimate)

    def near(self, one: Candidate) -> list[Candidate]:
        """Candidates that differ from ``one`` in a single place where a phase ends, with the same schedule length, and
        candidates of the same division with other lengths; the most promising first."""
        priced, analysis = self._priced(one.variant), one.variant.analysis
        shape = analysis.context.shape
        found = self.of_other_lengths(one)
        for other in neighbours(analysis, one.structure):
            try:
                for structure in with_schedules([other], analysis):
                    refuse_many_phases(structure, self.most_phases)
                    lengths = schedule_lengths(structure, shape, one.period)
                    found += priced.ways(structure, lengths, closing=one.closing)
            except PlanError:
                continue
        return sorted(found, key=lambda way: way.estimate)

    def of_other_lengths(self, one: Candidate) -> list[Candidate]:
        """Candidates that differ from ``one`` in the schedule length only, which is a usual one; the most promising first."""
        lengths = _lengths(one.structure, one.variant.analysis, self.period)
        others = (n for n in lengths if n != one.period)
        found = self._priced(one.variant).ways(one.structure, others, closing=one.closing)
        return sorted(found, key=lambda way: way.estimate)

    def closed_otherwise(self, one: Candidate) -> Iterator[list[Candidate]]:
        """Candidates that differ from ``one`` in how phases are closed, for each way a list with the schedule lengths, that of
        ``one`` first."""
        for closing in range(len(CLOSING)):
            if closing != one.closing:
                yield [replace(way, closing=closing) for way in (one, *self.of_other_lengths(one))]

    def shorter(self, one: Candidate, plan: Plan) -> list[Candidate]:
        """Candidates that differ from ``one`` in the schedule length only, which is shorter than usual ones; none where the
        length was asked for, or where processors pass messages on, whose time in them is foretold less well. ``plan``: the plan
        of ``one``."""
        if self.period is not None or any(phase.part is not None for phase in plan.phases):
            return []
        most = longest(one.structure, one.variant.analysis.context.shape)
        routed = [phase.routed for phase in plan.phases]
        lengths = (n for n in shorter_lengths(routed) if n <= most and n != one.period)
        return list(self._priced(one.variant).ways(one.structure, lengths, closing=one.closing))

    def as_played(self, one: Candidate, plan: Plan) -> Candidate | None:
        """The candidate in which all operators are done as in ``plan``, that of ``one``, whatever the schedule length; None if
        the program chooses by values."""
        if any(phase.value is not None for phase in one.structure.phases):
            return None
        ways = {label: way.name for label, way in self._played(one, plan).items()}
        chosen = dict(one.variant.analysis.chosen) | ways
        found = changed(self.analysis, one.variant, one.structure, chosen, one.period)
        if found is None:
            return None
        return next(self._priced(found[0]).ways(found[1], [one.period], closing=one.closing), None)

    def longer(self, one: Candidate) -> list[Candidate]:
        """The candidate with the next longer usual schedule, also if phases then take turns in the schedule memory; none where
        the length was asked for."""
        most = longest(one.structure, one.variant.analysis.context.shape)
        lengths = [n for n in PERIODS if one.period < n <= most] if self.period is None else []
        return list(self._priced(one.variant).ways(one.structure, lengths[:1], closing=one.closing))

    def otherwise(self, one: Candidate, plan: Plan) -> Iterator[list[Candidate]]:
        """Candidates that differ from ``one`` in how a single operator is done, for each way a list with the schedule
        lengths, the most promising first. ``plan``: the plan of ``one``."""
        played = self._played(one, plan)
        for other in alternatives(self.analysis, one.variant, one.structure, played, one.period):
            same = other.label in played and other.name == played[other.label].name
            except_for = one.period if same else None
            several = self._otherwise(other.variant, other.structure, except_for, one.closing)
            if several and several[0].estimate == inf:
                # This way needs too much beside the other operators of the phase.
                several = self._alone(other, one.closing) or several
            if several:
                yield several

    def several_otherwise(self, one: Candidate) -> Iterator[Candidate]:
        """Candidates of the division of ``one`` in which, as far as operators allow, no load function waits for other nodes, or
        those of parallel groups are done by messages, or those with run-time values, or all, with everything in one phase, or
        these have a schedule for each value where this promises most; with all schedule lengths, the most promising first; none
        unless that concerns several operators, or one by messages that shares the phase with others."""
        ways_of_several = (
            without_meeting,
            by_messages,
            by_messages_together,
            all_by_messages,
            by_messages_beside,
            by_values,
        )
        for way in ways_of_several:
            found = way(self.analysis, one.variant, one.structure, one.period)
            ways = [] if found is None else self._otherwise(*found, closing=one.closing)
            # Many phases leave room for few tries, and what is left of the division has been played with this length.
            yield from sorted(ways, key=lambda other: way is by_values and other.period != one.period)

    def remedied(self, one: Candidate, index: int) -> Iterator[list[Candidate]]:
        """Candidates that may do without phase ``index`` of ``one``, which cannot be planned: for each division and way of its
        operators a list with the schedule lengths, that of ``one`` first, also if phases then take turns in the schedule memory;
        then ``one`` with a longer schedule."""
        labels = {operator.label for operator in one.structure.phases[index].operators}
        for variant, structure in remedies(self.analysis, one.variant, one.structure, labels, one.period):
            others = self._otherwise(variant, structure, one.period, one.closing)
            fits = one.period <= longest(structure, variant.analysis.context.shape)
            same = self._priced(variant).ways(structure, [one.period] if fits else [], closing=one.closing)
            yield [*same, *others]
        longer = self.longer(one)
        if longer:
            yield longer

    def _alone(self, other: Alternative, closing: int) -> list[Candidate]:
        """Candidates in which the operator that is done in another way shares no phase; none if that is no other division."""
        analysis = other.variant.analysis
        division = alone(analysis, other.structure, other.label)
        if division is None:
            return []
        try:
            (structure, *_) = with_schedules([division], analysis)
        except PlanError:
            return []
        return self._otherwise(other.variant, structure, closing=closing)

    def _otherwise(
        self, variant: Variant, structure: Structure, except_for: int | None = None, closing: int = 0
    ) -> list[Candidate]:
        """Candidates of a division with all schedule lengths but one, the most promising first; none with too many phases."""
        try:
            refuse_many_phases(structure, self.most_phases)
            lengths = _lengths(structure, variant.analysis, self.period)
        except PlanError:
            return []
        others = (n for n in lengths if n != except_for)
        ways = self._priced(variant).ways(structure, others, closing=closing)
        return sorted(ways, key=lambda way: way.estimate)

    def _played(self, one: Candidate, plan: Plan) -> dict[str, Played]:
        """How each operator is done; operators that share a phase share its cycles in proportion to their estimates."""
        costs = self._priced(one.variant).costs.at(one.period)
        found: dict[str, Played] = {}
        for phase in plan.phases:
            by_streams: dict[tuple[int, ...], list[str]] = {}
            for each in phase.operators:
                by_streams.setdefault(each.streams, []).append(each.operator.label)
            alone = [costs.alone(each.operator) for each in phase.operators]
            for each, estimate in zip(phase.operators, alone, strict=True):
                label = each.operator.label
                before = found[label].cycles if label in found else 0.0
                cycles = phase.cycles * estimate / sum(alone) if sum(alone) else phase.cycles
                same = by_streams[each.streams] if each.streams else [label]
                sharing = tuple([one for one in same if one != label])
                found[label] = Played(each.implementation.name, before + cycles, sharing)
        return found

    def _priced(self, variant: Variant) -> _Priced:
        if id(variant) not in self.priced:
            self.priced[id(variant)] = _Priced(variant, costs_of(variant.analysis, period=self.period or PERIODS[1]))
        return self.priced[id(variant)]


def find_candidates(
    analysis: ProgramAnalysis,
    *,
    period: int | None,
    effort: float,
    structures: Sequence[Structure] | None = None,
    most_phases: int | None = None,
) -> Candidates:
    """All candidates of a program. ``period``: schedule length in slots; None: those of ``PERIODS`` that fit the schedule memory.
    ``structures``: divisions to use; None: those of ``divisions``. ``most_phases``: most phases of a node; None: any number."""
    ways: list[Candidate] = []
    refused: list[PointsmanError] = []
    several: dict[int, _Priced] = {}
    assumed = period or PERIODS[1]
    gap, fits = 0.0, False
    for variant in variants(analysis, period=assumed):
        if structures is not None and variant.replaced:
            # The structures given divide the program as it was written.
            labels = ", ".join(f"'{one.operator.label}'" for one in variant.replaced)
            refused.append(PlanError(f"only replacements can do {labels}, and the phases are given"))
            continue
        costs = costs_of(variant.analysis, period=assumed)
        priced = _Priced(variant, costs)
        several[id(variant)] = priced
        fits = fits or costs.fit(variant.analysis.operators)
        found = searched(variant.analysis, costs, effort=effort, most_phases=most_phases)
        gap = max([gap, *(one.gap for one in found)])
        divided = divisions(variant.analysis, found) if structures is None else structures
        for structure in with_schedules(divided, variant.analysis):
            try:
                refuse_many_phases(structure, most_phases)
                lengths = _lengths(structure, variant.analysis, period)
            except PlanError as error:
                refused.append(error.without_frames())
                continue
            # If operators may continue, a single phase is a candidate like the others.
            whole = len(structure.phases) == 1 and len(divided) > 1 and all(one.ends for one in found)
            whole = whole and not any(one.through for one in divided)
            ways += priced.ways(structure, lengths, whole=whole)
    ways.sort(key=lambda one: (one.whole, one.estimate, one.period))
    first = tuple(_divisions_first(ways))
    return Candidates(first, gap, tuple(refused), fits, analysis, period, most_phases, several)


def _lengths(structure: Structure, analysis: ProgramAnalysis, asked: int | None) -> list[int]:
    """Schedule lengths to try (`schedule_lengths`)."""
    context = analysis.context
    needed = _needed(structure, analysis)
    return schedule_lengths(structure, context.shape, asked, needed, context.topology, analysis.chosen)


def _needed(structure: Structure, analysis: ProgramAnalysis) -> int:
    """Slots with which processors need not pass on the messages of any operator for want of slots."""
    most = 2
    for operator in (operator for phase in structure.phases for operator in phase.operators):
        able = [one for _, one in analysis.feasible(operator) if one.loading is not Loading.ONLINE]
        most = max(most, min((one.least_period(operator, analysis.context) for one in able), default=2))
    return most


def _divisions_first(ways: Sequence[Candidate]) -> list[Candidate]:
    """Every division with its best schedule length, then every division with its second best, and so on: plans differ
    more by division than by length, and what the ends of phases cost shows only when they are routed."""
    count: dict[tuple[bool, Hashable], int] = {}
    places = []
    for one in ways:
        key = one.whole, one.key
        places.append(count.get(key, 0))
        count[key] = places[-1] + 1
    order = sorted(range(len(ways)), key=lambda i: (ways[i].whole, places[i]))
    return [ways[i] for i in order]


def _apart_from_values(structure: Structure) -> list[tuple[tuple[Operator, ...], float]]:
    """Operators and exits of each phase; the phases that an operator has for its several values count as one phase."""
    exits: dict[tuple[str, ...], float] = {}
    operators: dict[tuple[str, ...], tuple[Operator, ...]] = {}
    for phase in structure.phases:
        labels = tuple(operator.label for operator in phase.operators)
        exits[labels] = exits.get(labels, 0.0) + phase.exits
        operators.setdefault(labels, phase.operators)
    return [(operators[labels], exits[labels]) for labels in operators]
