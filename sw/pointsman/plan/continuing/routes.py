"""Routes of continuing operators, before the phases that they go through are planned around them.

An operator is routed together with the others of that phase in which most streams meet it, and has these slots in all of its
phases, and in each others besides (``continuing_slots``). It is also tried with a word a period from the first route, which
leaves the others more room where they need it; and must be if with more there is none. Leaves alone: who enters where
(``continuing``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pointsman.errors import PointsmanError
from pointsman.operators import Implementation, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.operators.messages.online import ONLINE, Online
from pointsman.plan.conflicts.link_slots import keep_off
from pointsman.plan.cost.call_attributes import capped
from pointsman.plan.errors import PlanError
from pointsman.plan.online import OnlinePart, online_part, stands_for
from pointsman.plan.plan import Continuing, Plan, PlannedPhase
from pointsman.plan.roles.roles import plan_operator
from pointsman.plan.structure.beside import by_messages, may_continue
from pointsman.plan.structure.structure import PhaseOutline, Through
from pointsman.program.program import Operator
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase, Stream

from .operators import ends_of, inside, taken_out
from .slots import share

if TYPE_CHECKING:
    from pointsman.plan.phases.phase_set import Planner

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
    best: Plan | None = None
    found = False
    core: int | None = LEAST
    for most, shared in ((None, False), (LEAST, False), (None, True)):
        planner.forget()
        try:
            planner.standing = _routes(planner, core if shared else most)
            if shared and not _share(planner, core):
                break
            for through, _ in planner.standing:
                for p in ends_of(through, planner.structure):
                    planner.reasons[p] = (
                        f"'{through.operator.label}', which continues from phase to phase, ends with it"
                    )
            plan = planner.plan_phases(name, limit)
            found = True
            core = None if most is None else core
        except PointsmanError as error:
            failure = failure or error
            continue
        plan = plan and _counted(planner, plan)
        if plan is not None and plan.cycles < limit:
            best, limit = plan, plan.cycles
    if found:
        return best
    assert failure is not None
    if isinstance(failure, PlanError):
        raise failure
    first = planner.structure.through[0].operator
    raise PlanError(
        f"{first.position}: operators cannot continue over changes of phase: {failure.message}", hint=failure.hint
    )


def _share(planner: Planner, core: int | None) -> bool:
    """Give what continues, in each of its phases, the words that it gets when it is routed with the others of that phase ("the
    continuing operator should end up with proportionately more bandwidth", §5.1.1); False if these are no more anywhere. With
    ``core`` words from the first route it gets its share where others have at most half as many streams as in the busiest."""
    if planner.structure.threads is not None:
        return False
    shares: list[dict[int, RoutedPhase]] = []
    for number, (through, alone) in enumerate(planner.standing):
        routed = alone.routed
        streams = list(routed.streams)
        words = {}
        busiest = max(len(planner.first_streams(p)) for p in through.phases)
        for p in through.phases:
            if core is not None and 2 * len(planner.first_streams(p)) > busiest:
                words[p] = core
                continue
            try:
                met = _routed(planner, streams, planner.first_streams(p), ())
                words[p] = min((met.words(s) for s in range(len(streams))), default=0)
            except PointsmanError:
                words[p] = 0
        # What others have by now, or from their first route.
        most = [max(one.values(), key=_words) for one in shares]
        most += [other.routed for _, other in planner.standing[number + 1 :]]
        met_too = [not set(other.phases).isdisjoint(through.phases) for other, _ in planner.standing]
        beside = [one for one, meets in zip(most, met_too[:number] + met_too[number + 1 :], strict=True) if meets]
        members = frozenset.intersection(*(planner.structure.phases[p].nodes for p in through.phases))
        shares.append(share(alone, words, members, beside, planner.shape))
    if not any(
        _words(one) > _words(a.routed)
        for (_, a), own in zip(planner.standing, shares, strict=True)
        for one in own.values()
    ):
        return False
    aliased = planner.shape.aliased_handshake
    for p in range(len(planner.structure.phases)):
        here = [own for (through, _), own in zip(planner.standing, shares, strict=True) if p in through.phases]
        if here:
            planner.shared[p] = tuple(own[p] for own in here)
            most = [max(own.values(), key=_words) for own in here]
            planner.continued[p] = frozenset(link for one in most for link in keep_off(one, aliased_handshake=aliased))
    return True


def _words(routed: RoutedPhase) -> int:
    return sum(chain.words for chain in routed.chains)


def _counted(planner: Planner, plan: Plan) -> Plan:
    """A plan with what its operators cost that continue: nobody knows in which phase they are used, so by the mean of all."""
    made = []
    for one in plan.continuing:
        outline = PhaseOutline((one.operator.operator,), (_rounds(planner, one),), 0.0)
        cycles = 0.0
        for p in one.phases:
            routed = goes_on(one.planned.routed, plan.phases[p].routed.beside)
            assert routed is not None
            cycles += planner._closed(
                outline, one.planned.operators, None, routed, one.planned.nodes, "no-op", "", 0, one.planned.part
            ).cycles
        made.append(replace(one, planned=replace(one.planned, cycles=cycles / len(one.phases))))
    return replace(plan, continuing=tuple(made))


def _rounds(planner: Planner, one: Continuing) -> float:
    return next(t.rounds for t in planner.structure.through if t.operator is one.operator.operator)


def _routes(planner: Planner, most: int | None) -> Made:
    made: Made = []
    for through in sorted(planner.structure.through, key=lambda one: -len(one.phases)):
        alone = _route(planner, through, most, made)
        meeting = [t.operator.label for t, a in made if a.online and not set(t.phases).isdisjoint(through.phases)]
        if alone.online is not None and meeting:
            raise PlanError(
                f"{through.operator.position}: operators '{meeting[0]}' and '{through.operator.label}', which are done by "
                "messages, cannot both continue over the same change of phase"
            )
        made.append((through, alone))
    return made


def _route(planner: Planner, through: Through, most: int | None, made: Made) -> PlannedPhase:
    operator = through.operator
    outline = PhaseOutline((operator,), (through.rounds,), 0.0)
    beside = tuple(alone.routed for other, alone in made if not set(other.phases).isdisjoint(through.phases))
    others = max((planner.first_streams(p) for p in through.phases), key=len)
    failure: PointsmanError | None = None
    for implementation in _suitable(planner, operator):
        part = None
        if isinstance(implementation, Online):
            part = _channels(planner, outline, implementation)
            streams = list(part.streams)
        else:
            streams = capped(operator, implementation.streams(operator, planner.context), planner.period)
            streams = inside(operator, streams, frozenset(range(planner.context.topology.nodes)))
        few = streams if most is None else [replace(stream, max_words=most, chains=1) for stream in streams]
        try:
            alone = replace(_routed(planner, few, others, beside), streams=tuple(streams))
        except PointsmanError as error:
            failure = failure or error
            continue
        span = range(len(streams))
        planned = plan_operator(operator, implementation, span, alone, Wiring(alone))
        if planned is None:
            continue
        planned = replace(planned, delays={})
        nodes = operator.nodes
        closed = planner._closed(outline, (planned,), None, alone, nodes, "no-op", "it continues", 0, part)
        if part is None:
            return closed
        return replace(closed, online=stands_for(part, closed.wiring, span, planner.program.topology))
    raise failure or PlanError(
        f"{operator.position}: operator '{operator.label}' has no implementation that can continue over a change of phase"
    )


def _channels(planner: Planner, outline: PhaseOutline, implementation: Online) -> OnlinePart:
    """The online streams of an operator done by messages, to all neighbours: they have to do beside other streams."""
    (operator,) = outline.operators
    why = None
    if planner.structure.threads is not None:
        why = "the nodes around it go their own ways"
    part = online_part(outline, (implementation,), planner.program, operator.label, planner.express)
    if part is None or not part.streams:
        why = "no message of it goes anywhere"
    elif not part.network.nodes <= operator.nodes:
        stray = min(part.network.nodes - operator.nodes)
        why = f"its messages go through node {stray}, which has no part in it"
    if part is None or why is not None:
        raise PlanError(
            f"{operator.position}: operator '{operator.label}', which is done by messages, cannot continue over a change of "
            f"phase: {why}"
        )
    return part


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
        conditions=PhaseConditions(beside=beside),
    )
    return taken_out(routed, range(len(streams)))


def _suitable(planner: Planner, operator: Operator) -> Iterator[Implementation]:
    """Implementations whose router stays as it is."""
    if not may_continue(operator):
        return
    if by_messages(operator):
        yield from (one for one in ONLINE if operator.impl == one.name and operator.kind in one.kinds)
        return
    for _, one in sorted(planner._able(operator, False), key=lambda pair: pair[0]):
        if one.loading is Loading.LOCAL and one.stages(operator) == 1 and not one.alone:
            yield one
