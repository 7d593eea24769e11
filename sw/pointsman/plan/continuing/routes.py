"""Operators that continue over several phases -> their routes (`ContinuingRoutes`), before the phases are planned around them.

An operator is first routed together with the operators of whichever of its phases has most streams. It keeps these slots
in all of its phases, and gets more in each phase where there is room (``slots``). It is also tried with a single word a
period in the first route, which leaves room for the others; this is the fallback if more leave none
(`pointsman.plan.phases.candidate`). Takes a `PlanContext` and the streams of the phases' own operators; gives routes.
Leaves alone: in which phase a node enters the operator (``operators``). Source: Metcalf 1997, §5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pointsman.errors import PointsmanError
from pointsman.operators import Implementation, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.operators.messages.online import ONLINE, Online
from pointsman.plan.conflicts.link_slots import Link, keep_off
from pointsman.plan.context import PlanContext
from pointsman.plan.cost.routed_cycles import operator_cycles
from pointsman.plan.errors import PlanError
from pointsman.plan.online import online_part, stands_for
from pointsman.plan.plan import OnlinePart, Plan, PlannedOperator, PlannedPhase
from pointsman.plan.roles.roles import plan_operator
from pointsman.plan.structure.beside import by_messages, may_continue
from pointsman.plan.structure.structure import PhaseOutline, Structure, Through
from pointsman.program.program import Operator
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase, Stream

from .operators import ends_of, inside, taken_out
from .slots import share

PhaseStreams = Mapping[int, Sequence[Stream]]
"""By phase, the streams of its own operators, with the implementations that are tried first."""


@dataclass(frozen=True, eq=False)
class ContinuingRoutes:
    """Operators that continue, with the links and slots that they hold in the phases that they go through."""

    operators: tuple[tuple[Through, PlannedPhase], ...] = ()
    """Each operator with its first route, planned as if it were a phase of its own that nobody ever leaves."""
    shared: Mapping[int, tuple[RoutedPhase, ...]] = field(default_factory=dict)
    """By phase, routes of the operators that continue through it, if `with_shares` gave them other slots there than
    those of the first route."""
    continued: Mapping[int, frozenset[Link]] = field(default_factory=dict)
    """By phase, links and slots that operators continuing through it use in any of their phases, so that it keeps off."""

    def beside(self, phase: int) -> tuple[RoutedPhase, ...]:
        """Routes of the operators that continue through a phase."""
        first = tuple(alone.routed for through, alone in self.operators if phase in through.phases)
        return self.shared.get(phase) or first

    def messages(self, phase: int) -> bool:
        """Do messages of an operator that continues pass through the phase?"""
        return any(alone.online is not None for through, alone in self.operators if phase in through.phases)

    def ending(self, phase: int, structure: Structure) -> list[PlannedOperator]:
        """Operators that may be over when a node leaves the phase."""
        return [alone.operators[0] for through, alone in self.operators if phase in ends_of(through, structure)]

    def reasons(self, structure: Structure) -> dict[int, str]:
        """By phase in which a continuing operator ends, why the phase needs a barrier."""
        return {
            phase: f"'{through.operator.label}', which continues from phase to phase, ends with it"
            for through, _ in self.operators
            for phase in ends_of(through, structure)
        }


def stand(context: PlanContext, others: PhaseStreams, most: int | None) -> ContinuingRoutes:
    """Route all operators that continue, those with most phases first. ``most``: most words a period for each of their
    streams; None: as many as find room.

    Raises
    ------
    PointsmanError
        If an operator cannot be routed, or cannot continue.
    """
    made: list[tuple[Through, PlannedPhase]] = []
    for through in sorted(context.structure.through, key=lambda one: -len(one.phases)):
        met = [alone for other, alone in made if not set(other.phases).isdisjoint(through.phases)]
        alone = _route(context, through, others, most, tuple(one.routed for one in met))
        meeting = [one.operators[0].operator.label for one in met if one.online]
        if alone.online is not None and meeting:
            raise PlanError(
                f"{through.operator.position}: operators '{meeting[0]}' and '{through.operator.label}', which are done by "
                "messages, cannot both continue over the same change of phase"
            )
        made.append((through, alone))
    return ContinuingRoutes(tuple(made))


def with_shares(
    context: PlanContext, others: PhaseStreams, standing: ContinuingRoutes, core: int | None
) -> ContinuingRoutes | None:
    """Give each continuing operator, in each of its phases, as many words a period as it gets when routed with the
    operators of that phase ("the continuing operator should end up with proportionately more bandwidth", §5.1.1); None
    if that is nowhere more than in its first route. ``core``: words a period of the first route; phases with more than
    half as many streams as the busiest stay at that. None: all phases get their share."""
    structure = context.structure
    if structure.threads is not None:
        return None
    shares: list[dict[int, RoutedPhase]] = []
    for number, (through, alone) in enumerate(standing.operators):
        streams = list(alone.routed.streams)
        words = {}
        busiest = max(len(others[p]) for p in through.phases)
        for p in through.phases:
            if core is not None and 2 * len(others[p]) > busiest:
                words[p] = core
                continue
            try:
                met = _routed(context, streams, others[p], ())
                words[p] = min((met.words(s) for s in range(len(streams))), default=0)
            except PointsmanError:
                words[p] = 0
        # Other continuing operators: their largest share so far, or their first route.
        most = [max(one.values(), key=_words) for one in shares]
        most += [other.routed for _, other in standing.operators[number + 1 :]]
        met_too = [not set(other.phases).isdisjoint(through.phases) for other, _ in standing.operators]
        beside = [one for one, meets in zip(most, met_too[:number] + met_too[number + 1 :], strict=True) if meets]
        members = frozenset.intersection(*(structure.phases[p].nodes for p in through.phases))
        shares.append(share(alone, words, members, beside, context.shape))
    if not any(
        _words(one) > _words(alone.routed)
        for (_, alone), own in zip(standing.operators, shares, strict=True)
        for one in own.values()
    ):
        return None
    aliased = context.shape.aliased_handshake
    shared: dict[int, tuple[RoutedPhase, ...]] = {}
    continued: dict[int, frozenset[Link]] = {}
    for p in range(len(structure.phases)):
        here = [own for (through, _), own in zip(standing.operators, shares, strict=True) if p in through.phases]
        if here:
            shared[p] = tuple(own[p] for own in here)
            most = [max(own.values(), key=_words) for own in here]
            continued[p] = frozenset(link for one in most for link in keep_off(one, aliased_handshake=aliased))
    return replace(standing, shared=shared, continued=continued)


def _words(routed: RoutedPhase) -> int:
    return sum(chain.words for chain in routed.chains)


def counted(context: PlanContext, plan: Plan) -> Plan:
    """The plan with the cycles of its continuing operators filled in: the mean over their phases, since the program
    does not tell in which phase they are used."""
    made = []
    for one in plan.continuing:
        (through,) = (t for t in context.structure.through if t.operator is one.operator.operator)
        outline = PhaseOutline((through.operator,), (through.rounds,), 0.0)
        cycles = 0.0
        for p in one.phases:
            routed = goes_on(one.planned.routed, plan.phases[p].routed.beside)
            assert routed is not None
            cycles += operator_cycles(outline, one.planned.operators, routed, context.surroundings, one.planned.part)
        made.append(replace(one, planned=replace(one.planned, cycles=cycles / len(one.phases))))
    return replace(plan, continuing=tuple(made))


def _route(
    context: PlanContext, through: Through, others: PhaseStreams, most: int | None, beside: tuple[RoutedPhase, ...]
) -> PlannedPhase:
    """Route an operator with its quickest implementation that can be routed, ``beside`` routes that stand already."""
    operator = through.operator
    outline = PhaseOutline((operator,), (through.rounds,), 0.0)
    meeting = max((others[p] for p in through.phases), key=len)
    failure: PointsmanError | None = None
    for implementation in _suitable(context, operator):
        part = None
        if isinstance(implementation, Online):
            part = _channels(context, outline, implementation)
            streams = list(part.streams)
        else:
            streams = context.streams(operator, implementation)
            streams = inside(operator, streams, frozenset(range(context.program.topology.nodes)))
        few = streams if most is None else [replace(stream, max_words=most, chains=1) for stream in streams]
        try:
            routed = replace(_routed(context, few, meeting, beside), streams=tuple(streams))
        except PointsmanError as error:
            failure = failure or error.without_frames()
            continue
        span, wiring = range(len(streams)), Wiring(routed)
        planned = plan_operator(operator, implementation, span, routed, wiring)
        if planned is None:
            continue
        operators = (replace(planned, delays={}),)
        return PlannedPhase(
            operator.label,
            operators,
            None,
            routed,
            wiring,
            "no-op",
            "it continues",
            operator.nodes,
            None if part is None else stands_for(part, wiring, span, context.program.topology),
            part,
            settle=0,
            cycles=operator_cycles(outline, operators, routed, context.surroundings, part),
        )
    raise failure or PlanError(
        f"{operator.position}: operator '{operator.label}' has no implementation that can continue over a change of phase"
    )


def _channels(context: PlanContext, outline: PhaseOutline, implementation: Online) -> OnlinePart:
    """The online streams of an operator that is done by messages. Raises `PlanError` if it cannot continue."""
    (operator,) = outline.operators
    why = None
    if context.structure.threads is not None:
        why = "the nodes around it go their own ways"
    part = online_part(outline, (implementation,), context.program, operator.label, context.express)
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
    context: PlanContext, streams: Sequence[Stream], others: Sequence[Stream], beside: tuple[RoutedPhase, ...]
) -> RoutedPhase:
    """Route ``streams`` together with ``others``; gives the routes of ``streams`` only."""
    routed = route_phase(
        [*streams, *others],
        context.program.topology,
        context.shape,
        period=context.period,
        seed=context.seed,
        effort=context.routing_effort,
        conditions=PhaseConditions(beside=beside),
    )
    return taken_out(routed, range(len(streams)))


def _suitable(context: PlanContext, operator: Operator) -> Iterator[Implementation]:
    """Implementations that leave VFSMs as they are at run time, so that they can continue; the quickest first."""
    if not may_continue(operator):
        return
    if by_messages(operator):
        yield from (one for one in ONLINE if operator.impl == one.name and operator.kind in one.kinds)
        return
    for _, one in sorted(context.able(operator), key=lambda pair: pair[0]):
        if one.loading is Loading.LOCAL and one.stages(operator) == 1 and not one.alone:
            yield one
