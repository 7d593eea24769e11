"""What each processor does on its way through the sampled program: the steps of its load and I/O functions, in chunks.

A step is (kind, operand, operand) for ``timeline.kernel``; a chunk is a sequence of steps that several nodes and visits
may share. Loads and changes of phase follow `pointsman.protocol.phase_change`, as in the run time
(`pointsman.runtime.numesh.router`); here are the costs of its steps. Steps of I/O functions must take as many accesses,
commands and cycles as `pointsman.runtime.numesh.port` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from numesh.codes import Codes
from pointsman.artifacts.images.images import SYNC, LaneImage, before_each, by_step, whole_messages
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_partial, operand, runtime_operands, runtime_values
from pointsman.operators.messages.online import Online
from pointsman.plan.membership.passages import passages
from pointsman.plan.plan import Plan, PlannedOperator
from pointsman.protocol.costs import ANNOTATION_DRAIN, POINTER_DRAIN
from pointsman.protocol.phase_change import ChangeStep, Do, LoadCall, enter, finish, leaving, load, load_told
from pointsman.protocol.scheduling import Moves, ScheduleCost, moves_of, schedule_cost, typical_permutation

from . import kernel as k
from .board import BoardNumbers, NumberedOperators, Row
from .memories import PlannedMemories
from .online_messages import OnlineSteps
from .processor_state import Changed, ProcessorState
from .sampling import SampledVisit, choice, writer_of
from .together import Step, joined, runs

WAY_ENDS = 4
"""Cycles from a processor's write to the first VFSM, and from the last VFSM to the processor that reads."""
CALLS = 6
"""Most calls of an I/O function that are played after a load; each but the first stands for its share of the rest."""
UNEVEN_CALLS = 500
"""Most calls of operators at the same time of which all are played, where one of them has fewer than another."""


