"""Routed phases -> the board on which a timeline is played: VFSMs, which VFSMs take words of which others, slots, registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from numesh.codes import MoveType
from pointsman.operators import RoleDraft
from pointsman.operators.api.operands import rounds_between_values
from pointsman.operators.api.roles import VfsmSetting
from pointsman.plan.memory.vfsm_numbers import VfsmMap, reserved, vfsm_numbers
from pointsman.plan.plan import Plan, PlannedOperator, PlannedPhase
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.streams import RoutedPhase, RoutedVfsm

from .kernel import BUFFER, LEG, LINK, NOTHING, REGISTER, VOID, TimelineBoard

Key = tuple[int, int, int, int, int, int]
"""Phase, stream, chain, node, pipeline and virtual number of a VFSM."""
Row = tuple[int, int, int, int, int, int]


class BoardNumbers:
    """Numbers for all VFSMs and registers of a plan. Here no two phases share any; that they share some at the nodes
    makes no difference to cycles but for loads (``memories``)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.parts: list[PlannedPhase] = [*plan.phases, *(one.planned for one in plan.continuing)]
        """Phases, then each continuing operator as if it were a phase: its VFSMs are scheduled in all of its phases."""
        self.nodes = plan.topology.nodes
        self.pipelines = plan.shape.pipelines
        self.loader = len(plan.phases)
        asking = [p for p, phase in enumerate(plan.phases) if phase.routed.second]
        self.second = {p: self.loader + 1 + k for k, p in enumerate(asking)}
        """By phase with two schedules, the number under which the second is on the board, as if it were a phase."""
        self.number: dict[Key, int] = {}
        self.place: list[tuple[int, RoutedVfsm, int, int]] = []
        """By number, less ``commands``: phase, VFSM as routed, stream and chain."""
        self._by_buffer: dict[tuple[int, int, int, int], int] = {}
        self.rows: dict[tuple[int, int], dict[int, Row]] = {}
        """By phase and id() of a role, the rows that the role sets, as far as they have been asked for."""
        self._parent: dict[int, int] = {}
        self._legs: dict[int, list[int]] = {}
        first = self.nodes * self.pipelines
        self.commands = first
        """The first VFSMs and registers, as many as this, are those of commands, by node and pipeline."""
        self._first_register: list[dict[int, int]] = []
        registers = first
        owners = [node for node in range(self.nodes) for _ in range(self.pipelines)]
        for p, phase in enumerate(self.parts):
            bases = {}
            for node, count in sorted(phase.wiring.registers_used.items()):
                bases[node] = registers
                registers += count
                owners += [node] * count
            self._first_register.append(bases)
            for chain in phase.routed.chains:
                numbers = []
                for vfsm in chain.vfsms:
                    number = first + len(self.place)
                    numbers.append(number)
                    self.place.append((p, vfsm, chain.stream, chain.chain))
                    key = (p, chain.stream, chain.chain, vfsm.node, vfsm.pipeline, vfsm.number)
                    self.number[key] = number
                    self._by_buffer[p, vfsm.node, vfsm.pipeline, vfsm.number] = number
                    if vfsm.parent >= 0:
                        self._parent[number] = numbers[vfsm.parent]
                        if vfsm.type == MoveType.FORK:
                            self._legs.setdefault(numbers[vfsm.parent], []).append(number)
        self.registers = registers
        self.owner = np.array(owners, np.int64)
        """By register, its node."""
        self.vfsms = first + len(self.place)

    def register(self, phase: int, node: int, virtual: int) -> int:
        return self._first_register[phase][node] + virtual

    def first_register(self, phase: int, node: int) -> int:
        """Number of the first virtual register of a node in a phase."""
        return self._first_register[phase][node]

    def command(self, node: int, pipeline: int) -> int:
        """Number of a pipeline's command register, and of the VFSM that takes its words."""
        return node * self.pipelines + pipeline

    def pipeline(self, vfsm: int) -> int:
        """Pipeline of a VFSM of an operator."""
        return self.place[vfsm - self.commands][1].pipeline

    def setting(self, phase: int, setting: VfsmSetting) -> tuple[int, Row]:
        """Number of the VFSM that is set, and its row on the board."""
        v = setting.vfsm
        number = self.number[phase, setting.stream, setting.chain, v.node, v.pipeline, v.number]
        return number, self._row(number, phase, setting.stream, setting.chain, v)

    def _row(self, number: int, phase: int, stream: int, chain: int, v: RoutedVfsm) -> Row:
        def place(kind: str, virtual: int, end: str) -> tuple[int, int]:
            match kind:
                case "link":
                    return (LEG if v.type == MoveType.FORK and end == "from" else LINK), 0
                case "buffer":
                    return BUFFER, self._by_buffer[phase, v.node, v.pipeline, virtual]
                case "register":
                    return REGISTER, self.register(phase, v.node, virtual)
                case "inject" | "deliver":
                    wiring = self.parts[phase].wiring
                    return REGISTER, self.register(phase, v.node, wiring.register(v.node, stream, chain, kind))
                case "command":
                    return REGISTER, self.command(v.node, virtual)
                case "null":
                    return VOID, 0
            return NOTHING, 0

        came = place(v.source.kind, v.source.number, "from")
        goes = place(v.destination.kind, v.destination.number, "to")
        return (*came, *goes, int(v.type == MoveType.COPY), int(v.type == MoveType.BLIND))

    def board(self, standing: Iterable[tuple[int, Row]]) -> TimelineBoard:
        """The board before the first step. ``standing``: VFSMs, with their rows, that differ from the routed ones."""
        vfsms = self._routed_board.vfsms.copy()
        for number, row in standing:
            vfsms[number] = row
        return self._routed_board._replace(vfsms=vfsms)

    @cached_property
    def _routed_board(self) -> TimelineBoard:
        """The board with the VFSMs as they were routed."""
        vfsms = np.zeros((self.vfsms, 6), np.int64)
        for command in range(self.commands):
            vfsms[command] = REGISTER, command, VOID, 0, 0, 0
        for number, (phase, vfsm, stream, chain) in enumerate(self.place, self.commands):
            vfsms[number] = self._row(number, phase, stream, chain, vfsm)
        taken: list[list[int]] = [[] for _ in range(self.vfsms)]
        for number, parent in self._parent.items():
            taken[parent].append(number)
        children, first_child = _flat(taken)
        slots, first_slot = _flat(self._slots())
        return TimelineBoard(
            vfsms,
            children,
            first_child,
            slots,
            first_slot,
            self.owner,
            np.array([*np.repeat(range(self.nodes), self.pipelines), *(one.node for _, one, _, _ in self.place)]),
            np.array([*np.tile(range(self.pipelines), self.nodes), *(one.pipeline for _, one, _, _ in self.place)]),
            self.registers,
            self.pipelines,
            self.plan.period,
        )

    def _slots(self) -> list[list[int]]:
        """VFSMs by phase, slot and node; second schedules come after the loader."""
        period, nodes = self.plan.period, self.nodes
        rows: list[list[int]] = [[] for _ in range((self.loader + 1 + len(self.second)) * period * nodes)]
        for number, (part, vfsm, _, _) in enumerate(self.place, self.commands):
            if part < self.loader:
                for slot in vfsm.slots:
                    rows[(part * period + slot) * nodes + vfsm.node].append(number)
        for part, one in enumerate(self.plan.continuing, self.loader):
            for phase in one.phases:
                # The VFSMs of the operator's first route, perhaps in other slots.
                beside = goes_on(one.planned.routed, self.plan.phases[phase].routed.beside)
                assert beside is not None
                for chain in beside.chains:
                    for vfsm in chain.vfsms:
                        number = self.number[part, chain.stream, chain.chain, vfsm.node, vfsm.pipeline, vfsm.number]
                        for slot in vfsm.slots:
                            rows[(phase * period + slot) * nodes + vfsm.node].append(number)
        for p, row in self.second.items():
            for chain in self.plan.phases[p].routed.second:
                for vfsm in chain.vfsms:
                    number = self.number[p, chain.stream, chain.chain, vfsm.node, vfsm.pipeline, vfsm.number]
                    for slot in vfsm.slots:
                        rows[(row * period + slot) * nodes + vfsm.node].append(number)
        for p, free in enumerate(self.command_slots):
            for node, slot, pipeline in np.argwhere(free).tolist():
                rows[(p * period + slot) * nodes + node].append(self.command(node, pipeline))
        for p, row in self.second.items():
            free = _command_slots(self.plan.phases[p].routed.schedules[1])
            for node, slot, pipeline in np.argwhere(free).tolist():
                rows[(row * period + slot) * nodes + node].append(self.command(node, pipeline))
        for slot in range(period):
            for node in range(nodes):
                rows[(self.loader * period + slot) * nodes + node] = [
                    self.command(node, pipeline) for pipeline in range(self.pipelines)
                ]
        return rows

    @cached_property
    def maps(self) -> list[dict[int, VfsmMap]]:
        """By phase and node, where its VFSMs are in the memories.

        Raises
        ------
        PlanError
            If they have no room.
        """
        standing = reserved([one.planned for one in self.plan.continuing], self.plan.shape)
        return vfsm_numbers(self.plan.phases, self.plan.structure, self.plan.shape, standing)

    @cached_property
    def command_slots(self) -> list[np.ndarray]:
        """By phase, an array node x slot x pipeline: does the pipeline take command words (the rule of
        `pointsman.plan.conflicts.link_slots.reprogram_slots`, for all nodes at once)?"""
        return [_command_slots(phase.routed, *phase.routed.beside) for phase in self.plan.phases]

    @cached_property
    def n_command_slots(self) -> list[list[list[int]]]:
        """By phase, node and pipeline, the number of ``command_slots``."""
        return [free.sum(axis=1).tolist() for free in self.command_slots]


