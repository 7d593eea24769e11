"""Steps of load functions and of I/O functions of operators.

Steps of I/O functions must take as many accesses, commands and cycles as `pointsman.runtime.numesh.port` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from pointsman.artifacts.images.images import SYNC, LaneImage, before_each, by_step, whole_messages
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_partial, runtime_operands
from pointsman.operators.messages.online import Online
from pointsman.plan.plan import Plan, PlannedOperator
from pointsman.protocol.phase_change import Do, LoadCall, enter, load, load_told

from .. import kernel as k
from ..board import BoardNumbers, NumberedOperators, Row
from ..memories import PlannedMemories
from ..sampling import SampledVisit
from .online_messages import OnlineSteps
from .phase_changes import CHANGES, PhaseSteps
from .processor_state import ProcessorState
from .runtime_schedules import RuntimeSchedules
from .tables import StepTables
from .together import Step

WAY_ENDS = 4
"""Cycles from a processor's write to the first VFSM, and from the last VFSM to the processor that reads."""


class OperatorSteps:
    """Steps of the operators of a plan, by number and by index of the run-time value, on each node.

    Parameters
    ----------
    whole : collection of str
        Labels of operators whose function combines whole messages only, though roles were made for single items.
    by_operator : bool
        As in `StepTables`.
    """

    def __init__(
        self,
        plan: Plan,
        network: BoardNumbers,
        memories: PlannedMemories,
        *,
        whole: Collection[str] = (),
        by_operator: bool = False,
    ) -> None:
        self.plan, self.network, self.memories, self.whole = plan, network, memories, whole
        self.tables = StepTables(plan.shape.pipelines, by_operator=by_operator)
        self.phases = PhaseSteps(plan, network, memories, self.tables)
        self.messages = OnlineSteps(plan, network)
        self.parts = NumberedOperators(network.parts)
        self.by_label: dict[str, list[int]] = defaultdict(list)
        for number, (_, one) in enumerate(self.parts.operators):
            self.by_label[one.operator.label].append(number)
        self._rows = network.rows
        self._schedules = RuntimeSchedules(plan, self.parts)
        self._in_company = [len(phase.operators) + len(plan.beside(p)) > 1 for p, phase in enumerate(plan.phases)]
        """By phase, has it more than one operator?"""

    def begin(self) -> None:
        """Begin again before the first phase, with empty memories. Steps of calls that were made before are used again."""
        self.phases.begin()
        self.messages = OnlineSteps(self.plan, self.network)

    @property
    def ways(self) -> list[ProcessorState]:
        """States of the nodes."""
        return self.phases.ways

    def standing(self) -> list[tuple[int, Row]]:
        """VFSMs that before any load function do not hold their routed row, but that of the first role that rewrites them."""
        found: dict[int, Row] = {}
        for number, (_, one) in enumerate(self.parts.operators):
            rewriting: dict[int, bool] = {}
            for node in sorted(one.operator.nodes):
                like = one.like(node)
                if like not in rewriting:
                    rewriting[like] = bool(self.parts.role(number, like, 0, 0).settings)
                if rewriting[like]:
                    found.update(self._stands(number, node, 0, 0))
        return list(found.items())

    def stays(self, way: ProcessorState, number: int, phase: int) -> bool:
        """Does a node that loads an operator stay in its phase, with the same annotations?"""
        if way.current != phase or way.unused:
            return False
        one = self.parts.operators[number][1]
        loading = one.implementation.loading
        fixed = one.values == ((),) and one.stages == 1
        if not fixed or loading.synchronised or loading is Loading.ONLINE:
            return False
        return way.way(phase, phase) is None

    def loaded(self, node: int, number: int, value: int, visit: SampledVisit) -> list[Step]:
        """Steps of a load function, of messages that processors pass on too."""
        phase, one = self.parts.operators[number]
        if not isinstance(one.implementation, Online):
            return self.load(node, number, value)
        changes = self.phases.play(node, enter(self.ways[node], phase))
        return [(k.COUNT, phase, 0), *changes, *self.messages.load(phase, node, one, visit)]

    def called(self, node: int, number: int, value: int, what: str, made: int) -> list[Step]:
        """Steps of one call of an I/O function, of which the node made ``made`` before in this visit."""
        phase, one = self.parts.operators[number]
        if isinstance(one.implementation, Online):
            return self.messages.call(phase, node, one, what, made)
        draft = self.parts.role(number, node, value, 0)
        if draft.local or draft.kind == "none":
            return []
        steps = self.call(node, number, value, made)
        if what == "func":
            return steps
        first, *second = self.halves(node, number, value, steps)
        if not second:
            # The destination of a collect may write, too, but only to itself; others that do both do it in the call that writes.
            writes = any(lane.write for lane in draft.lanes if lane.turn != SYNC)
            moves = draft.kind if draft.kind != "both" else "write" if writes else "read"
            return steps if moves == what else []
        return first if what == "write" else second[0]

    def call_at_once(self, node: int, number: int, value: int, call: int) -> list[Step]:
        """Steps of one call of an operator's I/O functions by a node that reads while it writes, if it does both."""
        return self.tables.together(self.halves(node, number, value, self.call(node, number, value, call)))

    def halves(self, node: int, number: int, value: int, call: Sequence[Step]) -> list[list[Step]]:
        """Of the steps of a call in which a node writes and then reads, those of either function; else the call as it is."""
        if self.parts.role(number, node, value, 0).kind != "both" or sum(step[0] == k.MOVE for step in call) != 2:
            return [list(call)]
        read = max(at for at, step in enumerate(call) if step[0] == k.MOVE)
        return [list(call[:read]), list(call[read:])]

    def rescheduled(self, node: int, number: int, visit: SampledVisit) -> list[Step]:
        """Steps of a visit to an operator whose nodes make a schedule for the values that they are given: as
        `pointsman.runtime.numesh.port.NumeshPort` loads it. Its words take the time that such a schedule gives them about."""
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        nodes = next(instance.nodes for instance in one.operator.instances if node in instance.nodes)
        steps: list[Step] = [(k.COUNT, phase, 0), *self.phases.play(node, enter(way, phase))]
        moves = self._schedules.moves(number, nodes, visit)
        cost = self._schedules.cost(one.operator.m, moves)
        meet = self._meet(node, number)
        if way.moves.get(number) != moves:
            way.moves[number] = moves
            work = self.memories.whole(node, phase) + round(cost.cycles)
            jumps = [*self.phases.jump(node, -1, {}), *self.phases.jump(node, phase, {})]
            steps += [*meet, (k.WAIT, work, 0), *jumps, *meet]
        if all(node not in move or move[0] == move[1] for move in moves):
            return steps
        call = round((one.operator.m - 0.5) * self.plan.period / cost.words + len(nodes) ** 0.5 + WAY_ENDS)
        return [*steps, (k.WAIT, call * visit.count, 0)]

    # -- load functions --------------------------------------------------------------------------------------

    def load(self, node: int, number: int, value: int) -> list[Step]:
        """Steps of a load function, except of messages that processors pass on."""
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        if phase >= self.network.loader:
            # A continuing operator is ready in any of its phases.
            continuing = self.plan.continuing[phase - self.network.loader]
            way.value[number] = value
            if way.current in continuing.phases:
                return []
            entered = [
                (k.COUNT, continuing.enters[node], 0),
                *self.phases.play(node, enter(way, continuing.enters[node])),
            ]
            way.unused = True
            return entered
        if one.implementation.loading is Loading.REMOTE:
            return self._load_remote(node, number, value)
        if self.stays(way, number, phase):
            way.value[number] = value
            return [(k.COUNT, phase, 0)]
        together = one.implementation.loading.synchronised
        meet = self._meet(node, number) if together else []
        same = way.value.get(number) == value and one.stages == 1
        told = together and any(is_partial(one.operator, name) for name in runtime_operands(one.operator))
        call = LoadCall(
            phase,
            lambda: self._changed(node, number, value, 0),
            together=together,
            meets=bool(meet),
            same=same,
            shared=self._in_company[phase],
        )
        steps: list[Step] = [(k.COUNT, phase, 0)]
        for do, at, rewrites in load_told(way, phase, lambda: same, call.changed) if told else load(way, call):
            if do in (Do.MEET, Do.TELL):
                steps += meet
            elif do == Do.DRAIN:
                steps.append((k.WAIT, self._delay(one, node, value), 0))
            else:
                steps += CHANGES[do](self.phases, node, at, rewrites or {})
        way.value[number] = value
        return steps

    def _load_remote(self, node: int, number: int, value: int) -> list[Step]:
        """Steps of a load function that sends commands to the routers of other nodes, as
        `pointsman.runtime.numesh.port.NumeshPort` does it."""
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        entered = self.phases.play(node, enter(way, phase))
        steps: list[Step] = [(k.COUNT, phase, 0), *entered, *(self._meet(node, number) if entered else ())]
        commands = self.parts.role(number, node, value, 0).commands
        if commands and (entered or way.value.get(number) != value):
            delay = self._delay(one, node, value)
            lanes = [LaneImage(True, (register,), 1, "token") for register, _ in commands]
            steps += [(k.WAIT, delay, 0), *self.phases.move_at(phase, node, lanes, 1)]
            steps += ((k.EMPTY, self.network.register(phase, node, register), 0) for register, _ in commands)
            for other in next(i.nodes for i in one.operator.instances if node in i.nodes):
                changed = self._changed(other, number, value, 0)
                self.ways[other].standing.update(changed)
                steps += self.tables.rewrite(changed)
            steps.append((k.WAIT, delay, 0))
        way.value[number] = value
        return steps

    def _meet(self, node: int, number: int) -> list[Step]:
        """Steps of the operator's own barrier; none if it has no such lanes. They are the same for all values, as nodes meet
        before they have rewritten."""
        key = ("meet", node, number)
        if key not in self.tables.kept:
            phase = self.parts.operators[number][0]
            lanes = [lane for lane in self.parts.role(number, node, 0, 0).lanes if lane.turn == SYNC]
            self.tables.kept[key] = self.phases.meet(phase, node, lanes)
        return self.tables.kept[key]

    def _stands(self, number: int, node: int, value: int, stage: int) -> dict[int, Row]:
        """By VFSM, the row that a role sets."""
        draft = self.parts.role(number, node, value, stage)
        phase = self.parts.operators[number][0]
        found = self._rows.get((phase, id(draft)))
        if found is None:
            found = self._rows[phase, id(draft)] = dict(
                self.network.setting(phase, setting) for setting in draft.settings
            )
        return found

    def _changed(self, node: int, number: int, value: int, stage: int) -> dict[int, Row]:
        """VFSMs whose row a role sets differently from the present row, with the new row."""
        one = self.parts.operators[number][1]
        if one.values == ((),) and one.stages == 1:
            return {}
        wanted = self._stands(number, node, value, stage)
        if not wanted:
            return {}
        first = self._stands(number, node, 0, 0)
        standing = self.ways[node].standing
        return {vfsm: row for vfsm, row in wanted.items() if standing.get(vfsm, first.get(vfsm)) != row}

    # -- I/O functions ---------------------------------------------------------------------------------------

    def call(self, node: int, number: int, value: int, call: int, *, writes: bool = True) -> list[Step]:
        """Steps of one call of an operator's I/O functions. ``writes`` False: a node that need not write does not write."""
        _, one = self.parts.operators[number]
        draft = self.parts.role(number, node, value, 0)
        if draft.kind == "none" or (draft.void and draft.kind in ("write", "both")):
            return []
        if one.implementation.loading is Loading.GATED:
            return self._through_gate(node, number, value)
        turn, delay = call % draft.turns, self._delay(one, node, value)
        key = ("call", node, number, id(draft), delay, turn, writes)
        if one.stages == 1 and key in self.tables.kept:
            return self.tables.kept[key]
        lanes = [lane for lane in draft.lanes if lane.turn == turn and (writes or not lane.write)]
        by_item = draft.by_item and one.operator.label not in self.whole
        if by_item:
            # Of several possible accesses the processor makes the one furthest on (`pointsman.runtime.numesh.by_item`).
            last = len(lanes) - 1
            lanes = [
                replace(lane, after=None if before is None else last - before)
                for lane, before in reversed(list(zip(lanes, before_each(lanes), strict=True)))
            ]
        if draft.kind == "both":
            # The write function, then the read function.
            lanes = sorted(lanes, key=lambda lane: not lane.write)
            groups = [[lane for lane in lanes if lane.write], [lane for lane in lanes if not lane.write]]
        elif draft.by_item and not by_item:
            groups = [[lane] for lane in whole_messages(lanes)[0]]
        else:
            groups = by_step(lanes)
        if key not in self.tables.kept:
            phase = self.parts.operators[number][0]
            second = self.network.second
            item = one.operator.type.words if by_item else 1
            parts = [self.phases.move_at(phase, node, group, one.operator.m, item) for group in groups]
            if draft.switch is not None and phase in second:
                parts.insert(sum(group[0].step < draft.switch for group in groups), self._switch(node, second[phase]))
                parts.append(self._switch(node, phase))
            found = [step for part in parts for step in part]
            if delay and not one.implementation.loading.synchronised:
                found.append((k.DUE, delay, 0))
            self.tables.kept[key] = found
        made = self.tables.kept[key]
        if one.stages > 1 and call == draft.turns - 1:
            made = [*made, *self._go_on(node, number, value, lanes)]
        return made

    def _switch(self, node: int, schedule: int) -> list[Step]:
        """Go to the second schedule or back. Only the end of the phase waits until this command has been carried out."""
        return [*self.phases.send(node, {0: self.phases.words}, empty=False), (k.SWITCH, schedule, 0)]

    def _through_gate(self, node: int, number: int, value: int) -> list[Step]:
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        stage = 1 + way.gates.get(number, 0) % (one.stages - 1)
        way.gates[number] = way.gates.get(number, 0) + 1
        lanes = self.parts.role(number, node, value, stage).lanes
        return [
            (k.SETTLED, 0, 0),
            *self._post(node, number, value, stage),
            *self.phases.move_at(phase, node, lanes, one.operator.m),
            *self._post(node, number, value, 0),
        ]

    def _post(self, node: int, number: int, value: int, stage: int) -> list[Step]:
        changed = self._changed(node, number, value, stage)
        self.ways[node].standing.update(changed)
        if not changed:
            return []
        return [
            *self.phases.send(node, self.ways[node].commands(changed), empty=False),
            *self.tables.rewrite(changed, k.LATER),
        ]

    def _go_on(self, node: int, number: int, value: int, lanes: Sequence[LaneImage]) -> list[Step]:
        phase, one = self.parts.operators[number]
        rewritten = self.phases.rewrite(node, self._changed(node, number, value, one.stages - 1), running=True)
        if not rewritten:
            return []
        registers = sorted({r for lane in lanes if lane.write for r in lane.registers})
        return [*((k.EMPTY, self.network.register(phase, node, r), 0) for r in registers), *rewritten]

    def _delay(self, one: PlannedOperator, node: int, value: int) -> int:
        return one.delays.get(node, (one.drain,) * len(one.values))[value]
