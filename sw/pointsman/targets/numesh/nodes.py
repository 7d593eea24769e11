"""Image of each node: its phases with their schedules and annotations, and its part in each operator.

Every free slot in which it is allowed gets the reprogramming VFSM (Metcalf 1997, §7.1.5).
"""

from __future__ import annotations

from collections.abc import Iterable

from numesh.codes import REPROGRAM_VFSM, Codes
from pointsman.artifacts.images.images import NodeImage, NodeOperator, NodePhase, OnlineNode, Role
from pointsman.plan.conflicts.link_slots import command_gap, memberships, reprogram_slots
from pointsman.plan.online import online_node
from pointsman.plan.structure.phase_graph import END, START
from pointsman.routing.streams import RoutedPhase, largest_gap

from .allocation import Allocation
from .roles import RoleImages


class NodeImages:
    """The images of all nodes."""

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self.roles = RoleImages(allocation)
        self._next: dict[int, list[int]] = {}
        self._waits: dict[int, int] = {}

    def node(self, node: int) -> NodeImage:
        phases = tuple(self._node_phase(i, node) for i, nodes in enumerate(self.allocation.members) if node in nodes)
        operators = []
        for index, (phase, planned) in enumerate(self.allocation.operators):
            if node not in planned.roles:
                continue
            roles, chosen = self.roles.roles(index, node)
            instance = next(i for i in planned.operator.instances if node in i.nodes)
            operators.append(
                (
                    index,
                    NodeOperator(
                        roles,
                        chosen,
                        instance.nodes.index(node),
                        len(instance.nodes),
                        self._online_node(index, node, roles[0]),
                        self.allocation.enters[phase][node] if phase in self.allocation.enters else -1,
                    ),
                )
            )
        return NodeImage(phases, tuple(operators), self._ways(node, [part.phase for part in phases]))

    def _node_phase(self, index: int, node: int) -> NodePhase:
        phase = self.allocation.plan.phases[index]
        schedules = tuple(self._rows(index, one, node) for one in phase.routed.schedules)
        annotations = self.roles.annotated(index, node)
        for other in self.allocation.beside[index]:
            annotations += self.roles.annotated(other, node)
        settle: tuple[tuple[int, int], ...] = ()
        if phase.barrier is not None and node in phase.barrier.operator.nodes:
            again = {index} if node in self.allocation.plan.leaving.between_uses.get(index, ()) else set()
            after = {*self._successors(index), *again} - ({index} - again)
            if phase.settles is not None:
                # Later phases count too: a node may pass through the phases in between without delay.
                after = {s for s in phase.settles if node in self.allocation.members[s]} | again
            settle = tuple((s, phase.settle + self._slower(index)) for s in sorted(after))
        return NodePhase(
            index,
            schedules[0],
            tuple(sorted(annotations, key=lambda a: (a.pipeline, a.vfsm))),
            settle,
            *schedules[1:],
        )

    def _rows(self, index: int, routed: RoutedPhase, node: int) -> tuple[tuple[int, ...], ...]:
        """VFSMs of a node by slot and pipeline, in the schedule ``routed`` of a phase, which may have two."""
        rows = [[0] * self.allocation.plan.shape.pipelines for _ in routed.schedule[node]]
        here = self.allocation.vfsms[index].get(node)
        for own in range(self.allocation.plan.shape.pipelines):
            p = here.pipelines[own] if here else own
            for row, routed_row in zip(rows, routed.schedule[node], strict=True):
                if routed_row[own]:
                    assert here is not None  # the slot has a VFSM, so it has a number
                    row[p] = here.place(own, int(routed_row[own]))[1]
            for slot in reprogram_slots(routed, node, own):
                rows[slot][p] = REPROGRAM_VFSM
        for other, beside in zip(self.allocation.beside[index], routed.beside, strict=True):
            for chain in beside.chains:
                for vfsm in chain.vfsms:
                    if vfsm.node == node:
                        pipeline, number = self.allocation.place(other, vfsm)
                        for slot in vfsm.slots:
                            rows[slot][pipeline] = number
        return tuple(tuple(row) for row in rows)

    def _successors(self, index: int) -> list[int]:
        """Phases that some node may enter directly after this phase."""
        if index not in self._next:
            self._next[index] = self._find_successors(index)
        return self._next[index]

    def _find_successors(self, index: int) -> list[int]:
        found: set[int] = set()
        for members, nodes in memberships(self.allocation.members).items():
            if index in members:
                for node in self._unlike(nodes):
                    found |= {
                        s for s in self.allocation.plan.structure.graph_of(node).next_among(index, members) if s >= 0
                    }
        return sorted(found)

    def _unlike(self, nodes: Iterable[int]) -> list[int]:
        """A node of ``nodes`` for each different graph of phases: nodes with the same graph go the same ways."""
        return list({self.allocation.plan.structure.graph_of(node): node for node in nodes}.values())

    def _slower(self, index: int) -> int:
        """Cycles beyond the plan that a pointer command may wait at nodes where another pipeline replaces pipeline 0."""
        if index not in self._waits:
            self._waits[index] = self._find_slower(index)
        return self._waits[index]

    def _find_slower(self, index: int) -> int:
        routed, most = self.allocation.plan.phases[index].routed, 0
        for node, here in self.allocation.vfsms[index].items():
            if here.own(0) != 0:
                most = max(most, largest_gap(tuple(reprogram_slots(routed, node, here.own(0))), routed.period))
        return max(0, most - command_gap(routed)) * Codes(routed.shape).command_words

    def _ways(self, node: int, members: list[int]) -> tuple[tuple[int, int], ...]:
        """(phase, next phase) for all changes of a node, -1 for start and end; empty if the program has no threads."""
        structure = self.allocation.plan.structure
        if structure.threads is None:
            return ()
        graph = structure.graph_of(node)
        ways = {(p, s) for p in (START, *members) for s in graph.next_among(p, members)}
        return tuple(sorted((p, -1 if s == END else s) for p, s in ways))

    def _online_node(self, index: int, node: int, role: Role) -> OnlineNode | None:
        """The node's channels of online streams, if this operator is the phase's carrier of them."""
        phase = self.allocation.operators[index][0]
        part = self.allocation.phases[phase].part
        if part is None or self.allocation.carriers.get(phase) != index:
            return None
        registers = [lane.registers for lane in role.lanes]
        return online_node(part, node, registers, self.allocation.nodes)
