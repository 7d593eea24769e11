"""A division and a schedule length (`PlanContext`) -> Plan, or why there is none.

First a draft: each phase is routed without regard to others, for a lower estimate of its cycles. Then the phases are
planned so that their wires do not collide (``phase_set``). Operators that continue through phases are routed first, in
several ways, and the phases planned around each way (`pointsman.plan.continuing`). Leaves alone: which candidates there
are and which plan is kept (`pointsman.plan.make_plan`), numbers of hardware resources (targets).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from pointsman.errors import PointsmanError
from pointsman.plan.conflicts.link_slots import Link
from pointsman.plan.context import PlanContext
from pointsman.plan.continuing.operators import continuing
from pointsman.plan.continuing.routes import ContinuingRoutes, counted, stand, with_shares
from pointsman.plan.errors import MembershipError, PlanError
from pointsman.plan.membership.leaving import leaving
from pointsman.plan.membership.schedule_choice import refuse_split_barriers
from pointsman.plan.membership.transit import refuse_secret_phases
from pointsman.plan.plan import Plan, PlannedPhase
from pointsman.plan.structure.phase_graph import END

from .constraints import Constraints
from .drafts import first_streams, least_cycles, plan_phase
from .phase_set import TooSlowError, plan_phases, refusal_kept

LEAST = 1
"""Words a period of each stream of a continuing operator, where more would leave no room for others."""


REMEDIES = 16
"""Most remedies that are tried for a candidate in which nodes cannot tell when to go through a phase."""


def draft_candidate(context: PlanContext, limit: float = inf) -> tuple[float, ...] | None:
    """By phase, the cycles that it takes at least, about, before it is closed and kept apart from others; empty where
    operators continue through phases. None as soon as they come to ``limit``.

    Raises
    ------
    PlanError
        If a phase cannot be routed.
    """
    if context.structure.through:
        return ()
    refuse_again(context)
    least: list[float] = []
    for index in range(len(context.structure.phases)):
        with refusal_kept(context, index):
            least.append(least_cycles(context, index))
        if sum(least) >= limit:
            return None
    return tuple(least)


def refuse_again(context: PlanContext) -> None:
    """Refuse a candidate with a phase that was refused in another one, before any other phase is routed in vain. That the phase
    cannot be planned here either takes next to no time to find: what the router has refused is kept.

    Raises
    ------
    PlanError
        If there is such a phase.
    """
    for index in () if context.structure.through else range(len(context.structure.phases)):
        if context.refused_key(index) in context.memo.refused:
            plan_phase(context, Constraints(), index)


def plan_candidate(context: PlanContext, name: str, limit: float, least: Sequence[float] = ()) -> Plan | None:
    """The plan, or None as soon as its predicted cycles reach ``limit``. ``least``: cycles from `draft_candidate`.

    Raises
    ------
    PlanError
        With the first reason met, if the phases cannot be planned.
    """
    if context.structure.through:
        return _plan_around(context, name, limit)
    left = [REMEDIES]
    return _remedied(context, Constraints(), name, limit, least, left)


def _remedied(
    context: PlanContext, constraints: Constraints, name: str, limit: float, least: Sequence[float], left: list[int]
) -> Plan | None:
    """As `plan_candidate`, under constraints. Where a node could not tell when to go through a phase, the remedies for that are
    tried. ``left``: holds the number of remedies that may still be tried.

    Raises
    ------
    PlanError
        With the first reason met, if no remedy helps.
    """
    try:
        try:
            planned = plan_phases(context, constraints, limit, least)
        except TooSlowError:
            return None
        return None if planned is None else _complete(context, name, ContinuingRoutes(), planned)
    except MembershipError as error:
        first = error.without_frames()
    for other, under in _remedies(context, constraints, first):
        if left[0] <= 0:
            break
        left[0] -= 1
        try:
            return _remedied(other, under, name, limit, (), left)
        except PlanError:
            continue
    raise first.without_frames()


def _remedies(
    context: PlanContext, constraints: Constraints, error: MembershipError
) -> Iterator[tuple[PlanContext, Constraints]]:
    """What may help a node that cannot tell when to go through a phase: the phase keeps to the nodes of its operators; or
    all nodes go through it, also when the optional groups in it are not taken and its loops have no round, and meet there."""
    structure = context.structure
    phase = structure.phases[error.phase]
    if error.phase not in constraints.outside and len(phase.nodes) < len(context.program.topology.working):
        yield context, constraints.keeping_in(error.phase, _ways_out(context, phase.nodes))
    for passing in structure.passing([operator.label for operator in phase.operators]):
        under = constraints
        for index, one in enumerate(passing.phases):
            through = any(operator.label in passing.unsure for operator in one.operators)
            if through and passing.successors[index] != {END}:
                under = under.closing(index, "all nodes go through it, also if they do not use it")
        yield replace(context, structure=passing), under


def _ways_out(context: PlanContext, nodes: frozenset[int]) -> frozenset[Link]:
    """Links, in every slot, that lead from one of ``nodes`` to another node."""
    at_port = context.program.topology.at_port
    return frozenset(
        (node, port, slot)
        for node in nodes
        for port, (other, _) in at_port[node].items()
        if other not in nodes
        for slot in range(context.period)
    )


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
            failure = failure or error.without_frames()
            continue
        plan = plan and counted(context, plan)
        if plan is not None and plan.cycles < limit:
            best, limit = plan, plan.cycles
    if found:
        return best
    assert failure is not None
    if isinstance(failure, PlanError):
        raise failure.without_frames()
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
    structure = context.structure
    refuse_secret_phases(structure, planned)
    refuse_split_barriers(structure, planned)
    leaves = leaving(planned, structure)
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
