"""Places in the hardware for a plan: schedule blocks, VFSMs, interface registers, numbers of operators.

Every phase has a block of the schedule memory, every VFSM and interface register its number. Phases share schedule blocks and
VFSMs where there are not enough (Metcalf 1997, §5.4). Leaves alone: annotations of the VFSMs (``roles``).
"""

from __future__ import annotations

from collections import defaultdict

from numesh.codes import Codes, MoveType
from pointsman.operators.messages.online import Online, destination_queues
from pointsman.plan.memory.capacity import refuse_few_registers
from pointsman.plan.memory.kept_registers import keeps_registers
from pointsman.plan.memory.schedule_blocks import schedule_blocks, second_blocks
from pointsman.plan.memory.vfsm_numbers import reserved, reserved_numbers, vfsm_numbers
from pointsman.plan.plan import Plan, PlannedOperator
from pointsman.routing.streams import RoutedChain, RoutedVfsm

Key = tuple[int, int, int, int, int]
"""Stream, chain, node, pipeline and virtual number of a VFSM."""


def key_of(stream: int, chain: int, vfsm: RoutedVfsm) -> Key:
    """That of a VFSM."""
    return stream, chain, vfsm.node, vfsm.pipeline, vfsm.number


class Allocation:
    """The places of a plan's phases, VFSMs, registers and operators in the hardware.

    Raises
    ------
    RefusedError, CrowdedError
        If a node runs out of interface registers or schedule memory, or of VFSMs.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.codes = Codes(plan.shape)
        self.nodes = plan.topology.nodes
        self.phases = [*plan.phases, *(one.planned for one in plan.continuing)]
        """The program's phases, then a phase for each operator that continues."""
        self.legs = [self._legs(i) for i in range(len(self.phases))]
        self.at = [self._at(i) for i in range(len(self.phases))]
        self.enters = {len(plan.phases) + i: one.enters for i, one in enumerate(plan.continuing)}
        self.beside = [
            [len(plan.phases) + i for i, one in enumerate(plan.continuing) if p in one.phases]
            for p in range(len(plan.phases))
        ]
        """By phase, indices in ``phases`` of the operators that continue through it."""
        self.members = plan.members()
        """By phase, the nodes that enter it."""
        self.blocks = schedule_blocks(plan.structure, plan.period, plan.shape)
        self.second_blocks = second_blocks(plan.structure, plan.phases, plan.period, plan.shape)
        """Blocks of second schedules by phase."""
        continuing = [one.planned for one in plan.continuing]
        self.vfsms = [
            *vfsm_numbers(plan.phases, plan.structure, plan.shape, reserved(continuing, plan.shape)),
            *reserved_numbers(continuing, plan.shape),
        ]
        self.first_register = self._register_bases()
        # (phase, operator): the program's operators in order, then closing barriers, then carriers of online streams.
        self.operators: list[tuple[int, PlannedOperator]] = [
            (p, operator) for p, phase in enumerate(self.phases) for operator in phase.operators
        ]
        self.barriers: dict[int, int] = {}
        for p, phase in enumerate(plan.phases):
            if phase.barrier is not None:
                self.barriers[p] = len(self.operators)
                self.operators.append((p, phase.barrier))
        self.carriers: dict[int, int] = {}
        """By phase: index of its carrier, the operator that has the lanes of its online streams."""
        for p, phase in enumerate(self.phases):
            if phase.online is not None:
                self.carriers[p] = len(self.operators)
                self.operators.append((p, phase.online))
        self.queues = destination_queues(
            [
                (index, p, planned.operator, planned.implementation.way)
                for index, (p, planned) in enumerate(self.operators)
                if isinstance(planned.implementation, Online)
            ]
        )
        """By operator: destination queues of its channels."""

    def _register_bases(self) -> list[dict[int, int]]:
        """For each phase and node, the offset from virtual to real register numbers.

        A phase that nodes leave at different times may have to keep its registers: words of its next use, sent by a neighbour
        that is ahead, wait there while this node is still in its present use. All other phases share registers.
        """
        kept: dict[int, int] = defaultdict(lambda: self.plan.shape.pipelines)
        keeps = [*keeps_registers(self.plan.structure, self.plan.phases), *(True for _ in self.plan.continuing)]
        refuse_few_registers(self.phases, self.plan.shape, keeps)
        ordered = sorted(zip(self.phases, keeps, strict=True), key=lambda pair: not pair[1])
        by_phase: dict[int, dict[int, int]] = {}
        for phase, keep in ordered:
            base = {}
            for node, count in phase.wiring.registers_used.items():
                base[node] = kept[node]
                if keep:
                    kept[node] += count
            by_phase[id(phase)] = base
        return [by_phase[id(phase)] for phase in self.phases]

    def register(self, phase: int, node: int, virtual: int) -> int:
        return self.first_register[phase][node] + virtual

    def place(self, phase: int, vfsm: RoutedVfsm) -> tuple[int, int]:
        """Pipeline and number of a VFSM at its node."""
        return self.vfsms[phase][vfsm.node].place(vfsm.pipeline, vfsm.number)

    def _legs(self, phase: int) -> dict[Key, tuple[RoutedVfsm, ...]]:
        """For each VFSM of a phase, the VFSMs that are fork legs of it, as routed."""
        found: dict[Key, tuple[RoutedVfsm, ...]] = {}
        for chain in self.phases[phase].routed.chains:
            for i, vfsm in enumerate(chain.vfsms):
                found[key_of(chain.stream, chain.chain, vfsm)] = tuple(
                    other for other in chain.vfsms if other.parent == i and other.type == MoveType.FORK
                )
        return found

    def _at(self, phase: int) -> dict[int, list[tuple[RoutedChain, RoutedVfsm]]]:
        """The VFSMs of a phase by node."""
        found: dict[int, list[tuple[RoutedChain, RoutedVfsm]]] = {}
        for chain in self.phases[phase].routed.chains:
            for vfsm in chain.vfsms:
                found.setdefault(vfsm.node, []).append((chain, vfsm))
        return found

    def continues(self, phase: int) -> tuple[int, ...]:
        """Phases through which operator ``phase`` (an index in ``phases``) continues; empty for the program's phases."""
        first = len(self.plan.phases)
        return self.plan.continuing[phase - first].phases if phase >= first else ()