class StepWriter:
    """Writes the steps of all nodes, in the order in which they go through the program.

    Parameters
    ----------
    counted : mapping or None
        By label, where cycles in functions of an operator count (an index into what ``kernel.play`` counts for); all other cycles
        count behind the last phase. None: cycles count for phases.
    whole : collection of str
        Labels of operators whose function combines whole messages only, though roles were made for single items.
    """

    def __init__(
        self,
        plan: Plan,
        network: BoardNumbers,
        memories: PlannedMemories,
        counted: Mapping[str, int] | None = None,
        whole: Collection[str] = (),
    ) -> None:
        self.plan, self.network, self.counted, self.whole = plan, network, counted, whole
        self.words = Codes(plan.shape).command_words
        self.memories = memories
        self.parts = NumberedOperators(network.parts)
        self._on_the_way: dict[int, dict[tuple[int, int], tuple[int, ...]]] = defaultdict(dict)
        for node, left, entered, between in passages(plan):
            self._on_the_way[node][left, entered] = between
        self.by_label: dict[str, list[int]] = defaultdict(list)
        for number, (_, one) in enumerate(self.parts.operators):
            self.by_label[one.operator.label].append(number)
        self.lanes: list[tuple[int, ...]] = []
        self.turns: list[int] = []
        self.settings: list[tuple[int, ...]] = []
        self.weights: list[float] = []
        self.most_lanes = plan.shape.pipelines
        self._chunks: dict[tuple[Step, ...], int] = {}
        self._moves: dict[object, list[Step]] = {}
        self._rows = network.rows
        self._sorted: dict[int, tuple[int, ...]] = {}
        self._schedules: dict[tuple[int, Moves], ScheduleCost] = {}
        self._permuted: dict[tuple[str, int, Sequence[int]], Moves] = {}
        self._in_company = [len(phase.operators) + len(plan.beside(p)) > 1 for p, phase in enumerate(plan.phases)]
        """By phase, has it more than one operator?"""
        self.begin()

    def begin(self) -> None:
        """Begin again before the first phase, with empty memories. Steps of calls that were made before are used again."""
        self.memories.empty()
        self.messages = OnlineSteps(self.plan, self.network)
        self.ways = [
            ProcessorState(node, self.plan, self.network, self.memories, self._on_the_way[node])
            for node in range(self.network.nodes)
        ]

    # -- the whole -------------------------------------------------------------------------------------------

    def write(self, visits: Iterable[SampledVisit]) -> k.StepTable:
        """The step table of all nodes, from cop_init to cop_fini."""
        for node, way in enumerate(self.ways):
            self._add(way, self.start(node))
        for run in runs(visits):
            if len(run) > 1:
                for node in sorted({node for visit in run for node in visit.operator.nodes}):
                    self._together(node, run)
                continue
            for number, value in self._chosen(run[0]):
                for node in self._nodes(number):
                    if not self._is_idle(node, number, value):
                        self._counted_visit(node, number, value, run[0])
        return self._ended()

    def write_ways(self, ways: Iterable[Iterable[SampledVisit]]) -> k.StepTable:
        """As ``write``, of visits that each node makes in an order of its own."""
        for node, (way, own) in enumerate(zip(self.ways, ways, strict=True)):
            self._add(way, self.start(node))
            for run in runs(own):
                if run[0].calls and self._in_turn(node, run):
                    continue
                if run[0].together:
                    self._together(node, run)
                    continue
                for visit in run:
                    for number, value in self._chosen(visit, node):
                        self._counted_visit(node, number, value, visit)
        return self._ended()

    def _ended(self) -> k.StepTable:
        for node, way in enumerate(self.ways):
            self._add(way, self._finish(node, way))
        return self.book()

    def _nodes(self, number: int) -> tuple[int, ...]:
        """Nodes of an operator in their order."""
        if number not in self._sorted:
            self._sorted[number] = tuple(sorted(self.parts.operators[number][1].operator.nodes))
        return self._sorted[number]

    def _is_idle(self, node: int, number: int, value: int) -> bool:
        """Does a visit take no step of a node: it is in the phase and moves no word? Most visits are so where many operators
        share a phase."""
        phase = self.parts.operators[number][0]
        way = self.ways[node]
        if self.counted is not None or not self._stays(way, number, phase):
            return False
        one = self.parts.operators[number][1]
        if node in one.silent and one.implementation.loading is Loading.LOCAL:
            return True
        draft = self.parts.role(number, node, value, 0)
        return draft.local or draft.kind == "none"

    def _stays(self, way: ProcessorState, number: int, phase: int) -> bool:
        """Does a node that loads an operator stay in its phase, with the same annotations?"""
        if way.current != phase or way.unused:
            return False
        one = self.parts.operators[number][1]
        loading = one.implementation.loading
        fixed = one.values == ((),) and one.stages == 1
        if not fixed or loading.synchronised or loading is Loading.ONLINE:
            return False
        return way.way(phase, phase) is None

    def _counted_visit(self, node: int, number: int, value: int, visit: SampledVisit) -> None:
        self._count(node, visit.operator.label)
        self._visit(node, number, value, visit)
        self._count(node, None)

    def _together(self, node: int, run: Sequence[SampledVisit]) -> None:
        """Visits whose messages move at the same time (`pointsman.runtime.api.together`); cycles of moving are counted for the
        first operator. Where one of them is not played so, they are visited in turn."""
        chosen = [(visit, number, value) for visit in run for number, value in self._chosen(visit, node)]
        here = [one for one in chosen if node in self.parts.operators[one[1]][1].operator.nodes]
        planned = [self.parts.operators[number][1] for _, number, _ in here]
        plain = all(map(_moves_beside_others, planned))
        calls = max((visit.count for visit, _, _ in here), default=0)
        uneven = any(visit.count < calls for visit, _, _ in here)
        if not plain or (uneven and calls > UNEVEN_CALLS):
            for visit, number, value in here:
                self._counted_visit(node, number, value, visit)
            return
        way = self.ways[node]
        for visit, number, value in here:
            self._count(node, visit.operator.label)
            self._add(way, [*self._weigh(way, visit.weight), *self.load(node, number, value)])
        rank = {id(run[at]): turn for turn, at in enumerate(run[0].together)}
        moving = sorted(here, key=lambda one: rank[id(one[0])])
        drafts = [self.parts.role(number, node, value, 0) for _, number, value in moving]
        moving = [one for one, draft in zip(moving, drafts, strict=True) if not draft.local and draft.kind != "none"]
        if not any(visit.phase is not None for visit in run):
            # Nobody has said the order of calls: who writes does so first, as nobody reads before that.
            moving.sort(key=lambda one: not any(lane.write for lane in self.parts.role(one[1], node, one[2], 0).lanes))
        if moving:
            self._count(node, moving[0][0].operator.label)
            played = calls if uneven else min(calls, CALLS)
            for call in range(played):
                weigh = []
                if call and calls > played:
                    weigh = self._weigh(way, moving[0][0].weight * (calls - 1) / (played - 1))
                steps, reads = [], []
                for visit, number, value in moving:
                    if call < visit.count:
                        made = self.call(node, number, value, call)
                        first, *second = self._halves(node, number, value, made) if visit.at_once else [made]
                        steps.append(first)
                        reads += second
                self._add(way, [*weigh, *self._joined([*steps, *reads])])
            self._add(way, self._passed(calls, played))
        self._count(node, None)

    def _in_turn(self, node: int, run: Sequence[SampledVisit]) -> bool:
        """Visits whose calls a node made in an order of its own. False, and nothing is done, if one of them is not played call by
        call."""
        chosen = [self._chosen(visit, node) for visit in run]
        parts = [self.parts.operators[number][1] for several in chosen for number, _ in several]
        if any(one.implementation.loading is Loading.RESCHEDULED for one in parts):
            return False
        way, made = self.ways[node], defaultdict[tuple[int, str], int](int)
        self._add(way, self._weigh(way, run[0].weight))
        for turn in run[0].calls:
            self._count(node, run[turn[0][0]].operator.label)
            calls: list[list[Step]] = []
            for at, what in turn:
                for number, value in chosen[at]:
                    if what == "load":
                        calls.append(self._loaded(node, number, value, run[at]))
                    else:
                        calls.append(self._called(node, number, value, what, made[at, what]))
                made[at, what] += 1
            plain = all(
                _moves_beside_others(self.parts.operators[number][1]) for at, _ in turn for number, _ in chosen[at]
            )
            for steps in [self._joined(calls)] if plain and len(calls) > 1 else calls:
                self._add(way, steps)
        self._count(node, None)
        return True

    def _loaded(self, node: int, number: int, value: int, visit: SampledVisit) -> list[Step]:
        """Steps of a load function, of messages that processors pass on too."""
        phase, one = self.parts.operators[number]
        if not isinstance(one.implementation, Online):
            return self.load(node, number, value)
        changes = self._play(node, enter(self.ways[node], phase))
        return [(k.COUNT, phase, 0), *changes, *self.messages.load(phase, node, one, visit)]

    def _called(self, node: int, number: int, value: int, what: str, made: int) -> list[Step]:
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
        first, *second = self._halves(node, number, value, steps)
        if not second:
            # The destination of a collect may write, too, but only to itself; others that do both do it in the call that writes.
            writes = any(lane.write for lane in draft.lanes if lane.turn != SYNC)
            moves = draft.kind if draft.kind != "both" else "write" if writes else "read"
            return steps if moves == what else []
        return first if what == "write" else second[0]

    def _joined(self, calls: Sequence[Sequence[Step]]) -> list[Step]:
        """Steps of calls that are carried out together."""
        key = ("joined", *(tuple(steps) for steps in calls))
        if key not in self._moves:
            self._moves[key] = joined(calls, self.lanes)
            moves = (step for step in self._moves[key] if step[0] == k.MOVE)
            self.most_lanes = max(self.most_lanes, *(end - first for _, first, end in moves), 0)
        return self._moves[key]

    def _count(self, node: int, label: str | None) -> None:
        """Let the cycles of later steps count for an operator, if they do not count for phases."""
        if self.counted is not None:
            where = len(self.plan.phases) if label is None else self.counted.get(label, len(self.plan.phases))
            self.ways[node].chunks.append(self._chunks.setdefault(((k.COUNT, where, 0),), len(self._chunks)))

    def standing(self) -> list[tuple[int, Row]]:
        """VFSMs that before any load function do not hold their routed row, but that of the first role that rewrites them."""
        found: dict[int, Row] = {}
        for number, (_, one) in enumerate(self.parts.operators):
            rewriting: dict[int, bool] = {}
            for node in self._nodes(number):
                like = one.like(node)
                if like not in rewriting:
                    rewriting[like] = bool(self.parts.role(number, like, 0, 0).settings)
                if rewriting[like]:
                    found.update(self._stands(number, node, 0, 0))
        return list(found.items())

    def _chosen(self, visit: SampledVisit, node: int | None = None) -> list[tuple[int, int]]:
        """Number of the planned operator of a visit, and index of its run-time value. An operator with a schedule for
        each value is planned several times, so several planned operators have its label. Empty if there is none. ``node``: whose
        visit it is, if not that of all."""
        numbers = self.by_label[visit.operator.label]
        if visit.phase is not None and len(numbers) > 1:
            numbers = [number for number in numbers if self.parts.operators[number][0] == visit.phase] or numbers
        if visit.values is not None:
            for number in numbers:
                one = self.parts.operators[number][1]
                if node is not None and one.implementation.loading is Loading.REMOTE:
                    return [(number, self._own_value(number, node, visit.values))]
                if visit.values in one.values:
                    return [(number, one.values.index(visit.values))]
        counts = [len(self.parts.operators[number][1].values) for number in numbers]
        block = max(1, self.parts.block(numbers[0]))
        total = sum(counts)
        value = choice(visit.operator.label, visit.number // block, total)
        for number, count in zip(numbers, counts, strict=True):
            if value < count:
                return [(number, value)]
            value -= count
        return []

    def _own_value(self, number: int, node: int, given: tuple[int, ...]) -> int:
        """Index of a value that only the node which sends commands has to know; any other is ready to read."""
        one = self.parts.operators[number][1]
        if self.parts.role(number, node, 0, 0).commands:
            return one.values.index(given)
        own = next((i.nodes.index(node),) for i in one.operator.instances if node in i.nodes)
        return one.values.index(own) if own in one.values else 0

    def _visit(self, node: int, number: int, value: int, visit: SampledVisit) -> None:
        way = self.ways[node]
        _, one = self.parts.operators[number]
        before = self._weigh(way, visit.weight)
        if isinstance(one.implementation, Online):
            self._visit_online(node, number, visit, before)
            return
        if one.implementation.loading is Loading.RESCHEDULED:
            self._add(way, [*before, *self._rescheduled(node, number, visit)])
            return
        steps: list[Step] = [*before, *self.load(node, number, value)]
        self._add(way, steps)
        draft = self.parts.role(number, node, value, 0)
        if draft.local or draft.kind == "none":
            return
        calls = visit.count * draft.turns
        played = calls if visit.own else min(calls, max(CALLS, draft.turns))
        writes = True
        if one.operator.kind == "collect" and not visit.own:
            writes = self._collects(node, one, value, visit.number)
        for call in range(played):
            steps = []
            if call and calls > played:
                steps = self._weigh(way, visit.weight * (calls - 1) / (played - 1))
            if visit.at_once:
                made = self.call_at_once(node, number, value, call)
            else:
                made = self.call(node, number, value, call, writes=writes)
            self._add(way, [*steps, *made])
        self._add(way, self._passed(calls, played))

    def call_at_once(self, node: int, number: int, value: int, call: int) -> list[Step]:
        """Steps of one call of an operator's I/O functions by a node that reads while it writes, if it does both."""
        return self._joined(self._halves(node, number, value, self.call(node, number, value, call)))

    def _halves(self, node: int, number: int, value: int, call: Sequence[Step]) -> list[list[Step]]:
        """Of the steps of a call in which a node writes and then reads, those of either function; else the call as it is."""
        if self.parts.role(number, node, value, 0).kind != "both" or sum(step[0] == k.MOVE for step in call) != 2:
            return [list(call)]
        read = max(at for at, step in enumerate(call) if step[0] == k.MOVE)
        return [list(call[:read]), list(call[read:])]

    @staticmethod
    def _collects(node: int, one: PlannedOperator, value: int, visit: int) -> bool:
        """Does the node write in this visit to a collect? A single node of each instance does."""
        for i, instance in enumerate(one.operator.instances):
            if node in instance.nodes:
                destination = operand(one.operator, i, "destination", one.values[value])
                if writer_of(one.operator, i, visit, destination) == node:
                    return True
        return False

    def _visit_online(self, node: int, number: int, visit: SampledVisit, before: list[Step]) -> None:
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        self._add(way, [*before, *self._loaded(node, number, 0, visit)])
        played = visit.count if visit.own else min(visit.count, CALLS)
        for call in range(played):
            if call and visit.count > played:
                self._add(way, self._weigh(way, visit.weight * (visit.count - 1) / (played - 1)))
            for steps in self.messages.calls(phase, node, one, visit):
                self._add(way, steps)
        self._add(way, self._passed(visit.count, played))

    def _rescheduled(self, node: int, number: int, visit: SampledVisit) -> list[Step]:
        """Steps of a visit to an operator whose nodes make a schedule for the values that they are given: as
        `pointsman.runtime.numesh.port.NumeshPort` loads it. Its words take the time that such a schedule gives them about."""
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        nodes = next(instance.nodes for instance in one.operator.instances if node in instance.nodes)
        steps: list[Step] = [(k.COUNT, phase, 0), *self._play(node, enter(way, phase))]
        moves = self._moves_asked(number, nodes, visit)
        cost = self._schedule_cost(one.operator.m, moves)
        meet = self._meet(node, number)
        if way.moves.get(number) != moves:
            way.moves[number] = moves
            work = self.memories.whole(node, phase) + round(cost.cycles)
            jumps = [*self._jump(node, -1, {}), *self._jump(node, phase, {})]
            steps += [*meet, (k.WAIT, work, 0), *jumps, *meet]
        if all(node not in move or move[0] == move[1] for move in moves):
            return steps
        call = round((one.operator.m - 0.5) * self.plan.period / cost.words + len(nodes) ** 0.5 + WAY_ENDS)
        return [*steps, (k.WAIT, call * visit.count, 0)]

    def _moves_asked(self, number: int, nodes: Sequence[int], visit: SampledVisit) -> Moves:
        """Who sends to whom in a visit to an operator that is scheduled at run time, in an instance."""
        operator = self.parts.operators[number][1].operator
        asked = visit.number // max(1, self.parts.block(number))
        if visit.permutation is not None:
            return moves_of(operator.kind, nodes, 0, visit.permutation)
        if operator.kind == "permute":
            key = operator.label, asked, nodes
            if key not in self._permuted:
                self._permuted[key] = moves_of(operator.kind, nodes, 0, typical_permutation(len(nodes), asked))
            return self._permuted[key]
        legal = runtime_values(operator)
        values = visit.values if visit.values in legal else legal[choice(operator.label, asked, len(legal))]
        return moves_of(operator.kind, nodes, operand(operator, 0, "distance", values))

    def _schedule_cost(self, m: int, moves: Moves) -> ScheduleCost:
        if (m, moves) not in self._schedules:
            self._schedules[m, moves] = schedule_cost(self.plan.topology, self.plan.shape, moves, self.plan.period, m)
        return self._schedules[m, moves]

    def _weigh(self, way: ProcessorState, weight: float) -> list[Step]:
        """Let the cycles of later steps count ``weight`` times; nothing if they do already."""
        if way.weight == weight:
            return []
        way.weight = weight
        return [(k.WEIGH, self._weight(weight), 0)]

    def _weight(self, weight: float) -> int:
        if weight not in self.weights:
            self.weights.append(weight)
        return self.weights.index(weight)

    def _passed(self, calls: int, played: int) -> list[Step]:
        """Steps after calls of which only some were played: what must not begin before some cycle can begin as much sooner as
        the others take."""
        return [(k.PASS, self._weight((calls - 1) / (played - 1)), 0)] if calls > played > 1 else []

    # -- init, fini, phases ----------------------------------------------------------------------------------

    def start(self, node: int) -> list[Step]:
        """Steps of cop_init: command words for the loader phase, then its pointer."""
        words = (self.plan.period + 1) * self.words
        pointer = [*self._send(node, {0: self.words}), (k.WAIT, POINTER_DRAIN, 0)]
        return [*self._send(node, {0: words}), (k.WAIT, self.plan.period // 2, 0), *pointer]

    def _finish(self, node: int, way: ProcessorState) -> list[Step]:
        steps = self._play(node, finish(way))
        return [*self._weigh(way, 1.0), *steps, (k.SETTLED, 0, 0)]

    def _send(self, node: int, words: dict[int, int], *, empty: bool = True) -> list[Step]:
        """Send command words, ``words`` by pipeline; with ``empty`` wait until the router has taken them."""
        key = ("send", node, tuple(words.items()), empty)
        if key not in self._moves:
            registers = {self.network.command(node, p): count for p, count in sorted(words.items()) if count}
            moved = self._move([LaneImage(True, (r,), count, "token") for r, count in registers.items()], 0)
            self._moves[key] = [*moved, *((k.EMPTY, r, 0) for r in registers if empty)]
        return self._moves[key]

    def _jump(self, node: int, phase: int, _: Changed) -> list[Step]:
        self.ways[node].current = phase
        runs = self.network.loader if phase < 0 else phase
        return [*self._send(node, {0: self.words}), (k.WAIT, POINTER_DRAIN, 0), (k.PHASE, runs, 0)]

    def _play(self, node: int, changes: Iterable[ChangeStep[Changed]]) -> list[Step]:
        return [step for do, phase, rewrites in changes for step in _WRITTEN[do](self, node, phase, rewrites or {})]

    def _wish(self, node: int, phase: int, rewrites: Changed) -> list[Step]:
        self.ways[node].standing.update(rewrites)
        self.memories.marks(node).wanted(phase, rewrites)
        return self._set(rewrites)

    def _settle(self, node: int, phase: int, _: Changed) -> list[Step]:
        return [(k.DUE, cycles, 1 + later) for later, cycles in self.memories.settles(node, phase).items()]

    def _turn(self, node: int, phase: int, _: Changed) -> list[Step]:
        return [(k.WAIT, self.memories.settles(node, phase).get(phase, 0), 0)]

    def _fill(self, node: int, phase: int, _: Changed) -> list[Step]:
        """Load what is missing of a phase. First loads count once, however many rounds of a loop this visit stands for."""
        way = self.ways[node]
        weight = way.weight
        in_turn, once = self.memories.load(node, phase)
        return [(k.WAIT, in_turn, 0), *self._weigh(way, 1.0), (k.WAIT, once, 0), *self._weigh(way, weight)]

    def _leave(self, node: int, phase: int, _: Changed) -> list[Step]:
        key = ("leave", node, phase)
        if key not in self._moves:
            planned = self.plan.phases[phase]
            meets = planned.barrier is not None and node in planned.barrier.roles
            steps = leaving(barrier=meets, technique=planned.technique)
            self._moves[key] = self._play(node, [(do, phase, None) for do in steps])
        return self._moves[key]

    def _meet_all(self, node: int, phase: int, _: Changed) -> list[Step]:
        barrier = self.plan.phases[phase].barrier
        assert barrier is not None
        steps = self._in_steps(phase, node, barrier.roles[node][0].lanes)
        return [*steps, (k.WAIT, barrier.delays.get(node, (barrier.drain,))[0], 0)]

    # -- load functions --------------------------------------------------------------------------------------

    def load(self, node: int, number: int, value: int) -> list[Step]:
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        if phase >= self.network.loader:
            # A continuing operator is ready in any of its phases.
            continuing = self.plan.continuing[phase - self.network.loader]
            way.value[number] = value
            if way.current in continuing.phases:
                return []
            entered = [(k.COUNT, continuing.enters[node], 0), *self._play(node, enter(way, continuing.enters[node]))]
            way.unused = True
            return entered
        if one.implementation.loading is Loading.REMOTE:
            return self._load_remote(node, number, value)
        if self._stays(way, number, phase):
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
                steps += _WRITTEN[do](self, node, at, rewrites or {})
        way.value[number] = value
        return steps

    def _load_remote(self, node: int, number: int, value: int) -> list[Step]:
        """Steps of a load function that sends commands to the routers of other nodes, as
        `pointsman.runtime.numesh.port.NumeshPort` does it."""
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        entered = self._play(node, enter(way, phase))
        steps: list[Step] = [(k.COUNT, phase, 0), *entered, *(self._meet(node, number) if entered else ())]
        commands = self.parts.role(number, node, value, 0).commands
        if commands and (entered or way.value.get(number) != value):
            delay = self._delay(one, node, value)
            lanes = [LaneImage(True, (register,), 1, "token") for register, _ in commands]
            steps += [(k.WAIT, delay, 0), *self._move_at(phase, node, lanes, 1)]
            steps += ((k.EMPTY, self.network.register(phase, node, register), 0) for register, _ in commands)
            for other in next(i.nodes for i in one.operator.instances if node in i.nodes):
                changed = self._changed(other, number, value, 0)
                self.ways[other].standing.update(changed)
                steps += self._set(changed)
            steps.append((k.WAIT, delay, 0))
        way.value[number] = value
        return steps

    def _meet(self, node: int, number: int) -> list[Step]:
        """Steps of the operator's own barrier; none if it has no such lanes. They are the same for all values, as nodes meet
        before they have rewritten."""
        key = ("meet", node, number)
        if key not in self._moves:
            phase = self.parts.operators[number][0]
            lanes = [lane for lane in self.parts.role(number, node, 0, 0).lanes if lane.turn == SYNC]
            self._moves[key] = self._in_steps(phase, node, lanes)
        return self._moves[key]

    def _in_steps(self, phase: int, node: int, lanes: Iterable[LaneImage]) -> list[Step]:
        """Move the lanes of a node's part in a barrier."""
        return [step for here in by_step(lanes) for step in self._move_at(phase, node, here, 1)]

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

    def _rewrite(self, node: int, changed: dict[int, Row], *, running: bool) -> list[Step]:
        if not changed:
            return []
        self.ways[node].standing.update(changed)
        steps = [*self._send(node, self.ways[node].commands(changed)), *self._set(changed)]
        return [*steps, (k.WAIT, ANNOTATION_DRAIN, 0)] if running else steps

    def _set(self, changed: dict[int, Row], how: int = k.SET) -> list[Step]:
        if not changed:
            return []
        first = len(self.settings)
        self.settings += [(vfsm, *row) for vfsm, row in changed.items()]
        return [(how, first, len(self.settings))]

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
        if one.stages == 1 and key in self._moves:
            return self._moves[key]
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
        if key not in self._moves:
            phase = self.parts.operators[number][0]
            second = self.network.second
            item = one.operator.type.words if by_item else 1
            parts = [self._move_at(phase, node, group, one.operator.m, item) for group in groups]
            if draft.switch is not None and phase in second:
                parts.insert(sum(group[0].step < draft.switch for group in groups), self._switch(node, second[phase]))
                parts.append(self._switch(node, phase))
            found = [step for part in parts for step in part]
            if delay and not one.implementation.loading.synchronised:
                found.append((k.DUE, delay, 0))
            self._moves[key] = found
        made = self._moves[key]
        if one.stages > 1 and call == draft.turns - 1:
            made = [*made, *self._go_on(node, number, value, lanes)]
        return made

    def _switch(self, node: int, schedule: int) -> list[Step]:
        """Go to the second schedule or back. Only the end of the phase waits until this command has been carried out."""
        return [*self._send(node, {0: self.words}, empty=False), (k.SWITCH, schedule, 0)]

    def _through_gate(self, node: int, number: int, value: int) -> list[Step]:
        way = self.ways[node]
        phase, one = self.parts.operators[number]
        stage = 1 + way.gates.get(number, 0) % (one.stages - 1)
        way.gates[number] = way.gates.get(number, 0) + 1
        lanes = self.parts.role(number, node, value, stage).lanes
        return [
            (k.SETTLED, 0, 0),
            *self._post(node, number, value, stage),
            *self._move_at(phase, node, lanes, one.operator.m),
            *self._post(node, number, value, 0),
        ]

    def _post(self, node: int, number: int, value: int, stage: int) -> list[Step]:
        changed = self._changed(node, number, value, stage)
        self.ways[node].standing.update(changed)
        if not changed:
            return []
        return [*self._send(node, self.ways[node].commands(changed), empty=False), *self._set(changed, k.LATER)]

    def _go_on(self, node: int, number: int, value: int, lanes: Sequence[LaneImage]) -> list[Step]:
        phase, one = self.parts.operators[number]
        rewritten = self._rewrite(node, self._changed(node, number, value, one.stages - 1), running=True)
        if not rewritten:
            return []
        registers = sorted({r for lane in lanes if lane.write for r in lane.registers})
        return [*((k.EMPTY, self.network.register(phase, node, r), 0) for r in registers), *rewritten]

    def _delay(self, one: PlannedOperator, node: int, value: int) -> int:
        return one.delays.get(node, (one.drain,) * len(one.values))[value]

    def _move_at(self, phase: int, node: int, lanes: Sequence[LaneImage], words: int, item: int = 1) -> list[Step]:
        """As `_move`, of lanes with virtual registers of a node in a phase."""
        return self._move(lanes, words, self.network.first_register(phase, node), item) if lanes else []

    def _move(self, lanes: Sequence[LaneImage], words: int, base: int = 0, item: int = 1) -> list[Step]:
        """Move along ``lanes``, whose registers count from ``base`` on the board; words of an item wait for a whole one."""
        if not lanes:
            return []
        first = len(self.lanes)
        for lane in lanes:
            self.lanes.append(
                (
                    int(lane.write),
                    lane.count(words),
                    -1 if lane.after is None else lane.after,
                    0 if lane.after_all else item,
                    -1 if lane.pair is None else lane.pair,
                    lane.window or 0,
                    len(self.turns),
                    len(lane.registers),
                )
            )
            self.turns += [base + register for register in lane.registers]
        self.most_lanes = max(self.most_lanes, len(lanes))
        return [(k.MOVE, first, len(self.lanes))]

    # -- the book --------------------------------------------------------------------------------------------

    def add(self, node: int, steps: list[Step]) -> None:
        """Append steps to those of a node."""
        self._add(self.ways[node], steps)

    def _add(self, way: ProcessorState, steps: list[Step]) -> None:
        if self.counted is not None:
            steps = [step for step in steps if step[0] != k.COUNT]
        kept = tuple([step for step in steps if step[1] or step[0] != k.WAIT])
        if kept:
            way.chunks.append(self._chunks.setdefault(kept, len(self._chunks)))

    def book(self) -> k.StepTable:
        first_step = np.zeros(len(self._chunks) + 1, np.int64)
        np.cumsum([len(chunk) for chunk in self._chunks], out=first_step[1:])
        first_chunk = np.zeros(len(self.ways) + 1, np.int64)
        np.cumsum([len(way.chunks) for way in self.ways], out=first_chunk[1:])
        return k.StepTable(
            _table((way.chunks for way in self.ways), 1)[:, 0],
            first_chunk,
            _table(chain.from_iterable(self._chunks), 3),
            first_step,
            _table(self.lanes, 8),
            np.array(self.turns, np.int64),
            _table(self.settings, 7),
            np.array(self.weights or [1.0]),
        )


def _moves_beside_others(one: PlannedOperator) -> bool:
    """Are the calls of an operator played together with those of others, if a node makes them at the same time?"""
    apart = isinstance(one.implementation, Online) or one.implementation.loading in (Loading.RESCHEDULED, Loading.GATED)
    return one.stages == 1 and not apart


def _table(rows: Iterable[Iterable[int]], columns: int) -> np.ndarray:
    """Numbers in rows of ``columns``."""
    return np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, columns)


# Functions, not bound methods: these would keep the writer, and with it the plan, until the garbage collector comes.
_WRITTEN: dict[str, Callable[[StepWriter, int, int, Changed], list[Step]]] = {
    Do.AWAIT_QUIET: lambda writer, node, phase, _: [(k.UNTIL, 1 + phase, 0)],
    Do.WISH: StepWriter._wish,
    Do.REWRITE_AHEAD: lambda writer, node, phase, changed: writer._rewrite(node, changed, running=False),
    Do.REWRITE: lambda writer, node, phase, changed: writer._rewrite(node, changed, running=True),
    Do.LEAVE: StepWriter._leave,
    Do.JUMP: StepWriter._jump,
    Do.SETTLE: StepWriter._settle,
    Do.LOAD: StepWriter._fill,
    Do.TURN: StepWriter._turn,
    Do.AWAIT_COMMANDS: lambda writer, node, phase, _: [(k.SETTLED, 0, 0)],
    Do.MEET_ALL: StepWriter._meet_all,
    Do.AWAIT_DEADLINE: lambda writer, node, phase, _: [(k.UNTIL, 0, 0)],
}
"""Kernel steps of each `Do`, given the node, the phase, and the VFSMs to be rewritten."""
