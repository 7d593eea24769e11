"""Phases of operators that have a schedule for each of their run-time values (Metcalf 1997, §4.1.1 "Multiple
Schedules", §4.1.3 run-time subphases).

Takes structures; gives them with the phase of such an operator replaced by a phase for each value, any of which may
follow wherever the phase could. Nothing else is special: these phases are routed, closed and judged like all others,
and the operator's load function enters the phase of its value.

Operators of a parallel group can share such phases, with a phase for each combination of their values: their load
functions are called before any I/O, so the last call knows all values. An operator that comes after another in its
phase cannot, since the phase would be running by then. Nodes in no instance could not tell which of the phases runs, so
all words, those of the closing barrier included, have to stay within the instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, product
from math import prod

from pointsman.operators.api.cached import metric_of
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_settled, rounds_between_values
from pointsman.operators.scheduled.schedules_per_value import MOST_SCHEDULES, for_values, schedule_values
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.errors import PlanError
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.structure import PhaseOutline, Structure
from pointsman.program.program import Group, Operator

GAIN = 0.8
"""A schedule for each value is tried unasked if it should take less than this share of the cycles of the best other
implementation."""
COMMAND = 4.0
"""Cycles for each of `Metric.reload_words`, about."""


def with_schedules(structures: Sequence[Structure], analysis: ProgramAnalysis) -> Iterator[Structure]:
    """The structures, with phases divided by value where an operator asks for it; where none asks but some would be much
    quicker, the structure both undivided and divided. Structures with threads or continuing operators are given as they are.

    Raises
    ------
    PlanError
        If in all structures an operator asks for a schedule for each value in a phase that cannot be divided.
    """
    shared: PlanError | None = None
    given = False
    for structure in structures:
        if structure.threads is not None or structure.through:
            yield structure
            given = True
            continue
        try:
            asked = [i for i, phase in enumerate(structure.phases) if _asked(phase, analysis)]
        except PlanError as error:
            shared = shared or error.without_frames()
            continue
        given = True
        yield _divided(structure, asked, analysis) if asked else structure
        if not asked:
            better = [i for i, phase in enumerate(structure.phases) if _promises(phase, analysis)]
            better = [i for i in better if _inside(structure, i)]
            if better:
                yield _divided(structure, better, analysis)
    if shared is not None and not given:
        raise shared


def _asked(phase: PhaseOutline, analysis: ProgramAnalysis) -> bool:
    """Does an operator of the phase ask for a schedule for each value? Raises `PlanError` if the phase cannot be divided."""
    wanting = [operator for operator in phase.operators if _wants(operator, analysis)]
    if not wanting:
        return False
    first = wanting[0]
    if len(phase.operators) > 1 and not side_by_side(analysis.program.root, phase.operators):
        if _is_beside_others(first, analysis):
            raise PlanError(
                f"{first.position}: operator '{first.label}' stands in a parallel group beside a sequence, with which it shares "
                f"a phase, and {first.impl} needs one of its own for each value",
                hint="take it out of the parallel group, or use another implementation",
            )
        raise PlanError(
            f"{first.position}: operator '{first.label}' shares a phase with operators that come before or after it, and "
            f"{first.impl} needs one of its own for each value",
            hint="use a parallel group, a phase of its own, or another implementation",
        )
    # Several instances are told from each other by the positions of their nodes, so these have to be in the same order.
    places = [
        {one.nodes if len(operator.instances) > 1 else frozenset(one.nodes) for one in operator.instances}
        for operator in phase.operators
    ]
    if any(place != places[0] for place in places):
        same = len({frozenset(map(frozenset, place)) for place in places}) == 1
        raise PlanError(
            f"{first.position}: operator '{first.label}' has a schedule for each value, and the other operators of its phase "
            f"have {'their nodes in another order' if same else 'other nodes, which would have to know it'}",
            hint="use the same subset for all operators of the phase, or another implementation",
        )
    number = prod(len(schedule_values(operator) or ()) for operator in wanting)
    if number > MOST_SCHEDULES:
        raise PlanError(
            f"{first.position}: phase '{'+'.join(o.label for o in phase.operators)}' would have {number} schedules, one for each "
            f"combination of run-time values; the most is {MOST_SCHEDULES}",
            hint="name fewer :values, or take the operators apart",
        )
    return True


def _is_beside_others(operator: Operator, analysis: ProgramAnalysis) -> bool:
    """Does a parallel group around an operator have other operators, too, so that no phase could be its own?"""
    groups = (part for part in analysis.root.walk() if part.kind in ("parallel", "disjoint"))
    return any(operator.label in {o.label for o in part.operators()} and len(part.children) > 1 for part in groups)


def _wants(operator: Operator, analysis: ProgramAnalysis) -> bool:
    """Is the operator to be done by an implementation that has a schedule for each value, by its ``:impl`` or by the planner's
    choice?"""
    if (operator.impl is None and operator.label not in analysis.chosen) or is_settled(operator):
        return False
    return all(one.loading is Loading.PER_VALUE for _, one in analysis.feasible(operator))


def side_by_side(root: Group, operators: Sequence[Operator]) -> bool:
    """Are these operators in no order: does every group that holds two of them hold them in parallel?"""
    labels = {operator.label for operator in operators}

    def held(part: Group | Operator) -> int:
        inside = [part] if isinstance(part, Operator) else [one for one, _ in part.walk()]
        return sum(isinstance(one, Operator) and one.label in labels for one in inside)

    groups = [part for part, _ in root.walk() if isinstance(part, Group) and part.kind != "parallel"]
    return all(sum(held(child) > 0 for child in group.children) < 2 for group in groups)


def _promises(phase: PhaseOutline, analysis: ProgramAnalysis) -> bool:
    """Does the phase hold a single operator that would be much quicker with a schedule for each value?"""
    if len(phase.operators) > 1 or is_settled(phase.operators[0]):
        return False
    operator = phase.operators[0]
    costs: dict[bool, list[float]] = {True: [], False: []}
    for cycles, one in analysis.feasible(operator):
        metric = metric_of(one, operator, analysis.context)
        assert metric is not None
        reload = metric.reload_words * COMMAND / rounds_between_values(operator)
        costs[one.loading is Loading.PER_VALUE].append(cycles + reload)
    return bool(costs[True]) and (not costs[False] or min(costs[True]) < GAIN * min(costs[False]))


def _inside(structure: Structure, index: int) -> bool:
    """Is each instance in other phases inside an instance of this phase's operator, or disjoint from all of them?"""
    instances = [frozenset(one.nodes) for one in structure.phases[index].operators[0].instances]
    others = [
        frozenset(one.nodes)
        for i, phase in enumerate(structure.phases)
        if i != index
        for operator in phase.operators
        for one in operator.instances
    ]
    return all(any(other <= own for own in instances) or not any(other & own for own in instances) for other in others)


