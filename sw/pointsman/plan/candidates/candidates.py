"""Program -> candidates for a plan, the most promising first, each with an estimate of its cycles.

A candidate is a variant of the program (``replacements``), its division into phases (``divisions``) and a schedule
length. Nothing is routed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pointsman.errors import PointsmanError
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.cost.cost_model import CostModel
from pointsman.plan.cost.critical_path import critical_path_cycles
from pointsman.plan.cost.schedule_lengths import PERIODS, refuse_many_phases, schedule_lengths
from pointsman.plan.errors import PlanError
from pointsman.plan.structure.structure import Structure
from pointsman.program.program import Operator

from .divisions import costs_of, divisions, neighbours, searched
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

    def ways(self, structure: Structure, lengths: Iterable[int], *, whole: bool) -> Iterator[Candidate]:
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
            yield Candidate(self.variant, structure, n, estimate, whole)


@dataclass(frozen=True)
class Candidates:
    """All candidates of a program. ``gap``: share of the searches' estimates, from 0 to 1, by which a better division
    could still be quicker. ``refused``: errors of variants and divisions that cannot be planned."""

    ways: tuple[Candidate, ...]
    gap: float
    refused: tuple[PointsmanError, ...]
    fits: bool
    """Do the operators need no more VFSMs than the nodes have, by a lower bound? Otherwise processors must pass on messages."""
    priced: tuple[_Priced, ...]
    period: int | None
    """The schedule length that was asked for."""
    most_phases: int | None

    def near(self, one: Candidate) -> list[Candidate]:
        """Candidates that differ from ``one`` in a single place where a phase ends, with the same schedule length, and
        candidates of the same division with other lengths; the most promising first."""
        (priced,) = (priced for priced in self.priced if priced.variant is one.variant)
        analysis = one.variant.analysis
        shape = analysis.context.shape
        lengths = schedule_lengths(one.structure, shape, self.period)
        found = list(priced.ways(one.structure, (n for n in lengths if n != one.period), whole=False))
        for other in neighbours(analysis, one.structure):
            try:
                for structure in with_schedules([other], analysis):
                    refuse_many_phases(structure, self.most_phases)
                    found += priced.ways(structure, schedule_lengths(structure, shape, one.period), whole=False)
            except PlanError:
                continue
        return sorted(found, key=lambda way: way.estimate)


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
    several: list[_Priced] = []
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
        several.append(priced)
        fits = fits or costs.fit(variant.analysis.operators)
        found = searched(variant.analysis, costs, effort=effort, most_phases=most_phases)
        gap = max([gap, *(one.gap for one in found)])
        divided = divisions(variant.analysis, found) if structures is None else structures
        for structure in with_schedules(divided, variant.analysis):
            try:
                refuse_many_phases(structure, most_phases)
                lengths = schedule_lengths(structure, analysis.context.shape, period)
            except PlanError as error:
                refused.append(error)
                continue
            # If operators may continue, a single phase is a candidate like the others.
            whole = len(structure.phases) == 1 and len(divided) > 1 and all(one.ends for one in found)
            whole = whole and not any(one.through for one in divided)
            ways += priced.ways(structure, lengths, whole=whole)
    ways.sort(key=lambda one: (one.whole, one.estimate, one.period))
    return Candidates(tuple(_divisions_first(ways)), gap, tuple(refused), fits, tuple(several), period, most_phases)


def _divisions_first(ways: Sequence[Candidate]) -> list[Candidate]:
    """Every division with its best schedule length, then every division with its second best, and so on: plans differ
    more by division than by length, and what the ends of phases cost shows only when they are routed."""
    count: dict[tuple[bool, tuple[tuple[str, ...], ...]], int] = {}
    places = []
    for one in ways:
        key = one.whole, one.labels
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
