"""A routed phase -> how it ends: each node for itself, by messages, over streams of the phase itself, or with a barrier.

A `Draft` is a phase routed without a barrier; where it needs a barrier it is routed again with its streams. Nodes that
join the barrier because of other phases are in the `Constraints`. Gives planned phases with their predicted cycles
(Metcalf 1997, §5.2.3, §6.2.5). Leaves alone: which implementations do the operators (``drafts``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from pointsman.artifacts.images.images import Technique
from pointsman.operators.api.loading import Loading
from pointsman.plan.context import ClosingKey, PhaseRoute, PlanContext
from pointsman.plan.cost.equations import barrier_cycles
from pointsman.plan.cost.routed_cycles import leaving_cycles, operator_cycles
from pointsman.plan.memory.capacity import refuse_many_streams
from pointsman.plan.online import stands_for
from pointsman.plan.plan import OnlinePart, PlannedOperator, PlannedPhase
from pointsman.plan.roles.roles import plan_operator
from pointsman.plan.structure.structure import Structure
from pointsman.plan.termination.closing_barrier import (
    CLOSING,
    change_cycles,
    closing_barrier,
    parts_of,
    phase_name,
    phase_nodes,
    settle_cycles,
)
from pointsman.plan.termination.drain import with_drain_delays
from pointsman.plan.termination.hijack import Hijacked, hijack
from pointsman.plan.termination.techniques import leaves_nothing, why_not_loose
from pointsman.program.program import Operator
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import RoutedPhase, Stream

from .constraints import Constraints
from .routes import hops_of, plan_operators, route

WIDENED = 8
"""Most sets of nodes that are added to a barrier because words go other ways when it is routed."""
MASKED = 64
"""Cycles more until a node leaves a phase when the word that lets it go finds its processor serving messages
(`pointsman.runtime.numesh.online_agent`): what a handler that is told to stop still does, with a header from each of
four neighbours."""
HIJACKED = 1.5
"""Factor on the cycles of a barrier with streams of its own, up to which streams of the phase are used instead: they
take no slots away."""
PACKED = 4.0
"""The same factor for phases whose streams are packed, where there is no room for others."""


@dataclass(frozen=True, eq=False)
class RoutedOperators:
    """The operators of a phase, planned on its routes."""

    planned: tuple[PlannedOperator, ...]
    route: PhaseRoute
    spans: list[range]
    """By operator, the indices of its streams; the span of the online streams comes last."""
    part: OnlinePart | None = None
    """The online streams of the phase, and which operators use them."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A phase routed without a barrier. ``reason``: why it needs a barrier; None if it does not."""

    phase: PlannedPhase
    reason: str | None
    least_cycles: float
    spans: list[range]
    part: OnlinePart | None = None
    """The online streams of the phase; their span is the last of ``spans``."""
    loose: tuple[set[int], ...] = ()
    """Sets of nodes that its barrier leaves out."""


@dataclass(frozen=True, eq=False)
class Ending:
    """How a phase ends."""

    technique: Technique
    reason: str
    barrier: PlannedOperator | None = None
    """Operator that stands for the barrier, or for streams of the phase that take its place."""
    barrier_cycles: float = 0.0
    """Cycles of the barrier each time that the phase is left."""
    settle: int = 0
    """`PlannedPhase.settle`."""