def _divided(structure: Structure, indices: Sequence[int], analysis: ProgramAnalysis) -> Structure:
    """A structure with the phases of these indices divided."""
    phases: list[PhaseOutline] = []
    new: dict[int, tuple[int, ...]] = {START: (START,), END: (END,)}
    for i, phase in enumerate(structure.phases):
        first = len(phases)
        phases += _by_value(phase, analysis) if i in indices else [phase]
        new[i] = tuple(range(first, len(phases)))
    successors = {
        one: frozenset(other for after in followers for other in new[after])
        for phase, followers in structure.successors.items()
        for one in new[phase]
    }
    for i in indices:
        # After a use with a value a use with any value may follow.
        for one in new[i]:
            successors[one] |= frozenset(new[i])
    again = frozenset(one for i in structure.again for one in new[i])
    last = tuple(labels for i, labels in enumerate(structure.last) for _ in new[i])
    # A node may change the schedule between two operators of such a phase.
    before = tuple({} if i in indices else labels for i, labels in enumerate(structure.before) for _ in new[i])
    return replace(structure, phases=tuple(phases), successors=successors, again=again, last=last, before=before)


def _by_value(phase: PhaseOutline, analysis: ProgramAnalysis) -> list[PhaseOutline]:
    """A phase for each combination of values; each is taken to be used equally often."""
    chosen = [operator for operator in phase.operators if _wants(operator, analysis)]
    chosen = chosen or list(phase.operators)
    choices = [schedule_values(operator) or () for operator in chosen]
    share = 1 / prod(map(len, choices))
    leaves = max(phase.exits, *(phase.loops / rounds_between_values(operator) for operator in chosen))
    found = []
    for values in product(*choices):
        of = {operator.label: alike for operator, alike in zip(chosen, values, strict=True)}
        found.append(
            replace(
                phase,
                operators=tuple(for_values(o, of[o.label]) if o.label in of else o for o in phase.operators),
                rounds=tuple(rounds * share for rounds in phase.rounds),
                exits=leaves * share,
                value=tuple(chain.from_iterable(alike[0] for alike in values)),
            )
        )
    return found
