"""What every node does in an operator, once its streams are routed: roles for every value and stage, and delays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pointsman.cop.program import Instance, Operator
from pointsman.errors import PointsmanError
from pointsman.images.image import SYNC
from pointsman.operators import Implementation, RoleDraft, Wiring
from pointsman.operators.implementation import role, runtime_values
from pointsman.operators.online import Online
from pointsman.streams.stream import RoutedPhase

from .plan import PlannedOperator
from .progress import Termination, operator_graph, termination

State = tuple[tuple[int, ...], int]
"""A value and a stage."""


class PlanError(PointsmanError):
    """A program that cannot be planned on this network and shape."""


def plan_operator(
    operator: Operator, implementation: Implementation, span: range, routed: RoutedPhase, wiring: Wiring
) -> PlannedOperator | None:
    """Roles and delays of an operator; None if it rewrites the router at a time when words may be on the way.

    Parameters
    ----------
    span : range
        Its streams in the routed phase.
    """
    if isinstance(implementation, Online):
        nothing = {node: (RoleDraft("none"),) for node in sorted(operator.nodes)}
        return PlannedOperator(operator, implementation, ((),), nothing, {}, False, ())
    values = runtime_values(operator)
    stages = implementation.stages(operator)
    states = [(value, stage) for value in values for stage in range(stages)]
    drafts: dict[int, list[tuple[State, RoleDraft]]] = {}
    delays: dict[int, list[int]] = {}
    bound = implementation.traceable and not implementation.processor_bound
    seen: dict[object, Termination] = {}
    for i, instance in enumerate(operator.instances):
        own = [s for s in span if routed.streams[s].name.startswith(f"{operator.label}[{i}]")]
        for value in values:
            here = {node: role(implementation, operator, wiring, i, node, value) for node in instance.nodes}
            for node, draft in here.items():
                drafts.setdefault(node, []).extend(((value, s), _at_stage(draft, s)) for s in range(stages))
            if bound:
                found = _termination(operator, instance, value, here, own, routed, wiring, seen)
                if found is None:
                    bound = False
                    continue
                for node, delay in found.items():
                    delays.setdefault(node, []).append(delay)
    rewrites = any(draft.settings for own_drafts in drafts.values() for _, draft in own_drafts)
    safe = bound or implementation.processor_bound or implementation.synchronised
    if rewrites and (values != ((),) or stages > 1) and not safe:
        return None
    return PlannedOperator(
        operator,
        implementation,
        values,
        {node: _merge(operator, node, states, own_drafts) for node, own_drafts in drafts.items()},
        {node: tuple(d) for node, d in delays.items()} if bound else {},
        bound,
        tuple(span),
        stages,
        implementation.drain(operator, wiring),
    )


def _at_stage(draft: RoleDraft, stage: int) -> RoleDraft:
    """A role as it is in a stage: with its own I/O, or after that."""
    if draft.each:
        return draft.each[stage]
    if draft.later is None or stage <= draft.stage:
        return draft
    meeting = tuple(lane for lane in draft.lanes if lane.turn == SYNC)
    return replace(draft, lanes=meeting, settings=draft.later, combines=())


def _termination(
    operator: Operator,
    instance: Instance,
    value: tuple[int, ...],
    drafts: Mapping[int, RoleDraft],
    streams: list[int],
    routed: RoutedPhase,
    wiring: Wiring,
    seen: dict[object, Termination],
) -> dict[int, int] | None:
    """Delays by node, or None if the operator is not message-bound. ``seen`` keeps what translated instances share."""
    if len(instance.nodes) == 1 or all(draft.local for draft in drafts.values()):
        return dict.fromkeys(instance.nodes, 0)
    key = (value, _shape_of(instance, streams, routed))
    if key not in seen:
        lanes = {node: draft.lanes for node, draft in drafts.items()}
        settings = {node: draft.settings for node, draft in drafts.items()}
        found = termination(operator_graph(wiring, lanes, settings, streams), lanes, operator.m, instance.nodes)
        by_place = {instance.nodes.index(node): delay for node, delay in found.delays.items()}
        seen[key] = Termination(found.message_bound, by_place)
    result = seen[key]
    if not result.message_bound:
        return None
    return {instance.nodes[position]: delay for position, delay in result.delays.items()}


def _shape_of(instance: Instance, streams: list[int], routed: RoutedPhase) -> object:
    """What the routes of an instance look like, nodes told by their place in it: equal for translated instances."""
    place = {node: i for i, node in enumerate(instance.nodes)}
    first = streams[0] if streams else 0
    return tuple(
        (
            chain.stream - first,
            chain.chain,
            tuple(
                (place.get(v.node, -1 - v.node), v.pipeline, v.number, v.type, v.source, v.destination, v.slots)
                for v in chain.vfsms
            ),
        )
        for chain in routed.chains
        if chain.stream in streams
    )


def _merge(
    operator: Operator, node: int, states: list[State], drafts: list[tuple[State, RoleDraft]]
) -> tuple[RoleDraft, ...]:
    """One role per value for a node that may take part in several instances."""
    merged = []
    for state in states:
        own = [draft for v, draft in drafts if v == state and draft.kind != "none"]
        if not own:
            own = [next(draft for v, draft in drafts if v == state)]
        if len(own) == 1:
            merged.append(own[0])
            continue
        kinds = sorted(draft.kind for draft in own)
        if kinds != ["read", "write"] or any(draft.local for draft in own):
            raise PlanError(
                f"{operator.position}: node {node} has more than one part in operator '{operator.label}'",
                hint="instances of one operator may not share a reading or a writing node",
            )
        lanes = tuple(lane for draft in own for lane in draft.lanes)
        settings = tuple(setting for draft in own for setting in draft.settings)
        merged.append(replace(own[0], kind="both", lanes=lanes, settings=settings))
    return tuple(merged)
