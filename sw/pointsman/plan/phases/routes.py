"""Streams of a phase -> its routes, and the operators planned on them.

Takes streams and the `Constraints` under which they are routed: wires of other phases, operators that continue beside
them. Routes and refusals are cached in the `PlanMemo`. Leaves alone: which implementations do the operators
(``drafts``), how phases end (``closing``).
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.operators import Implementation
from pointsman.plan.context import OperatorsKey, PhaseRoute, PlanContext, RouteKey
from pointsman.plan.memory.capacity import refuse_overfull_phase
from pointsman.plan.plan import OnlinePart, PlannedOperator
from pointsman.plan.roles.roles import plan_operator
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.routing.errors import RoutingError
from pointsman.routing.online.frames import route_frames
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase, Stream
from pointsman.routing.subphases import with_subphases

from .constraints import Constraints

ROUTED = 10
"""Work of a stream that is routed. One that is refused with all others, because something lacks, takes about a tenth."""


def hops_of(part: OnlinePart | None, spans: Sequence[range], streams: int) -> range:
    """Span of the online streams of a phase that has no other streams (but a barrier later); else an empty range."""
    return spans[-1] if part is not None and part.streams and len(spans[-1]) == streams else range(0)


def route(
    context: PlanContext,
    constraints: Constraints,
    index: int,
    streams: Sequence[Stream],
    hops: range = range(0),
    fewer: RoutedPhase | None = None,
) -> PhaseRoute:
    """The routes of a phase.

    Parameters
    ----------
    index : int
        Number of the phase.
    hops : range
        Indices of online streams that `route_frames` may place in frames.
    fewer : RoutedPhase or None
        An earlier routing of the first of the streams, without the rest of them.

    Raises
    ------
    RoutingError
        If the streams cannot be routed.
    """
    taken = constraints.off(index)
    beside = constraints.standing.beside(index)
    freed = constraints.freed_streams(index, streams) if taken else ()
    routes = context.memo.routes
    free = RouteKey(context.seed, context.period, tuple(streams))
    key = free._replace(taken=taken, beside=beside, freed=freed)
    result = routes.get(key)
    if result is None:
        # Without constraints, or with fewer streams, the streams had at least as many words: more need not be tried.
        before = routes.get(free)
        fewer = before.routed if isinstance(before, PhaseRoute) else fewer
        try:
            result = PhaseRoute(_routed(context, key, hops, fewer))
            context.work.spend(ROUTED * len(streams))
        except RoutingError as error:
            result = error.without_frames()
        routes[key] = result
    if isinstance(result, RoutingError):
        raise result.without_frames()
    return result


def _routed(context: PlanContext, key: RouteKey, hops: range, fewer: RoutedPhase | None) -> RoutedPhase:
    network, shape, period, seed = context.program.topology, context.shape, key.period, key.seed
    streams = list(key.streams)
    had = [] if fewer is None else [fewer.words(s) for s in range(len(fewer.streams))]
    made: RoutedPhase | None = None
    if not key.taken and not key.beside:
        made = route_frames(streams, hops, network, shape, period=period, seed=seed)
    made = made or route_phase(
        streams,
        network,
        shape,
        period=period,
        seed=seed,
        effort=context.routing_effort,
        conditions=PhaseConditions(key.taken, dict(key.freed), key.beside, had),
    )
    # Beside continuing operators a phase has a single schedule, without subphases.
    return made if key.beside else with_subphases(made, key.taken)


def plan_operators(
    context: PlanContext,
    phase: PhaseOutline,
    implementations: tuple[Implementation, ...],
    spans: Sequence[range],
    route: PhaseRoute,
) -> tuple[PlannedOperator, ...] | None:
    """The operators of a phase, planned on its routes; None if an implementation cannot be used safely. ``spans``: by
    operator, the indices of its streams.

    Raises
    ------
    RoutingError
        If a node needs more interface registers than it has.
    """
    labels = tuple(operator.label for operator in phase.operators)
    key = OperatorsKey(phase.value, implementations, labels)
    if key not in route.operators:
        refuse_overfull_phase(route.wiring, context.shape)
        planned: list[PlannedOperator] = []
        for operator, implementation, span in zip(phase.operators, implementations, spans, strict=False):
            one = plan_operator(operator, implementation, span, route.routed, route.wiring)
            if one is None or (operator.label in context.bound and not one.message_bound):
                break
            planned.append(one)
        route.operators[key] = tuple(planned) if len(planned) == len(phase.operators) else None
    return route.operators[key]
