"""Routes of continuing operators, before the phases that they go through are planned around them.

An operator is routed together with the others of that phase in which most streams meet it, and keeps what it gets there; if
that leaves another phase no room, it is routed again with a word a period. Leaves alone: who enters where (``continuing``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pointsman.cop.program import Operator
from pointsman.errors import PointsmanError
from pointsman.operators import Implementation, Wiring
from pointsman.operators.online import Online
from pointsman.streams.router import route_phase
from pointsman.streams.stream import RoutedPhase, Stream

from .continuing import ends_of, inside, may_continue, taken_out
from .options import capped
from .plan import Plan, PlannedPhase
from .roles import PlanError, plan_operator
from .structure import PhaseOutline, Through

if TYPE_CHECKING:
    from .planner import Planner

Made = list[tuple[Through, PlannedPhase]]

LEAST = 1
"""Words a period that a continuing operator gets where more leave no room for others."""


def plan_beside(planner: Planner, name: str, limit: float) -> Plan | None:
    """A plan whose continuing operators stand; None if it takes ``limit`` cycles or more.

    Raises
    ------
    PlanError
        With the first reason, if there is none.
    """
    failure: PointsmanError | None = None
    for most in (None, LEAST):
        planner.forget()
        try:
            planner.standing = _routes(planner, most)
            for through, _ in planner.standing:
                for p in ends_of(through, planner.structure):
                    planner.reasons[p] = (
                        f"'{through.operator.label}', which continues from phase to phase, ends with it"
                    )
            return planner.plan_phases(name, limit - sum(alone.cycles for _, alone in planner.standing))
        except PointsmanError as error:
            failure = failure or error
    assert failure is not None
    if isinstance(failure, PlanError):
        raise failure
    first = planner.structure.through[0].operator
    raise PlanError(
        f"{first.position}: operators cannot continue over changes of phase: {failure.message}", hint=failure.hint
    )


def _routes(planner: Planner, most: int | None) -> Made:
    made: Made = []
    for through in sorted(planner.structure.through, key=lambda one: -len(one.phases)):
        made.append((through, _route(planner, through, most, made)))
    return made


def _route(planner: Planner, through: Through, most: int | None, made: Made) -> PlannedPhase:
    operator = through.operator
    outline = PhaseOutline((operator,), (through.rounds,), 0.0)
    beside = tuple(alone.routed for other, alone in made if not set(other.phases).isdisjoint(through.phases))
    others = max((planner.first_streams(p) for p in through.phases), key=len)
    failure: PointsmanError | None = None
    for implementation in _suitable(planner, operator):
        streams = capped(operator, implementation.streams(operator, planner.context), planner.period)
        streams = inside(operator, streams, frozenset(range(planner.context.topology.nodes)))
        if most is not None:
            streams = [replace(stream, max_words=most, chains=1) for stream in streams]
        try:
            alone = _routed(planner, streams, others, beside)
        except PointsmanError as error:
            failure = failure or error
            continue
        planned = plan_operator(operator, implementation, range(len(streams)), alone, Wiring(alone))
        if planned is None:
            continue
        planned = replace(planned, delays={})
        nodes = operator.nodes
        return planner._closed(outline, (planned,), None, alone, nodes, "no-op", "it continues", 0)
    raise failure or PlanError(
        f"{operator.position}: operator '{operator.label}' has no implementation that can continue over a change of phase"
    )


def _routed(
    planner: Planner, streams: list[Stream], others: list[Stream], beside: tuple[RoutedPhase, ...]
) -> RoutedPhase:
    routed = route_phase(
        [*streams, *others],
        planner.program.topology,
        planner.shape,
        period=planner.period,
        seed=planner.seed,
        effort=planner.routing,
        beside=beside,
    )
    return taken_out(routed, range(len(streams)))


def _suitable(planner: Planner, operator: Operator) -> Iterator[Implementation]:
    """Implementations whose router stays as it is."""
    if not may_continue(operator):
        return
    for _, one in sorted(planner._able(operator, False), key=lambda pair: pair[0]):
        rewrites = one.by_value or one.synchronised or one.gated or one.rescheduled or one.stages(operator) > 1
        if not rewrites and not one.alone and not isinstance(one, Online):
            yield one
