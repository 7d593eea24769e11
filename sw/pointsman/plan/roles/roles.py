"""What every node does in an operator once its streams are routed: roles for every run-time value and stage, and delays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from pointsman.artifacts.images.images import SYNC
from pointsman.operators import Implementation, RoleDraft, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import having_a_part, runtime_values, taking_part
from pointsman.plan.errors import PlanError
from pointsman.plan.plan import LazyRoles, PlannedOperator
from pointsman.plan.termination.marked_graph import operator_graph, termination
from pointsman.program.program import Operator
from pointsman.routing.streams import RoutedPhase

from .instances import Instances, turns_of


def plan_operator(
    operator: Operator, implementation: Implementation, span: range, routed: RoutedPhase, wiring: Wiring
) -> PlannedOperator | None:
    """Roles and delays of an operator; None if it would rewrite the router while words may be on their way.

    Parameters
    ----------
    span : range
        Indices of the operator's streams in the routed phase.
    """
    if implementation.loading is Loading.ONLINE:
        nothing = {node: (RoleDraft("none"),) for node in sorted(operator.nodes)}
        return PlannedOperator(operator, implementation, ((),), nothing, {}, False, ())
    values = runtime_values(operator)
    stages = implementation.stages(operator)
    instances = Instances(implementation, operator, span, wiring)
    delays: dict[int, list[int]] = {}
    bound = clear = implementation.traceable
    seen: dict[object, _Ending] = {}
    silent: set[int] = set()
    for i, instance in enumerate(operator.instances) if bound else ():
        like = instances.like[i]
        if like != i:
            # An instance ends as the instance that it looks like.
            others = operator.instances[like].nodes
            for node, other in zip(instance.nodes, others, strict=True):
                if other in delays:
                    delays[node] = delays[other]
                if other in silent:
                    silent.add(node)
            continue
        own = instances.streams[i]
        alike = len(instance.nodes), instance.operands, taking_part(operator, i), turns_of(instance, own, routed)
        for value in values:
            # Roles of instances that end alike need not be made here: there is one for each node and value.
            key = value, alike
            if key not in seen:
                seen[key] = _ending(instances, i, value, own, wiring)
            found = seen[key]
            bound, clear = bound and found.message_bound, clear and found.clear
            silent |= {instance.nodes[place] for place in found.silent}
            for place, delay in found.delays.items():
                delays.setdefault(instance.nodes[place], []).append(delay)
            if not bound and not clear:
                break
        if not bound and not clear:
            break
    safe = bound or implementation.processor_bound or implementation.loading.synchronised
    if (values != ((),) or stages > 1) and not safe and (stages > 1 or _rewrites(operator, instances, values)):
        return None
    maker = _Maker(instances, values, stages)
    return PlannedOperator(
        operator,
        implementation,
        values,
        LazyRoles(operator.nodes, len(values) * stages, maker, instances.like_node, maker.all_states),
        {node: tuple(d) for node, d in delays.items()} if bound else {},
        bound,
        tuple(span),
        stages,
        implementation.drain(operator, wiring),
        _abreast(instances, values),
        clear
        if implementation.traceable
        else implementation.processor_bound and not _passes_idle(instances, values, routed),
        frozenset(silent),
    )


def _rewrites(operator: Operator, instances: Instances, values: tuple[tuple[int, ...], ...]) -> bool:
    """Does a load function of any node rewrite the router for any value?"""
    return any(
        instances.role(i, node, value).settings
        for i in instances.distinct
        for node in operator.instances[i].nodes
        for value in values
    )


def _passes_idle(instances: Instances, values: tuple[tuple[int, ...], ...], routed: RoutedPhase) -> bool:
    """Do words of the operator pass through nodes of it that move none? Their functions tell nothing of these words."""
    for i in instances.distinct:
        chains = (chain for stream in instances.streams[i] for chain in routed.chains_of(stream))
        through = {vfsm.node for chain in chains for vfsm in chain.vfsms}
        nodes = through.intersection(instances.operator.instances[i].nodes)
        if any(not instances.role(i, node, value).lanes for node in nodes for value in values):
            return True
    return False


class _Maker:
    """Makes the role of a node for a state, the number of a value and stage."""

    def __init__(self, instances: Instances, values: tuple[tuple[int, ...], ...], stages: int) -> None:
        self.instances, self.stages, self.values = instances, stages, values

    @cached_property
    def _parts(self) -> dict[int, list[int]]:
        """By node that has a part in some instance, the indices of these instances."""
        found: dict[int, list[int]] = {}
        for i in range(len(self.instances.operator.instances)):
            for node in having_a_part(self.instances.operator, i):
                found.setdefault(node, []).append(i)
        return found

    def _of(self, node: int) -> list[int]:
        """Indices of the instances in which a node has a part, or else of the first instance that it is in."""
        instances = self.instances.operator.instances
        return self._parts.get(node) or [next(i for i, instance in enumerate(instances) if node in instance.nodes)]

    def __call__(self, node: int, state: int) -> RoleDraft:
        node = self.instances.bystanders.get(node, node)
        value, stage = self.values[state // self.stages], state % self.stages
        drafts = [at_stage(self.instances.role(i, node, value), stage) for i in self._of(node)]
        return merged(self.instances.operator, node, drafts)

    def all_states(self, node: int) -> list[RoleDraft] | None:
        """Roles of a node in all states, made once for all values that decide the same; None if the values are to be asked one by
        one."""
        (i, *others) = self._of(node)
        if others or self.instances.like[i] != i or self.stages > 1:
            return None
        made: dict[object, RoleDraft] = {}
        found = []
        for state, value in enumerate(self.values):
            decides = self.instances.decides(i, value)
            if decides is None:
                return None
            key = decides[0], decides[1].get(node)
            if key not in made:
                made[key] = self(node, state)
            found.append(made[key])
        return found


def _abreast(instances: Instances, values: tuple[tuple[int, ...], ...]) -> int:
    """Most lanes that move in a single step of a call, over the first, a middle and the last value. Two lanes that
    move half a message each count as one."""
    most = 1
    for i in instances.distinct:
        nodes = instances.moving_nodes(i)
        for value in {values[0], values[len(values) // 2], values[-1]}:
            for node in nodes:
                lanes = instances.role(i, node, value).lanes
                if len(lanes) <= most:
                    continue
                steps: Counter[tuple[int, int]] = Counter()
                for lane in lanes:
                    if lane.turn != SYNC:
                        steps[lane.turn, lane.step] += 2 if lane.half is None else 1
                most = max([most, *(-(-count // 2) for count in steps.values())])
    return most


def at_stage(draft: RoleDraft, stage: int) -> RoleDraft:
    """A role as it is in ``stage``: up to `RoleDraft.stage` with its I/O, after that with its ``later`` settings only."""
    if draft.each:
        return draft.each[stage]
    if draft.later is None or stage <= draft.stage:
        return draft
    meeting = tuple(lane for lane in draft.lanes if lane.turn == SYNC)
    return replace(draft, lanes=meeting, settings=draft.later, combines=())


class _Ending(NamedTuple):
    """How an instance ends, its nodes named by their places in it."""

    message_bound: bool
    clear: bool
    delays: Mapping[int, int]
    silent: frozenset[int]
    """Nodes that move no word but to meet."""


def _ending(instances: Instances, i: int, value: tuple[int, ...], streams: list[int], wiring: Wiring) -> _Ending:
    operator, nodes = instances.operator, instances.operator.instances[i].nodes
    place = {node: k for k, node in enumerate(nodes)}
    # A stream between two nodes names the whole mesh as a rule: roles of nodes that its words do not pass are empty.
    passed = instances.nodes_of_words(i).intersection(nodes) or nodes
    drafts = {node: instances.role(i, node, value) for node in nodes if node in passed}
    moving = {node for node, draft in drafts.items() if any(lane.turn != SYNC for lane in draft.lanes)}
    silent = frozenset(place[node] for node in nodes if node not in moving)
    if len(nodes) == 1 or all(draft.local for draft in drafts.values()):
        return _Ending(True, True, dict.fromkeys(range(len(nodes)), 0), silent)
    lengths = {lane.words for draft in drafts.values() for lane in draft.lanes}
    if len(lengths) > 1:
        return _Ending(False, False, {}, silent)
    words = next(iter(lengths), None) or min(
        (lane.count(operator.m) for draft in drafts.values() for lane in draft.lanes), default=operator.m
    )
    lanes = {node: drafts[node].lanes if node in drafts else () for node in nodes}
    settings = {node: draft.settings for node, draft in drafts.items()}
    found = termination(operator_graph(wiring, lanes, settings, streams), lanes, words, nodes)
    return _Ending(
        found.message_bound, found.clear, {place[node]: delay for node, delay in found.delays.items()}, silent
    )


def merged(operator: Operator, node: int, drafts: list[RoleDraft]) -> RoleDraft:
    """The role of a node that may take part in several instances, each with its own draft."""
    own = [draft for draft in drafts if draft.kind != "none"] or drafts[:1]
    if len(own) == 1:
        return own[0]
    kinds = sorted(draft.kind for draft in own)
    if kinds != ["read", "write"] or any(draft.local for draft in own):
        raise PlanError(
            f"{operator.position}: node {node} has more than one part in operator '{operator.label}'",
            hint="instances of one operator may not share a reading or a writing node",
        )
    lanes = tuple(lane for draft in own for lane in draft.lanes)
    settings = tuple(setting for draft in own for setting in draft.settings)
    return replace(own[0], kind="both", lanes=lanes, settings=settings)
