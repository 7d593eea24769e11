"""Steps of processors that change the phase, and that rewrite annotations of the running one: from cop_init to cop_fini.

The order is that of `pointsman.protocol.phase_change`, as in the run time (`pointsman.runtime.numesh.router`); here are the costs
of its steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from numesh.codes import Codes
from pointsman.artifacts.images.images import LaneImage, by_step
from pointsman.plan.membership.passages import passages
from pointsman.plan.plan import Plan
from pointsman.protocol.costs import ANNOTATION_DRAIN, POINTER_DRAIN
from pointsman.protocol.phase_change import ChangeStep, Do, finish, leaving

from .. import kernel as k
from ..board import BoardNumbers
from ..memories import PlannedMemories
from .processor_state import Changed, ProcessorState
from .tables import StepTables
from .together import Step


class PhaseSteps:
    """Steps of all nodes, whose states they change, in phases and between them."""

    def __init__(self, plan: Plan, network: BoardNumbers, memories: PlannedMemories, tables: StepTables) -> None:
        self.plan, self.network, self.memories, self.tables = plan, network, memories, tables
        self.words = Codes(plan.shape).command_words
        self._on_the_way: dict[int, dict[tuple[int, int], tuple[int, ...]]] = defaultdict(dict)
        for node, left, entered, between in passages(plan):
            self._on_the_way[node][left, entered] = between
        self.begin()

    def begin(self) -> None:
        """Begin again before the first phase, with empty memories."""
        self.memories.empty()
        self.ways = [
            ProcessorState(node, self.plan, self.network, self.memories, self._on_the_way[node], self.words)
            for node in range(self.network.nodes)
        ]

    def start(self, node: int) -> list[Step]:
        """Steps of cop_init: command words for the loader phase, then its pointer."""
        words = (self.plan.period + 1) * self.words
        pointer = [*self.send(node, {0: self.words}), (k.WAIT, POINTER_DRAIN, 0)]
        return [*self.send(node, {0: words}), (k.WAIT, self.plan.period // 2, 0), *pointer]

    def finish(self, node: int, way: ProcessorState) -> list[Step]:
        """Steps of cop_fini."""
        steps = self.play(node, finish(way))
        return [*self.tables.weigh(way, 1.0), *steps, (k.SETTLED, 0, 0)]

    def send(self, node: int, words: dict[int, int], *, empty: bool = True) -> list[Step]:
        """Send command words, ``words`` by pipeline; with ``empty`` wait until the router has taken them."""
        key = ("send", node, tuple(words.items()), empty)
        if key not in self.tables.kept:
            registers = {self.network.command(node, p): count for p, count in sorted(words.items()) if count}
            moved = self.tables.move([LaneImage(True, (r,), count, "token") for r, count in registers.items()], 0)
            self.tables.kept[key] = [*moved, *((k.EMPTY, r, 0) for r in registers if empty)]
        return self.tables.kept[key]

    def play(self, node: int, changes: Iterable[ChangeStep[Changed]]) -> list[Step]:
        """Steps of a change of phase, or of annotations."""
        return [step for do, phase, rewrites in changes for step in CHANGES[do](self, node, phase, rewrites or {})]

    def move_at(self, phase: int, node: int, lanes: Sequence[LaneImage], words: int, item: int = 1) -> list[Step]:
        """As `StepTables.move`, of lanes with virtual registers of a node in a phase."""
        return self.tables.move(lanes, words, self.network.first_register(phase, node), item) if lanes else []

    def meet(self, phase: int, node: int, lanes: Iterable[LaneImage]) -> list[Step]:
        """Move the lanes of a node's part in a barrier."""
        return [step for here in by_step(lanes) for step in self.move_at(phase, node, here, 1)]

    def rewrite(self, node: int, changed: Changed, *, running: bool) -> list[Step]:
        """Send new annotations of VFSMs; of a ``running`` phase, wait until they stand."""
        if not changed:
            return []
        self.ways[node].standing.update(changed)
        steps = [*self.send(node, self.ways[node].commands(changed)), *self.tables.rewrite(changed)]
        return [*steps, (k.WAIT, ANNOTATION_DRAIN, 0)] if running else steps

    def jump(self, node: int, phase: int, _: Changed) -> list[Step]:
        """Go to a phase; to the loader phase if it is negative."""
        self.ways[node].current = phase
        runs = self.network.loader if phase < 0 else phase
        return [*self.send(node, {0: self.words}), (k.WAIT, POINTER_DRAIN, 0), (k.PHASE, runs, 0)]

    def _wish(self, node: int, phase: int, rewrites: Changed) -> list[Step]:
        self.ways[node].standing.update(rewrites)
        self.memories.marks(node).wanted(phase, rewrites)
        return self.tables.rewrite(rewrites)

    def _settle(self, node: int, phase: int, _: Changed) -> list[Step]:
        return [(k.DUE, cycles, 1 + later) for later, cycles in self.memories.settles(node, phase).items()]

    def _turn(self, node: int, phase: int, _: Changed) -> list[Step]:
        return [(k.WAIT, self.memories.settles(node, phase).get(phase, 0), 0)]

    def _fill(self, node: int, phase: int, _: Changed) -> list[Step]:
        """Load what is missing of a phase. First loads count once, however many rounds of a loop this visit stands for."""
        way = self.ways[node]
        weight = way.weight
        in_turn, once = self.memories.load(node, phase)
        return [(k.WAIT, in_turn, 0), *self.tables.weigh(way, 1.0), (k.WAIT, once, 0), *self.tables.weigh(way, weight)]

    def _leave(self, node: int, phase: int, _: Changed) -> list[Step]:
        key = ("leave", node, phase)
        if key not in self.tables.kept:
            planned = self.plan.phases[phase]
            meets = planned.barrier is not None and node in planned.barrier.roles
            steps = leaving(barrier=meets, technique=planned.technique)
            self.tables.kept[key] = self.play(node, [(do, phase, None) for do in steps])
        return self.tables.kept[key]

    def _meet_all(self, node: int, phase: int, _: Changed) -> list[Step]:
        barrier = self.plan.phases[phase].barrier
        assert barrier is not None
        steps = self.meet(phase, node, barrier.roles[node][0].lanes)
        return [*steps, (k.WAIT, barrier.delays.get(node, (barrier.drain,))[0], 0)]


# Functions, not bound methods: these would keep the steps, and with it the plan, until the garbage collector comes.
CHANGES: dict[str, Callable[[PhaseSteps, int, int, Changed], list[Step]]] = {
    Do.AWAIT_QUIET: lambda steps, node, phase, _: [(k.UNTIL, 1 + phase, 0)],
    Do.WISH: PhaseSteps._wish,
    Do.REWRITE_AHEAD: lambda steps, node, phase, changed: steps.rewrite(node, changed, running=False),
    Do.REWRITE: lambda steps, node, phase, changed: steps.rewrite(node, changed, running=True),
    Do.LEAVE: PhaseSteps._leave,
    Do.JUMP: PhaseSteps.jump,
    Do.SETTLE: PhaseSteps._settle,
    Do.LOAD: PhaseSteps._fill,
    Do.TURN: PhaseSteps._turn,
    Do.AWAIT_COMMANDS: lambda steps, node, phase, _: [(k.SETTLED, 0, 0)],
    Do.MEET_ALL: PhaseSteps._meet_all,
    Do.AWAIT_DEADLINE: lambda steps, node, phase, _: [(k.UNTIL, 0, 0)],
}
"""Kernel steps of each `Do`, given the node, the phase, and the VFSMs to be rewritten."""
