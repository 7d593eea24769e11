"""Program -> divisions into phases that are worth routing.

Takes an analysed program; gives `Structure`s, the most promising first: what the search finds by its estimates, with and without
threads that change their phases independently; a phase for each operator or parallel group (`outline`); and a single phase for
everything, which any program can fall back on. The planner routes several and keeps the quickest plan.

Leaves alone: routes, and how phases really end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import inf

from pointsman.operators import Implementation, Metric
from pointsman.operators.api.cached import kept, metric_of
from pointsman.operators.api.loading import Loading
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.cost.call_attributes import best_rate
from pointsman.plan.cost.cost_model import CostModel
from pointsman.plan.cost.critical_path import critical_path_cycles
from pointsman.plan.structure.extents import PartKind, ProgramPart
from pointsman.plan.structure.phase_tree import Break
from pointsman.plan.structure.structure import PhaseOutline, Structure, outline
from pointsman.program.program import Operator

from .branch_and_bound import SearchResult, search
from .walk import PhaseCosts

BUDGET = 3000
"""Most search nodes to follow, times the effort."""
NEIGHBOURS, FEWEST = 100_000, 8
"""Most neighbours of a division times operators of the program, and how many there may be in any case."""


class _Apart:
    """Costs of phases in which operators that may continue beside them (``labels``) cost nothing."""

    def __init__(self, costs: PhaseCosts, labels: Collection[str]) -> None:
        self.costs = costs
        self.labels = labels

    def _own(self, operators: tuple[Operator, ...]) -> tuple[Operator, ...]:
        return tuple(operator for operator in operators if operator.label not in self.labels)

    def phase(self, operators: tuple[Operator, ...], exits: float) -> float:
        own = self._own(operators)
        return self.costs.phase(own, exits) if own else 0.0

    def alone(self, operator: Operator) -> float:
        return 0.0 if operator.label in self.labels else self.costs.alone(operator)

    def least(self, operators: tuple[Operator, ...], exits: float) -> float:
        own = self._own(operators)
        return self.costs.least(own, exits) if own else 0.0


class _Without:
    """Costs of phases where those with all operators of one of the sets ``refused`` cannot be."""

    def __init__(self, costs: CostModel, refused: Collection[frozenset[str]]) -> None:
        self.costs = costs
        self.refused = refused
        self.alone, self.least = costs.alone, costs.least

    def phase(self, operators: tuple[Operator, ...], exits: float) -> float:
        labels = {operator.label for operator in operators}
        return inf if any(one <= labels for one in self.refused) else self.costs.phase(operators, exits)


def costs_of(analysis: ProgramAnalysis, *, period: int, by_value: Collection[str] = ()) -> CostModel:
    """Model of what phases cost in cycles with a schedule of ``period`` slots. ``by_value``: labels of operators that
    are to have a schedule for each of their run-time values."""
    choices = {o.label: _choices(analysis, o, period, per_value=o.label in by_value) for o in analysis.operators}
    return CostModel(
        choices, analysis.rounds, analysis.context, analysis.places, period=period, known=analysis.phase_costs
    )


def _choices(
    analysis: ProgramAnalysis, operator: Operator, period: int, *, per_value: bool
) -> tuple[tuple[Implementation, Metric], ...]:
    """Implementations that can do an operator, with their metrics at this schedule length."""
    known = [one for _, one in analysis.feasible(operator)]
    ways = [one for one in known if (one.loading is Loading.PER_VALUE) == per_value] or known
    context = analysis.context

    def ask() -> tuple[tuple[Implementation, Metric], ...]:
        metrics = [(one, metric_of(one, operator, context)) for one in ways]
        return tuple(
            (one, replace(metric, words_per_cycle=best_rate(operator, metric.words_per_cycle, period)))
            for one, metric in metrics
            if metric is not None
        )

    key = "choices", period, tuple(map(id, ways)), id(context.topology), context.shape
    return kept(operator, key, (ways, context), ask)


def searched(
    analysis: ProgramAnalysis,
    model: CostModel,
    *,
    effort: float = 1.0,
    most_phases: int | None = None,
    refused: Collection[frozenset[str]] = (),
) -> list[SearchResult]:
    """Results of the search: beside operators that continue, with threads, without threads; each only if it has places
    to choose from, and threads only if they should be quicker. ``most_phases``: most phases of a node. ``refused``: labels of
    operators that cannot all share a phase."""
    costs = _Without(model, refused) if refused else model
    root, beside = analysis.root, analysis.beside
    kinds: tuple[tuple[PartKind, ...], ...] = (("parallel",), ("parallel", "disjoint"))
    free = list(dict.fromkeys(_free(analysis, around) for around in kinds))
    # The loader phase takes a block of the schedule memory, too.
    most = max(1, model.context.shape.schedule_depth // model.period - 1)
    most = most if most_phases is None else min(most, most_phases)
    budget = max(1, int(BUDGET * effort))
    best = [search(root, costs, budget=budget, places=places, most=most) for places in free if places]
    # ``best[0]`` may have threads, ``best[1]`` has none: threads not expected to be quicker are not worth routing.
    if len(best) > 1:
        threads = analysis.divided(best[0].phases)
        if critical_path_cycles(threads, costs.phase) >= best[1].cost:
            del best[0]
    if beside.labels:
        # An operator that continues beside a sequence slows down all phases of the sequence about equally, so it costs nothing.
        bound = {child for part in beside.whole for child in part.walk() if child is not part}
        open_ = [place for place in analysis.breaks if place[0] not in bound]
        best.insert(0, search(root, _Apart(costs, beside.labels), budget=budget, places=open_, most=most))
    return best


def divisions(analysis: ProgramAnalysis, found: Sequence[SearchResult]) -> list[Structure]:
    """The divisions to try, each once; ``found``: results of `searched`."""
    ways = [analysis.divided(one.phases) for one in found]
    ways.append(outline(analysis.program))
    if analysis.operators:
        ways.append(analysis.folded(lambda part, i: False))
    distinct: dict[tuple[tuple[str, ...], ...], Structure] = {}
    for structure in ways:
        # No node would enter a phase that has no operator of its own.
        if not all(phase.operators for phase in structure.phases):
            continue
        distinct.setdefault(_division(structure), structure)
    return list(distinct.values())


def neighbours(analysis: ProgramAnalysis, structure: Structure) -> list[Structure]:
    """Divisions that differ from ``structure`` in one place where a phase ends or does not; none where operators
    continue over phases, or if ``structure`` is not made from the program's tree by choosing places. Of a program with many
    operators not all are made, as each takes time in proportion to these, but those of places that are spread evenly."""
    if structure.through:
        return []
    ended = _ended(analysis, structure)

    def folded(ends: set[Break]) -> Structure:
        return analysis.folded(lambda part, i: (part, i) in ends)

    distinct = {_division(structure): structure}
    if _division(folded(ended)) != _division(structure):
        return []
    places = analysis.breaks
    most = max(FEWEST, NEIGHBOURS // max(1, len(analysis.operators)))
    for place in places if len(places) <= most else (places[k * len(places) // most] for k in range(most)):
        other = folded(ended ^ {place})
        if all(phase.operators for phase in other.phases) and not other.through:
            distinct.setdefault(_division(other), other)
    return list(distinct.values())[1:]


def alone(analysis: ProgramAnalysis, structure: Structure, label: str) -> Structure | None:
    """The division whose phases end where those of ``structure`` do and around an operator; None if that makes no other phases,
    or if operators continue over phases. Operators called "label/..." stand in the place of one called "label"."""

    def inside(part: ProgramPart) -> bool:
        return any(operator.label.split("/")[0] == label for operator in part.operators())

    if structure.through:
        return None
    around = {(part, i) for part, i in analysis.breaks if inside(part.children[i]) != inside(part.children[i + 1])}
    return _ending_also(analysis, structure, around)


def never_alone(analysis: ProgramAnalysis, structure: Structure) -> frozenset[str]:
    """Labels of operators for which `alone` is None; "label/..." count as "label". Without parallel groups a phase that may end
    at one more place is divided there, so that no division needs to be made for any of them."""
    around: dict[str, set[Break]] = {operator.label.split("/")[0]: set() for operator in analysis.root.operators()}
    if structure.through or any(part.kind == "parallel" for part in analysis.root.walk()):
        return frozenset(label for label in around if alone(analysis, structure, label) is None)
    above = {child: (part, i) for part in analysis.root.walk() for i, child in enumerate(part.children)}
    children: dict[str, set[Break]] = {label: set() for label in around}
    for leaf in analysis.root.walk():
        part = leaf
        while leaf.operator is not None and part in above:
            children[leaf.operator.label.split("/")[0]].add(above[part])
            part = above[part][0]
    for label, here in children.items():
        edges = {(part, i - 1) for part, i in here if (part, i - 1) not in here}
        around[label] = edges | {(part, i) for part, i in here if (part, i + 1) not in here}
    # Places where phases cannot end are in none of these, nor are those before a first child and behind a last.
    elsewhere = set(analysis.breaks) - _ended(analysis, structure)
    return frozenset(label for label, places in around.items() if places.isdisjoint(elsewhere))


def split(analysis: ProgramAnalysis, structure: Structure, labels: Collection[str]) -> Structure | None:
    """The division whose phases end where those of ``structure`` do and wherever they may between the operators ``labels``; None
    if that makes no other phases, or if operators continue over phases."""

    def inside(part: ProgramPart) -> bool:
        return any(operator.label in labels for operator in part.operators())

    if structure.through:
        return None
    between = {(part, i) for part, i in analysis.breaks if inside(part.children[i]) and inside(part.children[i + 1])}
    return _ending_also(analysis, structure, between)


def _ending_also(analysis: ProgramAnalysis, structure: Structure, places: set[Break]) -> Structure | None:
    """The division whose phases end where those of ``structure`` do and at ``places``; None if that makes no other phases."""
    ends = _ended(analysis, structure) | places
    found = analysis.folded(lambda part, i: (part, i) in ends)
    same = _division(found) == _division(structure)
    return None if same or found.through or not all(phase.operators for phase in found.phases) else found


def _ended(analysis: ProgramAnalysis, structure: Structure) -> set[Break]:
    """Places where phases of a division end."""
    numbers = {labels: number for number, labels in enumerate(_division(structure))}
    phases = {label: number for labels, number in numbers.items() for label in labels}
    return {(part, i) for part, i in analysis.breaks if _apart(part.children[i], part.children[i + 1], phases)}


def _apart(one: ProgramPart, other: ProgramPart, phases: Mapping[str, int]) -> bool:
    """Do operators of the two parts share no phase? ``phases``: by label of an operator, the number of its phase."""
    return {phases[o.label] for o in one.operators()}.isdisjoint(phases[o.label] for o in other.operators())


def _labels(phase: PhaseOutline) -> tuple[str, ...]:
    return tuple(operator.label for operator in phase.operators)


def _division(structure: Structure) -> tuple[tuple[str, ...], ...]:
    """Key of a division: labels by phase. The phases that an operator has for its several values count as one phase."""
    return tuple(dict.fromkeys(map(_labels, structure.phases)))


def _free(analysis: ProgramAnalysis, around: Collection[PartKind]) -> tuple[Break, ...]:
    """Places where a phase may end that are not inside a group of the kinds ``around``."""
    bound = {
        child for part in analysis.root.walk() if part.kind in around for child in part.walk() if child is not part
    }
    return tuple(place for place in analysis.breaks if place[0] not in bound)
