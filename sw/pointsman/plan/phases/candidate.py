"""A division and a schedule length (`PlanContext`) -> Plan, or why there is none.

First a draft: each phase is routed without regard to others, for a lower estimate of its cycles. Then the phases are
planned so that their wires do not collide (``phase_set``). Operators that continue through phases are routed first, in
several ways, and the phases planned around each way (`pointsman.plan.continuing`). Leaves alone: which candidates there
are and which plan is kept (`pointsman.plan.make_plan`), numbers of hardware resources (targets).
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.errors import PointsmanError
from pointsman.plan.context import PlanContext
from pointsman.plan.continuing.operators import continuing
from pointsman.plan.continuing.routes import ContinuingRoutes, counted, stand, with_shares
from pointsman.plan.errors import PlanError
from pointsman.plan.membership.leaving import leaving
from pointsman.plan.membership.loop_rounds import refuse_missed_rounds
from pointsman.plan.membership.schedule_choice import refuse_split_barriers
from pointsman.plan.membership.transit import refuse_secret_phases
from pointsman.plan.plan import Plan, PlannedPhase

from .constraints import Constraints
from .drafts import first_streams, least_cycles
from .phase_set import TooSlowError, plan_phases

LEAST = 1
"""Words a period of each stream of a continuing operator, where more would leave no room for others."""


def draft_candidate(context: PlanContext) -> tuple[float, ...]:
    """By phase, the cycles that it takes at least, about, before it is closed and kept apart from others; empty where
    operators continue through phases.

    Raises
    ------
    PlanError
        If a phase cannot be routed.
    """
    if context.structure.through:
        return ()
    return tuple(least_cycles(context, index) for index in range(len(context.structure.phases)))


def plan_candidate(context: PlanContext, name: str, limit: float, least: Sequence[float] = ()) -> Plan | None:
    """The plan, or None as soon as its predicted cycles reach ``limit``. ``least``: cycles from `draft_candidate`.

    Raises
    ------
    PlanError
        With the first reason met, if the phases cannot be planned.
    """
    if context.structure.through:
        return _plan_around(context, name, limit)
    try:
        planned = plan_phases(context, Constraints(), limit, least)
    except TooSlowError:
        return None
    return None if planned is None else _complete(context, name, ContinuingRoutes(), planned)


def _plan_around(context: PlanContext, name: str, limit: float) -> Plan | None:
    """The quickest plan over several routings of the continuing operators; None if all take ``limit`` cycles or more."""
    structure = context.structure
    others = {p: first_streams(context, p) for through in structure.through for p in through.phases}
    failure: PointsmanError | None = None
    best: Plan | None = None
    found = False
    core: int | None = LEAST
    for most, shared in ((None, False), (LEAST, False), (None, True)):
        try:
            standing = stand(context, others, core if shared else most)
            if shared:
                more = with_shares(context, others, standing, core)
                if more is None:
                    break
                standing = more
            planned = plan_phases(context, Constraints(standing, standing.reasons(structure)), limit)
            plan = None if planned is None else _complete(context, name, standing, planned)
            found = True
            core = None if most is None else core
        except PointsmanError as error:
            failure = failure or error
            continue
        plan = plan and counted(context, plan)
        if plan is not None and plan.cycles < limit:
            best, limit = plan, plan.cycles
    if found:
        return best
    assert failure is not None
    if isinstance(failure, PlanError):
        raise failure
    first = structure.through[0].operator
    raise PlanError(
        f"{first.position}: operators cannot continue over changes of phase: {failure.message}", hint=failure.hint
    )


def _complete(context: PlanContext, name: str, standing: ContinuingRoutes, planned: Sequence[PlannedPhase]) -> Plan:
    """The plan made of planned phases.

    Raises
    ------
    PlanError
        If nodes could not tell when to enter a phase, or when to leave it.
    """
    structure, optional = context.structure, context.analysis.optional
    refuse_secret_phases(structure, planned)
    refuse_split_barriers(structure, planned)
    refuse_missed_rounds(context.program, planned, optional)
    leaves = leaving(planned, structure, optional)
    return Plan(
        name,
        context.program,
        context.shape,
        context.period,
        structure,
        tuple(planned),
        leaves,
        context.replaced,
        continuing=continuing(standing.operators, structure, planned, leaves),
    )
