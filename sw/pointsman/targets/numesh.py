"""Plan -> Images for the mesh of scheduled routers.

Takes a Plan. Gives Images: every phase has a block of the schedule memory, every VFSM and interface register its
number, every free slot that may hold it the reprogramming VFSM (Metcalf 1997, §7.1.5). Phases share schedule blocks and
VFSMs where there are not enough (§5.4); the run time loads what is not there. A program that does not fit is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from numesh.codes import REPROGRAM_VFSM, Annotation, Codes, MoveType
from pointsman.errors import PointsmanError
from pointsman.garbage import seldom_collected
from pointsman.images.image import (
    Images,
    LaneImage,
    NodeImage,
    NodeOperator,
    NodePhase,
    OnlineNode,
    OnlineOperator,
    OperatorImage,
    PhaseImage,
    Promise,
    ReplacedImage,
    Rewrite,
    Role,
)
from pointsman.operators import RoleDraft, VfsmSetting
from pointsman.operators.implementation import function_name, runtime_operands
from pointsman.operators.online import Online, destination_queues, for_image
from pointsman.plan.dependencies import keeping
from pointsman.plan.online import online_node
from pointsman.plan.passages import passages
from pointsman.plan.plan import Plan, PlannedOperator
from pointsman.plan.structure import END, START, schedule_blocks
from pointsman.plan.vfsms import reserved, reserved_numbers, vfsm_numbers
from pointsman.plan.wires import command_gap, memberships, reprogram_slots
from pointsman.streams.stream import Place, RoutedChain, RoutedPhase, RoutedVfsm, largest_gap

from .ways import COMMAND, Follower


class FitError(PointsmanError):
    """A program that needs more of a router than there is."""


@seldom_collected
def make_images(plan: Plan) -> Images:
    """Give every part of a plan its place in the hardware.

    Raises
    ------
    FitError
        If a node runs out of VFSMs, interface registers or schedule memory.
    """
    return _Allocator(plan).images()


LOAD_OVERHEAD = 8
"""Cycles from the last command word to its effect, and for registers that make each other wait."""

_Key = tuple[int, int, int, int, int]
"""Stream, chain, node, pipeline and virtual number of a VFSM."""


def _key(stream: int, chain: int, vfsm: RoutedVfsm) -> _Key:
    return stream, chain, vfsm.node, vfsm.pipeline, vfsm.number


class _Allocator:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.codes = Codes(plan.shape)
        self.nodes = plan.topology.nodes
        self.phases = [*plan.phases, *(one.planned for one in plan.continuing)]
        """Those of the program, then each operator that continues as if it were one."""
        self.legs = [self._legs(i) for i in range(len(self.phases))]
        self.at = [self._at(i) for i in range(len(self.phases))]
        self.enters = {len(plan.phases) + i: one.enters for i, one in enumerate(plan.continuing)}
        self.beside = [
            [len(plan.phases) + i for i, one in enumerate(plan.continuing) if p in one.phases]
            for p in range(len(plan.phases))
        ]
        """By phase, what continues through it."""
        self.members = plan.members()
        """By phase, the nodes that come to it."""
        self.blocks = schedule_blocks(plan.structure, plan.period, plan.shape)
        self.second_blocks = self._second_blocks()
        continuing = [one.planned for one in plan.continuing]
        self.vfsms = [
            *vfsm_numbers(plan.phases, plan.structure, plan.shape, reserved(continuing, plan.shape)),
            *reserved_numbers(continuing, plan.shape),
        ]
        self.first_register = self._register_bases()
        # All operators in one list: those of the program in its order, then the barriers that close phases.
        self.operators: list[tuple[int, PlannedOperator]] = [
            (p, operator) for p, phase in enumerate(self.phases) for operator in phase.operators
        ]
        self.barriers: dict[int, int] = {}
        for p, phase in enumerate(plan.phases):
            if phase.barrier is not None:
                self.barriers[p] = len(self.operators)
                self.operators.append((p, phase.barrier))
        self.carriers: dict[int, int] = {}
        """By phase: the operator that stands for its online streams."""
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
        self._next: dict[int, list[int]] = {}
        self._waits: dict[int, int] = {}
        self._known_roles: dict[object, tuple[tuple[Role, ...], tuple[int, ...]]] = {}

    # -- resources -------------------------------------------------------------------------------------------

    def _second_blocks(self) -> dict[int, int]:
        """Blocks of second schedules by phase, behind those of all phases."""
        asking = [p for p, phase in enumerate(self.plan.phases) if phase.routed.second]
        first = 1 + max(self.blocks.values(), default=0)
        most = self.plan.shape.schedule_depth // self.plan.period
        if first + len(asking) > most and asking:
            raise FitError(
                f"phase '{self.plan.phases[asking[0]].name}' has two schedules, and the schedule memory has room for {most} of "
                f"{self.plan.period} slots in all, the loader's included",
                hint="use another implementation, or a node with more schedule memory",
            )
        return {phase: first + k for k, phase in enumerate(asking)}

    def _register_bases(self) -> list[dict[int, int]]:
        """For each phase, what to add to a virtual register number, by node.

        A phase that a node leaves for itself may have to keep its registers there: a neighbour that is ahead may send words of
        its next use while this node is still in it, and they wait in these registers. All others can share theirs.
        """
        pipelines, registers = self.plan.shape.pipelines, self.plan.shape.registers
        kept: dict[int, int] = defaultdict(lambda: pipelines)
        keeps = [*keeping(self.plan.structure, self.plan.phases), *(True for _ in self.plan.continuing)]
        ordered = sorted(zip(self.phases, keeps, strict=True), key=lambda pair: not pair[1])
        by_phase: dict[int, dict[int, int]] = {}
        for phase, keep in ordered:
            base = {}
            for node, count in phase.wiring.registers_used.items():
                base[node] = kept[node]
                if kept[node] + count > registers:
                    raise FitError(
                        f"phase '{phase.name}' needs {count} interface registers at node {node}, which has "
                        f"{registers - kept[node]} left of {registers}",
                        hint="use fewer operators, or a node with more interface registers",
                    )
                if keep:
                    kept[node] += count
            by_phase[id(phase)] = base
        return [by_phase[id(phase)] for phase in self.phases]

    def _register(self, phase: int, node: int, virtual: int) -> int:
        return self.first_register[phase][node] + virtual

    def _place(self, phase: int, vfsm: RoutedVfsm) -> tuple[int, int]:
        """Pipeline and number of a VFSM at its node."""
        return self.vfsms[phase][vfsm.node].place(vfsm.pipeline, vfsm.number)

    # -- pieces ----------------------------------------------------------------------------------------------

    def _legs(self, phase: int) -> dict[_Key, tuple[RoutedVfsm, ...]]:
        """For each VFSM of a phase the legs that fork off it, as routed."""
        found: dict[_Key, tuple[RoutedVfsm, ...]] = {}
        for chain in self.phases[phase].routed.chains:
            for i, vfsm in enumerate(chain.vfsms):
                found[_key(chain.stream, chain.chain, vfsm)] = tuple(
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

    def _annotation(
        self, phase: int, stream: int, chain: int, vfsm: RoutedVfsm, standing: Mapping[_Key, RoutedVfsm], node: int
    ) -> Annotation:
        """What a VFSM is to do. ``standing``: how those VFSMs of its node stand that do not stand as routed; ``node``: that node,
        or one that looks like it."""
        legs = self.legs[phase][_key(stream, chain, vfsm)]
        forked = any(standing.get(_key(stream, chain, leg), leg).type == MoveType.FORK for leg in legs)
        return Annotation(
            vfsm.type,
            self._code(phase, stream, chain, vfsm, vfsm.source, node),
            self._code(phase, stream, chain, vfsm, vfsm.destination, node),
            forked,
        )

    def _code(self, phase: int, stream: int, chain: int, vfsm: RoutedVfsm, place: Place, node: int) -> int:
        """That of a place from which a VFSM takes words, or to which it gives them."""
        match place.kind:
            case "link":
                return self.codes.neighbour(place.number)
            case "buffer":
                return self.codes.buffer(self.vfsms[phase][node].place(vfsm.pipeline, place.number)[1])
            case "nop":
                return self.codes.nop
            case "null":
                return self.codes.null
            case "register":
                return self.codes.register(self._register(phase, node, place.number))
            case "command":
                return self.codes.register(place.number)
        virtual = self.phases[phase].wiring.register(vfsm.node, stream, chain, place.kind)
        return self.codes.register(self._register(phase, node, virtual))

    def _rewrites(self, phase: int, settings: tuple[VfsmSetting, ...], node: int) -> tuple[Rewrite, ...]:
        """How VFSMs of ``node`` are to stand; ``settings`` may be of a node that looks like it."""
        if not settings:
            return ()
        standing = {_key(s.stream, s.chain, s.vfsm): s.vfsm for s in settings}
        here = self.vfsms[phase][node]
        return tuple(
            [
                Rewrite(
                    *here.place(s.vfsm.pipeline, s.vfsm.number),
                    self._annotation(phase, s.stream, s.chain, s.vfsm, standing, node),
                )
                for s in settings
            ]
        )

    def _lane(self, phase: int, node: int, lane: LaneImage) -> LaneImage:
        return replace(lane, registers=tuple(self._register(phase, node, r) for r in lane.registers))

    def _role(self, phase: int, node: int, draft: RoleDraft, delay: int, loaded: bool) -> Role:
        """``loaded``: load functions choose among roles; otherwise the VFSMs stand so from the start."""
        return Role(
            draft.kind,
            tuple(self._lane(phase, node, lane) for lane in draft.lanes),
            self._rewrites(phase, draft.settings, node) if loaded else (),
            delay,
            draft.local,
            draft.turns,
            draft.combines,
            draft.result,
            draft.void,
            draft.switch,
            tuple(self._command(phase, node, register, setting) for register, setting in draft.commands),
            draft.by_item,
        )

    def _roles(self, index: int, node: int) -> tuple[tuple[Role, ...], tuple[int, ...]]:
        """The roles of a node in an operator, each once, and which it has in each state: those of a node that it is like, with
        its own numbers of VFSMs and registers."""
        phase, planned = self.operators[index]
        like = planned.like(node)
        here, first = self.vfsms[phase].get(node), self.first_register[phase].get(node)
        if planned.implementation.remote:
            like = node  # commands rewrite VFSMs of others
        key = index, like, here, first
        if key not in self._known_roles:
            states = range(len(planned.values) * planned.stages)
            delays = planned.delays.get(node, (planned.drain,) * len(planned.values))
            loaded = planned.values != ((),) or planned.stages > 1
            number: dict[Role, int] = {}
            chosen = tuple(
                number.setdefault(
                    self._role(phase, node, planned.role(like, i), delays[i // planned.stages], loaded), len(number)
                )
                for i in states
            )
            self._known_roles[key] = tuple(number), chosen
        return self._known_roles[key]

    def _command(self, phase: int, node: int, register: int, setting: VfsmSetting) -> tuple[int, int]:
        """Register and word by which a node rewrites a VFSM of another."""
        (rewrite,) = self._rewrites(phase, (setting,), setting.vfsm.node)
        (word,) = self.codes.write_annotation(rewrite.vfsm, rewrite.annotation)
        return self._register(phase, node, register), word

    def _node_phase(self, index: int, node: int) -> NodePhase:
        phase = self.plan.phases[index]
        schedules = tuple(self._rows(index, one, node) for one in phase.routed.schedules)
        annotations = self._annotated(index, node)
        for other in self.beside[index]:
            annotations += self._annotated(other, node)
        settle: tuple[tuple[int, int], ...] = ()
        if phase.barrier is not None and node in phase.barrier.operator.nodes:
            again = {index} if node in self.plan.leaving.between_uses.get(index, ()) else set()
            after = {*self._successors(index), *again} - ({index} - again)
            if phase.settles is not None:
                # Also before phases that come later: a node may be through with those in between at once.
                after = {s for s in phase.settles if node in self.members[s]} | again
            settle = tuple((s, phase.settle + self._slower(index)) for s in sorted(after))
        return NodePhase(
            index,
            schedules[0],
            tuple(sorted(annotations, key=lambda a: (a.pipeline, a.vfsm))),
            settle,
            *schedules[1:],
        )

    def _rows(self, index: int, routed: RoutedPhase, node: int) -> tuple[tuple[int, ...], ...]:
        """VFSMs of a node by slot and pipeline, in one of the schedules of a phase."""
        rows = [[0] * self.plan.shape.pipelines for _ in routed.schedule[node]]
        here = self.vfsms[index].get(node)
        for own in range(self.plan.shape.pipelines):
            p = here.pipelines[own] if here else own
            for row, routed_row in zip(rows, routed.schedule[node], strict=True):
                if routed_row[own]:
                    assert here is not None  # it has a VFSM
                    row[p] = here.place(own, int(routed_row[own]))[1]
            for slot in reprogram_slots(routed, node, own):
                rows[slot][p] = REPROGRAM_VFSM
        for other, beside in zip(self.beside[index], routed.beside, strict=True):
            for chain in beside.chains:
                for vfsm in chain.vfsms:
                    if vfsm.node == node:
                        pipeline, number = self._place(other, vfsm)
                        for slot in vfsm.slots:
                            rows[slot][pipeline] = number
        return tuple(tuple(row) for row in rows)

    def _annotated(self, index: int, node: int) -> tuple[Rewrite, ...]:
        """The VFSMs of a phase at a node, as they stand before any load function."""
        # Before any load function a VFSM stands as in the first role that rewrites it.
        standing = {
            _key(s.stream, s.chain, s.vfsm): s.vfsm
            for planned in self.phases[index].operators
            for s in (planned.role(node, 0).settings if node in planned.roles else ())
        }
        return tuple(
            Rewrite(
                *self._place(index, vfsm),
                self._annotation(
                    index,
                    chain.stream,
                    chain.chain,
                    standing.get(_key(chain.stream, chain.chain, vfsm), vfsm),
                    standing,
                    node,
                ),
            )
            for chain, vfsm in self.at[index].get(node, ())
        )

    def _successors(self, index: int) -> list[int]:
        """Phases that some node may enter next after this one."""
        if index not in self._next:
            self._next[index] = self._find_successors(index)
        return self._next[index]

    def _find_successors(self, index: int) -> list[int]:
        found: set[int] = set()
        for members, nodes in memberships(self.members).items():
            if index in members:
                for node in self._unlike(nodes):
                    found |= {s for s in self.plan.structure.next_for(index, members, node) if s >= 0}
        return sorted(found)

    def _unlike(self, nodes: Iterable[int]) -> list[int]:
        """Of several nodes, one for each way through the program."""
        return list({id(self.plan.structure.flow(node)): node for node in nodes}.values())

    def _node(self, node: int) -> NodeImage:
        phases = tuple(self._node_phase(i, node) for i, nodes in enumerate(self.members) if node in nodes)
        operators = []
        for index, (phase, planned) in enumerate(self.operators):
            if node not in planned.roles:
                continue
            roles, chosen = self._roles(index, node)
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
                        self.enters[phase][node] if phase in self.enters else -1,
                    ),
                )
            )
        return NodeImage(phases, tuple(operators), self._ways(node, [part.phase for part in phases]))

    def _ways(self, node: int, members: list[int]) -> tuple[tuple[int, int], ...]:
        """From which of its phases a node may go to which, if threads make that differ from node to node."""
        structure = self.plan.structure
        if structure.threads is None:
            return ()
        ways = {(p, s) for p in (START, *members) for s in structure.next_for(p, members, node)}
        return tuple(sorted((p, -1 if s == END else s) for p, s in ways))

    def _online_node(self, index: int, node: int, role: Role) -> OnlineNode | None:
        """The channels of a node, in the operator that stands for them."""
        phase = self.operators[index][0]
        part = self.phases[phase].part
        if part is None or self.carriers.get(phase) != index:
            return None
        registers = [lane.registers for lane in role.lanes]
        return online_node(part, node, registers, self.nodes)

    def _operator(self, index: int) -> OperatorImage:
        phase, planned = self.operators[index]
        online = None
        bandwidth = 0.0
        if isinstance(planned.implementation, Online):
            online = OnlineOperator(for_image(planned.operator), self.queues[index])
            part = self.phases[phase].part
            if part is not None:
                bandwidth = part.bandwidth(planned.operator.label, self.phases[phase].routed)
        operator = planned.operator
        routed = self.phases[phase].routed
        continues = self._continues(phase)
        return OperatorImage(
            operator.label,
            operator.kind,
            planned.implementation.name,
            continues[0] if continues else phase,
            str(operator.type),
            operator.m,
            runtime_operands(operator) if operator.instances else (),
            planned.values,
            min((routed.bandwidth(s) for s in planned.streams), default=bandwidth),
            str(operator.position) if operator.position else "",
            function_name(operator),
            planned.stages,
            planned.implementation.synchronised,
            planned.implementation.gated,
            tuple(i.nodes for i in operator.instances) if planned.implementation.rescheduled else (),
            remote=planned.implementation.remote,
            online=online,
            continues=continues,
        )

    def _continues(self, phase: int) -> tuple[int, ...]:
        """Phases of what continues, given its number among all."""
        first = len(self.plan.phases)
        return self.plan.continuing[phase - first].phases if phase >= first else ()

    def _promises(self, index: int) -> Iterable[Promise]:
        """What each register that the processor writes is promised in each state of an operator."""
        phase_index, planned = self.operators[index]
        carried: dict[tuple, list[int]] = {}
        follower = Follower(self.phases[phase_index], planned)
        continues = self._continues(phase_index)
        for state in range(len(planned.values) * planned.stages):
            for way in follower.ways(state):
                carried.setdefault(way, []).append(state)
        for way, states in carried.items():
            name, source, register, destinations, words, held = way
            yield Promise(
                index,
                continues[0] if continues else phase_index,
                name,
                tuple(states),
                source,
                self._register(phase_index, source, register),
                tuple(
                    (node, self._register(phase_index, node, r) if r >= 0 else COMMAND - r) for node, r in destinations
                ),
                words,
                held,
            )

    def _phase(self, index: int) -> PhaseImage:
        phase = self.plan.phases[index]
        return PhaseImage(
            phase.name,
            self.blocks[index],
            tuple(i for i, (p, _) in enumerate(self.operators) if p == index or p in self.beside[index]),
            phase.technique,
            phase.reason,
            tuple(sorted(s for s in self.plan.structure.successors[index] if s >= 0)),
            self.barriers.get(index),
            next((self.carriers[p] for p in (index, *self.beside[index]) if p in self.carriers), None),
            self._load_cycles(index),
            self.second_blocks.get(index, 0),
            self._last(index),
            self._order(index),
        )

    def _last(self, index: int) -> tuple[int, ...]:
        """Operators of a phase after which a node may leave it."""
        last = self.plan.structure.last
        own = {id(one) for one in self.plan.phases[index].operators}
        return tuple(
            number
            for number, (_, one) in enumerate(self.operators)
            if id(one) in own and (not last or one.operator.label in last[index])
        )

    def _order(self, index: int) -> tuple[tuple[int, int], ...]:
        """Operators of a phase that tell who has come to it, each with those that are always used after it."""
        before = self.plan.structure.before[index] if self.plan.structure.before else {}
        number = {one.operator.label: i for i, (p, one) in enumerate(self.operators) if p == index}
        telling = {one.operator.label for one in self.plan.phases[index].operators if one.message_bound}
        return tuple(sorted((number[one], number[other]) for other, known in before.items() for one in known & telling))

    def _slower(self, index: int) -> int:
        """How much longer a pointer command may wait where the pipelines of a phase are exchanged than it was planned for."""
        if index not in self._waits:
            self._waits[index] = self._find_slower(index)
        return self._waits[index]

    def _find_slower(self, index: int) -> int:
        routed, most = self.plan.phases[index].routed, 0
        for node, here in self.vfsms[index].items():
            if here.own(0) != 0:
                most = max(most, largest_gap(tuple(reprogram_slots(routed, node, here.own(0))), routed.period))
        return max(0, most - command_gap(routed))

    def _load_cycles(self, index: int) -> int:
        """Cycles that the node with most to load needs for all of it. In the loader phase a command register takes a word
        every other cycle, and the processor writes one word a cycle."""
        phase = self.plan.phases[index]
        words: dict[tuple[int, int], int] = defaultdict(int)
        for one in (index, *self.beside[index]):
            for chain in self.phases[one].routed.chains:
                for vfsm in chain.vfsms:
                    words[vfsm.node, self._place(one, vfsm)[0]] += self.codes.command_words
        slowest = 0
        for node in self.members[index]:
            own = [words[node, p] for p in range(self.plan.shape.pipelines)]
            own[0] += self.plan.period * len(phase.routed.schedules) * self.codes.command_words
            slowest = max(slowest, 2 * max(own), sum(own))
        return slowest + LOAD_OVERHEAD

    def images(self) -> Images:
        plan = self.plan
        return Images(
            plan.shape,
            plan.topology,
            plan.period,
            plan.name,
            plan.parameters,
            tuple(label for label in plan.structure.loops if "/" not in label),
            tuple(self._operator(i) for i in range(len(self.operators))),
            tuple(self._phase(i) for i in range(len(plan.phases))),
            tuple(self._node(n) for n in range(self.nodes)),
            tuple(promise for i in range(len(self.operators)) for promise in self._promises(i)),
            passages(plan),
            plan.notes,
            self._replaced(),
        )

    def _replaced(self) -> tuple[ReplacedImage, ...]:
        number: dict[str, int] = {}
        for i, (_, planned) in enumerate(self.operators):
            number.setdefault(planned.operator.label, i)
        return tuple(
            ReplacedImage(
                for_image(one.operator),
                one.implementation,
                tuple(number[label] for label in one.parts),
                str(one.operator.position or ""),
            )
            for one in self.plan.replaced
        )
