"""Phases of operators that have a schedule for each of their run-time values (Metcalf 1997, §4.1.1 "Multiple Schedules", §4.1.3
run-time subphases).

Takes structures, and gives them with such an operator's phase divided: a phase for each value, any of which may follow
wherever the phase could be. That is all that makes an operator have several schedules: routes, ends and judgement are those of
any phase, and its load function goes on to the phase of its value.

Only an operator that has a phase to itself can be divided, since its load function knows nothing of the others'; and nodes
that are in no instance could not tell which of the phases runs, so words have to stay within the instances, those of the
barrier that closes the phase included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pointsman.operators import Context, Implementation
from pointsman.operators.by_value import for_value, schedule_values
from pointsman.operators.implementation import is_settled, rounds_between_values
from pointsman.operators.kept import metric_of

from .choice import able
from .control import END, START
from .plan import PlannedPhase
from .roles import PlanError
from .structure import PhaseOutline, Structure

GAIN = 0.8
"""Several schedules are tried unasked if they expect less than this part of the cycles of the best other way."""
COMMAND = 4.0
"""Cycles of a command of `Metric.reload_words`, about."""


def with_schedules(
    structures: Sequence[Structure], context: Context, implementations: Sequence[Implementation]
) -> Iterator[Structure]:
    """The structures, and those of them with operators' phases divided by value that are asked for or promise more; not where
    threads have phases of their own or operators continue.

    Raises
    ------
    PlanError
        If an operator asks for a schedule for each value where that cannot be.
    """
    shared: PlanError | None = None
    given = False
    for structure in structures:
        if structure.threads is not None or structure.through:
            yield structure
            given = True
            continue
        try:
            asked = [i for i, phase in enumerate(structure.phases) if _asked(phase, context, implementations)]
        except PlanError as error:
            shared = shared or error
            continue
        given = True
        yield _divided(structure, asked) if asked else structure
        if not asked:
            better = [i for i, phase in enumerate(structure.phases) if _promises(phase, context, implementations)]
            better = [i for i in better if _inside(structure, i)]
            if better:
                yield _divided(structure, better)
    if shared is not None and not given:
        raise shared


def _asked(phase: PhaseOutline, context: Context, implementations: Sequence[Implementation]) -> bool:
    """Does its operator ask for a schedule for each value? Raises `PlanError` if it cannot have them in this phase."""
    wanting = [
        operator
        for operator in phase.operators
        if operator.impl is not None
        and not is_settled(operator)
        and all(one.by_value for _, one in able(operator, implementations, context))
    ]
    if not wanting:
        return False
    if len(phase.operators) > 1:
        raise PlanError(
            f"{wanting[0].position}: operator '{wanting[0].label}' shares a phase, and {wanting[0].impl} needs one of its own "
            "for each value",
            hint="take it out of the parallel or phase group, or use another implementation",
        )
    return True


def _promises(phase: PhaseOutline, context: Context, implementations: Sequence[Implementation]) -> bool:
    """Would its operator be much quicker with a schedule for each value?"""
    if len(phase.operators) > 1 or is_settled(phase.operators[0]):
        return False
    operator = phase.operators[0]
    costs: dict[bool, list[float]] = {True: [], False: []}
    for cycles, one in able(operator, implementations, context):
        metric = metric_of(one, operator, context)
        assert metric is not None
        reload = metric.reload_words * COMMAND / rounds_between_values(operator)
        costs[one.by_value].append(cycles + reload)
    return bool(costs[True]) and (not costs[False] or min(costs[True]) < GAIN * min(costs[False]))


def _inside(structure: Structure, index: int) -> bool:
    """Does what other phases join lie within the operator's instances?"""
    instances = [frozenset(one.nodes) for one in structure.phases[index].operators[0].instances]
    others = [
        frozenset(one.nodes)
        for i, phase in enumerate(structure.phases)
        if i != index
        for operator in phase.operators
        for one in operator.instances
    ]
    return all(any(other <= own or not other & own for own in instances) for other in others)


def _divided(structure: Structure, indices: Sequence[int]) -> Structure:
    """A structure with the phases of these indices divided."""
    phases: list[PhaseOutline] = []
    new: dict[int, tuple[int, ...]] = {START: (START,), END: (END,)}
    for i, phase in enumerate(structure.phases):
        first = len(phases)
        phases += _by_value(phase) if i in indices else [phase]
        new[i] = tuple(range(first, len(phases)))
    successors = {
        one: frozenset(other for after in followers for other in new[after])
        for phase, followers in structure.successors.items()
        for one in new[phase]
    }
    for i in indices:
        # A use with another value may follow, in a loop or not.
        for one in new[i]:
            successors[one] |= frozenset(new[i])
    again = frozenset(one for i in structure.again for one in new[i])
    last = tuple(labels for i, labels in enumerate(structure.last) for _ in new[i])
    return replace(structure, phases=tuple(phases), successors=successors, again=again, last=last)


def _by_value(phase: PhaseOutline) -> list[PhaseOutline]:
    """A phase for each value, each used for its share of the rounds."""
    (operator,) = phase.operators
    values = schedule_values(operator)
    assert values is not None
    share = 1 / len(values)
    leaves = max(phase.exits, phase.loops / rounds_between_values(operator))
    return [
        replace(
            phase,
            operators=(for_value(operator, value),),
            rounds=tuple(rounds * share for rounds in phase.rounds),
            exits=leaves * share,
            value=value,
        )
        for value in values
    ]


def refuse_split_barriers(structure: Structure, planned: Sequence[PlannedPhase]) -> None:
    """Raise `PlanError` if a node would need to know which schedule the nodes of another instance run."""
    for outline, phase in zip(structure.phases, planned, strict=True):
        if outline.value is None:
            continue
        (operator,) = outline.operators
        instances = [frozenset(one.nodes) for one in operator.instances]
        parts = [frozenset(one.nodes) for one in phase.barrier.operator.instances] if phase.barrier else []
        stray = phase.nodes - operator.nodes
        if stray or any(not any(part <= own for own in instances) for part in parts):
            raise PlanError(
                f"{operator.position}: operator '{operator.label}' has a schedule for each value, and nodes outside its "
                "instances would have to know which of them runs, because they meet in one barrier or pass words on",
                hint="use another implementation, or one instance of all nodes",
            )
