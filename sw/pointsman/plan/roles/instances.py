"""Roles of the nodes in an operator's instances; for instances that look alike they are worked out once.

For example, if the rows of a mesh are routed alike, a role in a row is the role in another row with nodes and streams
moved. Instances look alike if their nodes lie in the same way, their operands, routes and virtual registers are the
same, and no two instances share nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cached_property

from pointsman.operators import Implementation, RoleDraft, Wiring
from pointsman.operators.api.implementation import role
from pointsman.operators.api.operands import having_a_part, streams_by_instance
from pointsman.operators.api.roles import VfsmSetting
from pointsman.program.program import Instance, Operator
from pointsman.routing.streams import Place, RoutedPhase, RoutedVfsm, largest_gap


class Instances:
    """Roles by instance, node and value.

    Parameters
    ----------
    span : range
        Indices of the operator's streams in the routed phase.
    """

    def __init__(self, implementation: Implementation, operator: Operator, span: range, wiring: Wiring) -> None:
        self.implementation, self.operator, self.wiring = implementation, operator, wiring
        self.streams = streams_by_instance(operator, span, wiring.routed.streams)
        self._roles: dict[tuple[int, int, tuple[int, ...]], RoleDraft] = {}
        self._equal: dict[RoleDraft, RoleDraft] = {}
        self._decides: dict[tuple[int, tuple[int, ...]], tuple[Hashable, Mapping[int, Hashable]] | None] = {}
        """By instance and value, what `Implementation.decides` tells."""
        self._decided: dict[tuple[int, int, Hashable, Hashable] | None, RoleDraft] = {}
        self._moved: dict[tuple[int, int, int], RoleDraft] = {}
        """By instance, node and id() of a role in ``_equal``, that role moved."""
        self._passed: dict[int, set[int]] = {}

    def role(self, instance: int, node: int, value: tuple[int, ...]) -> RoleDraft:
        """What ``node`` does in ``instance`` for ``value``. A node has few different roles for many values: equal ones are one
        object, so that what is worked out from a role can be kept by its identity."""
        key = instance, node, value
        found = self._roles.get(key)
        if found is None:
            like = self.like[instance]
            if like == instance:
                found = self._own(instance, node, value)
            else:
                nodes, others = self.operator.instances[instance].nodes, self.operator.instances[like].nodes
                other = self.role(like, others[nodes.index(node)], value)
                moved = instance, node, id(other)
                found = self._moved.get(moved)
                if found is None:
                    found = self._moved[moved] = self._move(other, instance, node)
            self._roles[key] = found
        return found

    def _own(self, instance: int, node: int, value: tuple[int, ...]) -> RoleDraft:
        """The role of a node in an instance that looks like none before it."""
        decides = self.decides(instance, value)
        key = None if decides is None else (instance, node, decides[0], decides[1].get(node))
        if key in self._decided:
            return self._decided[key]
        found = role(self.implementation, self.operator, self.wiring, instance, node, value)
        found = self._equal.setdefault(found, found)
        if key is not None:
            self._decided[key] = found
        return found

    def decides(self, instance: int, value: tuple[int, ...]) -> tuple[Hashable, Mapping[int, Hashable]] | None:
        """What of ``value`` decides the roles in an instance that looks like none before it (`Implementation.decides`)."""
        key = instance, value
        if key not in self._decides:
            self._decides[key] = self.implementation.decides(self.operator, self.wiring, instance, value)
        return self._decides[key]

    @cached_property
    def distinct(self) -> list[int]:
        """Indices of instances that look like no instance before them."""
        return [i for i, like in enumerate(self.like) if like == i]

    def moving_nodes(self, instance: int) -> list[int]:
        """Nodes whose processors can have lanes in ``instance``, as its streams have registers there, ascending. An instance may
        name all nodes of the mesh and have a single stream."""
        return sorted({node for s in self.streams[instance] for node, *_ in self.wiring.registers_by_stream.get(s, ())})

    def nodes_of_words(self, instance: int) -> set[int]:
        """Nodes through which words of ``instance`` can pass; others have neither lanes nor settings."""
        if instance not in self._passed:
            passed = (chain.vfsms for s in self.streams[instance] for chain in self.wiring.routed.chains_of(s))
            nodes = {vfsm.node for vfsms in passed for vfsm in vfsms}
            self._passed[instance] = nodes.union(self.moving_nodes(instance))
        return self._passed[instance]

    def like_node(self, node: int) -> int:
        """A node that has the same roles but for its place in the network; ``node`` itself if there is no other."""
        return self._like_node.get(node, node)

    @cached_property
    def bystanders(self) -> dict[int, int]:
        """Nodes of the only instance that have no part in it and that its words do not pass, each with the first of them: they
        have the same roles. A stream between two nodes names the whole mesh as a rule."""
        if len(self.operator.instances) > 1:
            return {}
        part, nodes = having_a_part(self.operator, 0), self.operator.instances[0].nodes
        if len(part) == len(nodes):
            return {}
        others = [node for node in nodes if node not in part and node not in self.nodes_of_words(0)]
        return dict.fromkeys(others, min(others, default=0))

    @cached_property
    def _like_node(self) -> dict[int, int]:
        if len(self.distinct) == len(self.like):
            return self.bystanders
        instances = self.operator.instances
        return {
            node: other
            for i, like in enumerate(self.like)
            for node, other in zip(instances[i].nodes, instances[like].nodes, strict=True)
        }

    @cached_property
    def like(self) -> list[int]:
        """By instance, the index of the first instance that it looks like."""
        instances, routed = self.operator.instances, self.wiring.routed
        if len(instances) == 1:
            return [0]
        places = [place for instance in instances for place in instance.nodes]
        if len(places) != len(set(places)) or not routed.topology.has_coordinates or self._strays():
            return list(range(len(instances)))
        registers = self.wiring.registers_by_stream
        first: dict[object, int] = {}
        found = []
        for i, instance in enumerate(instances):
            own = self.streams[i]
            place = {node: k for k, node in enumerate(instance.nodes)}
            at = routed.topology.coordinates(instance.nodes[0])
            lies = tuple(
                tuple(x - y for x, y in zip(routed.topology.coordinates(node), at, strict=True))
                for node in instance.nodes
            )
            ends = tuple(
                (k, tuple(sorted((place[n], chain, end, number) for n, chain, end, number in registers.get(s, ()))))
                for k, s in enumerate(own)
            )
            key = (lies, instance.operands, shape_of(instance, own, routed), ends)
            found.append(first.setdefault(key, i))
        return found

    def _strays(self) -> bool:
        """Do words of an instance pass through nodes that are not in it?"""
        inside = {s: frozenset(self.operator.instances[i].nodes) for i, own in enumerate(self.streams) for s in own}
        return any(
            vfsm.node not in inside[chain.stream]
            for chain in self.wiring.routed.chains
            if chain.stream in inside
            for vfsm in chain.vfsms
        )

    def _move(self, draft: RoleDraft, instance: int, node: int) -> RoleDraft:
        """``draft``, a role in the instance that ``instance`` looks like, moved to ``node`` of ``instance``."""
        if not (draft.settings or draft.later or draft.each or draft.commands):
            return draft
        here = dict(zip(self.streams[self.like[instance]], self.streams[instance], strict=True))

        def moved(setting: VfsmSetting) -> VfsmSetting:
            v = setting.vfsm
            there = RoutedVfsm(node, v.pipeline, v.number, v.type, v.source, v.destination, v.slots, v.parent)
            return VfsmSetting(here[setting.stream], setting.chain, there)

        instances = self.operator.instances
        there = dict(zip(instances[self.like[instance]].nodes, instances[instance].nodes, strict=True))
        return replace(
            draft,
            settings=tuple(map(moved, draft.settings)),
            later=None if draft.later is None else tuple(map(moved, draft.later)),
            each=tuple(self._move(stage, instance, node) for stage in draft.each),
            commands=tuple(
                (register, moved(one)._replace(vfsm=one.vfsm._replace(node=there[one.vfsm.node])))
                for register, one in draft.commands
            ),
        )


def shape_of(instance: Instance, streams: list[int], routed: RoutedPhase) -> object:
    """The routes of an instance as a key that is equal for translated instances: nodes are named by their place in it."""
    return _chains(
        instance, streams, routed, lambda v: (v.pipeline, v.number, v.type, v.source, v.destination, v.slots)
    )


def turns_of(instance: Instance, streams: list[int], routed: RoutedPhase) -> object:
    """The routes of an instance as a key that is equal where words wait for each other, and for turns of VFSMs, alike: `shape_of`
    without pipelines and numbers of VFSMs, and of their slots only the largest gap."""

    def end(place: Place) -> tuple[str, int]:
        return place.kind, place.number if place.kind == "link" else 0

    return _chains(
        instance,
        streams,
        routed,
        lambda v: (v.type, end(v.source), end(v.destination), largest_gap(v.slots, routed.period), v.parent),
    )


def _chains(
    instance: Instance, streams: list[int], routed: RoutedPhase, told: Callable[[RoutedVfsm], tuple[object, ...]]
) -> object:
    """Chains of an instance, each VFSM by the place of its node in the instance and what is ``told`` of it."""
    place = {node: i for i, node in enumerate(instance.nodes)}
    return tuple(
        (k, chain.chain, tuple([(place.get(v.node, -1 - v.node), *told(v)) for v in chain.vfsms]))
        for k, stream in enumerate(streams)
        for chain in routed.chains_of(stream)
    )