def draft_end(context: PlanContext, constraints: Constraints, index: int, made: RoutedOperators) -> Draft:
    """How a phase that is routed without a barrier may end.

    Raises
    ------
    RoutingError
        If the phase cannot be used safely.
    """
    structure = context.structure
    phase, standing = structure.phases[index], constraints.standing
    planned, routed, spans = made.planned, made.route.routed, made.spans
    online = made.part if made.part is not None and made.part.streams else None

    def ends(technique: Technique, reason: str) -> Draft:
        ending = closed(context, index, made, Ending(technique, reason))
        return Draft(ending, None, ending.cycles, spans)

    def needs(barrier: Operator, reason: str, loose: tuple[set[int], ...] = ()) -> Draft:
        ending = closed(context, index, made, Ending("none", reason))
        least = ending.cycles + phase.exits * cycles_of_barrier(context, barrier)
        return Draft(ending, reason, least, spans, online, loose)

    if online is not None:
        barrier = barrier_of(context, constraints, index, routed, online)
        return needs(barrier, "processors pass on messages until nobody needs them")
    messages = standing.messages(index)
    if messages and any(one.values != ((),) or one.stages > 1 for one in planned):
        raise RoutingError(f"load functions of '{phase_name(phase)}' rewrite the router, and messages interrupt nodes")
    forced = constraints.reasons.get(index)
    if not any(s >= 0 and s != index for s in structure.successors[index]) and not (messages and forced):
        return ends("none", "no phase follows")
    parts = parts_of(phase, routed)
    last = last_operators(structure, index)
    why_not = [forced or why_not_loose(part, planned, routed, last) for part in parts]
    if messages:
        # Then it is not known how long a word waits for a processor.
        why = "processors may be called away to pass on messages"
        why_not = [
            one or (None if leaves_nothing([part], planned, last) else why)
            for part, one in zip(parts, why_not, strict=True)
        ]
    reason = next((why for why in why_not if why is not None), None)
    if reason is None:
        if leaves_nothing(parts, planned, last):
            return ends("no-op", "no word is left in a node's router when its own messages are through")
        return ends("msg-sync", "every node has moved a word by the time that any node is done")
    loose = [part for part, why in zip(parts, why_not, strict=True) if why is None]
    barrier = barrier_of(context, constraints, index, routed, None, loose)
    if not barrier.instances:
        return ends("msg-sync", "no word leaves its node")
    # With threads, the proofs of who may send in the next phase are made for barriers that have streams of their own. With two
    # schedules a word of the operators may still be waiting for a slot of the other.
    if structure.threads is None and not standing.beside(index) and not routed.second:
        own = _hijacked(barrier, made)
        most = PACKED if any(stream.packed for stream in routed.streams) else HIJACKED
        if own is not None and own.cycles <= most * cycles_of_barrier(context, barrier):
            why = f"{reason}; {own.words} words over streams of the phase tell that all are done"
            settle = own.spread + change_cycles(routed, at_run_time=_at_run_time(planned))
            hijacked = Ending("hijack", why, own.planned, own.cycles, settle)
            ending = closed(context, index, replace(made, part=None), hijacked)
            return Draft(ending, None, ending.cycles, spans)
    return needs(barrier, reason, tuple(loose))


def _hijacked(barrier: Operator, made: RoutedOperators) -> Hijacked | None:
    """Streams of the phase that can stand for its barrier; None if there are none."""
    implementations = tuple(one.implementation for one in made.planned)
    key, known = ClosingKey(barrier.label, barrier.instances, implementations), made.route.hijacked
    if key not in known:
        known[key] = hijack(barrier, made.planned, made.route.routed, made.route.wiring)
    return known[key]


def last_operators(structure: Structure, index: int) -> frozenset[str] | None:
    """Operators of a phase after which a node may leave it; None: any."""
    return structure.last[index] if structure.last else None


def with_barrier(
    context: PlanContext,
    constraints: Constraints,
    index: int,
    draft: Draft,
    wider: tuple[frozenset[int], ...] = (),
) -> PlannedPhase | None:
    """Route a draft again, with the barrier that closes it; None if that makes its implementations unsafe. ``wider``:
    more sets of nodes that the barrier has to join. Without room for the barrier that the context asks for one is taken that
    needs less.

    Raises
    ------
    RoutingError
        If there is no room for that either.
    """
    try:
        return _with_barrier(context, constraints, index, draft, wider)
    except RoutingError:
        if not context.closing:
            raise
    return with_barrier(replace(context, closing=context.closing - 1), constraints, index, draft, wider)


def _with_barrier(
    context: PlanContext, constraints: Constraints, index: int, draft: Draft, wider: tuple[frozenset[int], ...]
) -> PlannedPhase | None:
    assert draft.reason is not None
    phase, before, structure = context.structure.phases[index], draft.phase, context.structure
    barrier = barrier_of(context, constraints, index, before.routed, draft.part, draft.loose, wider)
    own = _streams_of_barrier(context, barrier, context.closing)
    if context.closing:
        refuse_many_streams([*before.routed.streams, *own], context.shape)
    streams = [*before.routed.streams, *own]
    span = range(len(streams) - len(own), len(streams))
    hops = hops_of(draft.part, draft.spans, span.start)
    route_again = route(context, constraints, index, streams, hops, before.routed)
    routed = route_again.routed
    implementations = tuple(one.implementation for one in before.operators)
    planned = plan_operators(context, phase, implementations, draft.spans, route_again)
    if planned is None:
        return None
    split = [
        frozenset(part)
        for part in parts_of(phase, routed)
        if not part.isdisjoint(barrier.nodes) and not any(part.issubset(i.nodes) for i in barrier.instances)
    ]
    if split:
        # With the barrier, words go other ways, through nodes outside the barrier: these have to join it.
        if len(wider) >= WIDENED:
            return None
        return _with_barrier(context, constraints, index, draft, (*wider, *split))
    left_out = [part for part in parts_of(phase, routed) if part.isdisjoint(barrier.nodes)]
    last = last_operators(structure, index)
    if any(why_not_loose(part, planned, routed, last) for part in left_out if len(part) > 1):
        # With the barrier the phase is routed otherwise, so that a part that needed no barrier needs one now.
        return _with_barrier(context, constraints, index, replace(draft, loose=()), ()) if draft.loose else None
    key, known = ClosingKey(barrier.label, barrier.instances), route_again.barriers
    if key not in known:
        closing = plan_operator(barrier, CLOSING[context.closing], span, routed, route_again.wiring)
        assert closing is not None
        known[key] = closing
    # Words that routers drop may still be on their way when all nodes have met.
    over = constraints.standing.ending(index, structure)
    closing = with_drain_delays(known[key], (*planned, *over), route_again.wiring, span)
    settle = settle_cycles(routed, span, at_run_time=_at_run_time(planned))
    settle += MASKED if constraints.standing.messages(index) else 0
    cycles = cycles_of_barrier(context, closing.operator)
    ending = Ending("barrier", draft.reason, closing, cycles, settle)
    return closed(context, index, RoutedOperators(planned, route_again, draft.spans, draft.part), ending)