def _command_slots(*parts: RoutedPhase) -> np.ndarray:
    taken = np.zeros(parts[0].schedule.shape, bool)
    delivers = np.zeros(parts[0].schedule.shape, bool)
    for routed in parts:
        taken |= routed.schedule != 0
        for chain in routed.chains:
            for vfsm in chain.vfsms:
                if vfsm.destination.kind == "deliver":
                    delivers[vfsm.node, list(vfsm.slots), vfsm.pipeline] = True
    free: np.ndarray = ~taken & ~np.roll(delivers, 1, axis=1)
    return free


def _flat(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    first = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=first[1:])
    return np.array([number for row in rows for number in row], np.int64), first


class NumberedOperators:
    """All operators of a plan by number, without the barriers that close phases."""

    def __init__(self, phases: Sequence[PlannedPhase]) -> None:
        self.operators: list[tuple[int, PlannedOperator]] = [
            (p, one) for p, phase in enumerate(phases) for one in phase.operators
        ]
        self._roles: dict[tuple[int, int, int, int], RoleDraft] = {}

    def role(self, number: int, node: int, value: int, stage: int) -> RoleDraft:
        """Role of a node in operator ``number``; ``value``: index of the run-time value."""
        key = number, node, value, stage
        found = self._roles.get(key)
        if found is None:
            one = self.operators[number][1]
            found = self._roles[key] = one.role(node, value * one.stages + stage)
        return found

    def block(self, number: int) -> int:
        """Number of rounds after which an operator's run-time values change."""
        return rounds_between_values(self.operators[number][1].operator)