def _at_run_time(planned: Iterable[PlannedOperator]) -> bool:
    """Do the nodes make the schedule of one of the operators at run time?"""
    return any(one.implementation.loading is Loading.RESCHEDULED for one in planned)


def _streams_of_barrier(context: PlanContext, barrier: Operator, closing: int = 0) -> list[Stream]:
    """Streams of a barrier that closes a phase: phases are closed by the same barrier again and again, with other schedule
    lengths and in other divisions."""
    key, known = ClosingKey(barrier.label, barrier.instances, closing=closing), context.memo.barriers
    if key not in known:
        known[key] = CLOSING[closing].streams(barrier, context.surroundings)
    return known[key]


def refuse_barrier(context: PlanContext, constraints: Constraints, index: int, draft: Draft) -> None:
    """Raise `RoutingError` if a draft cannot be routed with the barrier that closes it, whatever its routes, as the nodes have
    too few interface registers."""
    barrier = barrier_of(context, constraints, index, draft.phase.routed, draft.part, draft.loose)
    own = _streams_of_barrier(context, barrier)
    refuse_many_streams([*draft.phase.routed.streams, *own], context.shape)


def barrier_of(
    context: PlanContext,
    constraints: Constraints,
    index: int,
    routed: RoutedPhase,
    part: OnlinePart | None = None,
    loose: Collection[set[int]] = (),
    wider: Iterable[frozenset[int]] = (),
) -> Operator:
    """The barrier operator that closes a phase. It joins also nodes that words of later phases on the same wires can join.

    Parameters
    ----------
    part : OnlinePart or None
        Online streams of the phase, if the barrier has to wait for them.
    loose : collection of set of int
        Sets of nodes that leave the phase without the barrier.
    wider : iterable of frozenset of int
        More sets of nodes that have to meet.
    """
    phase = context.structure.phases[index]
    joined = chain.from_iterable(filter(None, constraints.joined.get(index, {}).values()))
    over = constraints.standing.ending(index, context.structure)
    ending = [set(instance.nodes) for one in over for instance in one.operator.instances]
    barrier = closing_barrier(phase, routed, [*map(set, joined), *map(set, wider), *ending], part, loose)
    # Instances in which no node has a part in the phase are dropped.
    touching = phase_nodes(phase, routed).union(*ending)
    return replace(barrier, instances=tuple(i for i in barrier.instances if not touching.isdisjoint(i.nodes)))


def cycles_of_barrier(context: PlanContext, barrier: Operator) -> float:
    """Cycles that a barrier takes each time that its phase is left, about."""
    across = [context.program.topology.across(instance.nodes) for instance in barrier.instances]
    return barrier_cycles(max(across, default=0), 0 if context.closing else context.period / 2)


def closed(context: PlanContext, index: int, made: RoutedOperators, ending: Ending) -> PlannedPhase:
    """The planned phase with its end and its predicted cycles."""
    phase, routed, wiring, part = context.structure.phases[index], made.route.routed, made.route.wiring, made.part
    nodes = phase_nodes(phase, routed)
    carrier = None
    cycles = operator_cycles(phase, made.planned, routed, context.surroundings, part)
    changing = leaving_cycles(phase, made.planned, routed, ending.technique)
    if ending.barrier is not None:
        changing += phase.exits * (ending.barrier_cycles + ending.settle)
        if ending.technique == "barrier":
            nodes |= ending.barrier.operator.nodes
            if part is not None:
                carrier = stands_for(part, wiring, made.spans[-1], context.program.topology)
    return PlannedPhase(
        phase_name(phase),
        made.planned,
        ending.barrier,
        routed,
        wiring,
        ending.technique,
        ending.reason,
        nodes,
        carrier,
        part,
        ending.settle,
        cycles + changing,
        changing,
        phase.exits,
    )
