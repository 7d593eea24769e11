"""A node's router as its processor sees it: contents of its memories, commands that change them, the phase that runs.

All waiting is done by requests (``requests``); nothing here counts cycles itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Generator, Sequence
from typing import TypeVar

import numpy as np

from numesh.codes import (
    LOOKAHEAD,
    REPROGRAM_VFSM,
    SHORTEST_LOOP,
    Annotation,
    Codes,
    ScheduleEntry,
)
from pointsman.artifacts.images.images import Images, NodeOperator, NodePhase, Rewrite
from pointsman.errors import PointsmanError
from pointsman.protocol.costs import ALIGN, ANNOTATION_DRAIN, POINTER_DRAIN, can_rewrite, rewrites_soon
from pointsman.protocol.phase_change import LOADER, ChangeStep, Do, enter
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil
from pointsman.runtime.api.substrate import CycleClock

from .residency import Memories

Leave = Callable[[int], Awaitable[None]]
"""Called with a phase: waits until no word of the phase is left in the router."""
Result = TypeVar("Result")


class Router:
    """A node's view of its own router: phases loaded, the phase that runs, and the annotations of VFSMs."""

    def __init__(self, images: Images, number: int, clock: CycleClock, *, preloaded: bool) -> None:
        if images.period < SHORTEST_LOOP:
            raise PointsmanError(
                f"a period must have at least {SHORTEST_LOOP} slots, not {images.period}",
                hint="the loader phase is a loop of the schedule, which needs an entry for each slot that it looks ahead",
            )
        self.images = images
        self.number = number
        self.clock = clock
        self.codes = Codes(images.shape)
        image = images.nodes[number]
        self.phases: dict[int, NodePhase] = {part.phase: part for part in image.phases}
        self.operators: dict[int, NodeOperator] = dict(image.operators)
        self.together: dict[int, tuple[int, ...]] = {}
        """By phase, the phases that are loaded with it: other schedules of the same operator."""
        self.passages = {(left, entered): way for node, left, entered, way in images.passages if node == number}
        self.current = LOADER
        """Phase that runs."""
        self.arrived: Callable[[], None] | None = None
        """Called each time the program's next phase starts to run."""
        self.unused = False
        """The phase that runs was entered for an operator that continues; no other operator has been loaded in it yet."""
        self.memories = Memories(images, number, preloaded=preloaded)
        self.preloaded = preloaded
        self.changes = 0
        """Changes of phase so far."""
        self.visits: Counter[int] = Counter()
        """How often each phase has been entered from another one."""
        self.loads = 0
        """Phases loaded so far, wholly or in part."""
        self.deadline = 0
        """Cycle from which on no word of the operators used so far is left in the router."""
        self.due: dict[int, bool] = {}
        """For each loaded operator of the phase that runs that exchanges words at this node: was it used?"""
        self.used: set[int] = set()
        """Operators that have been used, or loaded without words at this node, since the phase was entered from another phase;
        when the phase is repeated, in its last round."""
        self.quiet: dict[int, int] = {}
        """By phase, the cycle before which it must not be entered: neighbours could mistake its words for an earlier phase's."""
        self.standing: dict[int, dict[tuple[int, int], Annotation]] = {
            part.phase: {(r.pipeline, r.vfsm): r.annotation for r in part.annotations} for part in image.phases
        }
        """By phase, the annotation that each of its VFSMs is to have."""
        self.second = False
        """The second schedule of the phase runs."""
        self.posted: set[int] = set()
        """Pipelines whose command register may still hold commands."""
        self._slots = {
            phase: [sum(row[p] == REPROGRAM_VFSM for row in part.schedule) for p in range(images.shape.pipelines)]
            for phase, part in self.phases.items()
        }

    # -- commands --------------------------------------------------------------------------------------------

    async def send(self, pipeline: int, words: Sequence[int], category: Category) -> None:
        """Send command words through the command register of a pipeline."""
        data = np.array(words, np.uint64)
        await Transfer([Lane(True, (pipeline,), len(words), data)], category)

    async def start(self) -> None:
        """After reset: make the loader phase a block of one period, in step with all other nodes.

        While the block is being written its entries run in an undefined order, but every entry runs the reprogramming VFSM.
        """
        period = self.images.period
        if self.preloaded:
            return
        loader = (REPROGRAM_VFSM,) * self.images.shape.pipelines
        words: list[int] = []
        for slot in reversed(range(period)):
            words += self.codes.write_entry(slot, ScheduleEntry(loader, (slot + LOOKAHEAD) % period))
        first = self.codes.set_pointer(0, 1)
        await self.send(0, [*words, *first[:-1]], Category.ROUTER)
        await WaitEmpty(0, Category.ROUTER)
        wait = (ALIGN - self.clock.time) % period
        await Wait(wait, Category.ROUTER)
        await self.send(0, first[-1:], Category.ROUTER)
        await WaitEmpty(0, Category.ROUTER)
        await Wait(POINTER_DRAIN, Category.ROUTER)

    async def jump(self, phase: int, category: Category) -> None:
        """Add the distance to another block to the schedule pointer, and let the pipeline drain."""
        delta = (self._block(phase) - self._block(self.current)) * self.images.period
        self.current = phase
        await self.send(0, self.codes.add_pointer(delta), category)
        await WaitEmpty(0, category)
        await Wait(POINTER_DRAIN, category)
        if self.arrived is not None and phase >= 0:
            self.arrived()

    def keeps(self, phases: Sequence[int]) -> bool:
        """Does each of these phases, once loaded, stay in the memories (no other phase overwrites it)?"""
        return self.memories.marks.shared.staying.issuperset(phases)

    def _block(self, phase: int) -> int:
        return Images.LOADER_BLOCK if phase < 0 else self.images.phases[phase].block

    async def load(self, *phases: int) -> None:
        """Load missing entries and annotations of phases, all pipelines at once, in the loader phase only. Where phases share
        places, the last given remains."""
        period = self.images.period
        commands: list[list[int]] = [[] for _ in range(self.images.shape.pipelines)]
        for phase in phases:
            part, stands = self.phases[phase], self.standing[phase]
            for pipeline, vfsm in self.memories.missing(phase):
                commands[pipeline] += self.codes.write_annotation(vfsm, stands[pipeline, vfsm])
            if phase not in self.memories.marks.resident:
                second = self.images.phases[phase].second
                for block, rows in ((self._block(phase), part.schedule), (second, part.second)):
                    base = block * period
                    for slot, row in enumerate(rows):
                        entry = ScheduleEntry(row, base + (slot + LOOKAHEAD) % period)
                        commands[0] += self.codes.write_entry(base + slot, entry)
            self.memories.marks.loaded(phase)
            self.loads += 1
        lanes = [Lane(True, (p,), len(words), np.array(words, np.uint64)) for p, words in enumerate(commands) if words]
        if lanes:
            await Transfer(lanes, Category.ROUTER)
        for p, words in enumerate(commands):
            if words:
                await WaitEmpty(p, Category.ROUTER)
        await Wait(ANNOTATION_DRAIN, Category.ROUTER)

    async def switch(self, second: bool) -> None:
        """Go to the second schedule of the phase that runs, or back to the first. No drain is needed: both run the same
        VFSMs."""
        if second == self.second or not self.phases[self.current].second:
            return
        phase = self.images.phases[self.current]
        delta = (phase.second - phase.block) * self.images.period
        self.second = second
        self.posted.add(0)
        await self.send(0, self.codes.add_pointer(delta if second else -delta), Category.REPROG)

    def replace(self, part: NodePhase) -> None:
        """Give a phase another schedule, from its next load on. VFSMs with the same annotation as before belong to other
        operators and keep what load functions have set."""
        before = {(r.pipeline, r.vfsm): r.annotation for r in self.phases[part.phase].annotations}
        self.phases[part.phase] = part
        self.memories.replaced(part)
        for rewrite in part.annotations:
            place = rewrite.pipeline, rewrite.vfsm
            if before.get(place) != rewrite.annotation:
                self.standing[part.phase][place] = rewrite.annotation
        self._slots[part.phase] = [
            sum(row[p] == REPROGRAM_VFSM for row in part.schedule) for p in range(self.images.shape.pipelines)
        ]

    # -- phases ----------------------------------------------------------------------------------------------

    async def enter(self, phase: int, leave: Leave) -> bool:
        """Go on to a phase: `pointsman.protocol.phase_change.enter`."""
        return await self.play(enter(self, phase), leave)

    async def play(self, steps: Generator[ChangeStep[Sequence[Rewrite]], None, Result], leave: Leave) -> Result:
        """Carry out steps, each before the next is asked for."""
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                result: Result = end.value
                return result
            await self.take(step, leave)

    async def take(self, step: ChangeStep[Sequence[Rewrite]], leave: Leave) -> None:
        """Carry out a step of a change of phase."""
        do, phase, wanted = step
        rewrites = wanted or ()
        match do:
            case Do.AWAIT_QUIET:
                await WaitUntil(self.quiet.pop(phase, 0), Category.PSYNC)
            case Do.WISH:
                self._noted(phase, rewrites)
                self.memories.marks.wanted(phase, [(r.pipeline, r.vfsm) for r in rewrites])
            case Do.REWRITE_AHEAD | Do.REWRITE:
                await self.rewrite(phase, rewrites, running=do == Do.REWRITE)
            case Do.LEAVE:
                await leave(phase)
            case Do.JUMP:
                if phase >= 0:
                    self.due.clear()
                    self.used.clear()
                    self.changes += 1
                    self.visits[phase] += 1
                await self.jump(phase, Category.PSYNC)
            case Do.SETTLE:
                for later, settle in self.phases[phase].settle:
                    self.quiet[later] = max(self.quiet.get(later, 0), self.clock.time + settle)
            case Do.LOAD:
                await self.load(*self.memories.loaded_with(phase, self.together.get(phase, ())), phase)
            case Do.TURN:
                await Wait(dict(self.phases[phase].settle).get(phase, 0), Category.PSYNC)
                if self.arrived is not None:
                    self.arrived()
            case Do.AWAIT_COMMANDS:
                await self.settled()
            case Do.AWAIT_DEADLINE:
                await WaitUntil(self.deadline, Category.PSYNC)
            case _:
                raise AssertionError(step)

    def way(self, left: int, entered: int) -> tuple[int, ...] | None:
        return self.passages.get((left, entered))

    def holds(self, phase: int) -> bool:
        return self.memories.marks.holds(phase)

    def settling(self, left: int) -> Collection[int]:
        return dict(self.phases[left].settle)

    def passes_messages(self, phase: int) -> bool:
        return self.images.phases[phase].online is not None

    def begin(self, operator: int) -> None:
        """Note that an operator's use begins. If it was used already, it is beside those that are being used, or a new round of
        the phase begins; in either case those that come after it have not been used in this round."""
        if operator in self.used:
            self.used -= self.images.after.get(operator, set())

    async def post(self, phase: int, rewrites: Sequence[Rewrite]) -> None:
        """Send commands that change annotations of a phase, without waiting for their effect; `settled` waits for them."""
        commands = self._noted(phase, rewrites)
        if commands:
            self.posted |= set(commands)
            lanes = [Lane(True, (p,), len(w), np.array(w, np.uint64)) for p, w in sorted(commands.items())]
            await Transfer(lanes, Category.REPROG)

    async def settled(self) -> None:
        """Wait until commands that have been posted are carried out."""
        for p in sorted(self.posted):
            await WaitEmpty(p, Category.REPROG)
        self.posted.clear()

    # -- rewriting -------------------------------------------------------------------------------------------

    def changed(self, phase: int, rewrites: Sequence[Rewrite]) -> list[Rewrite]:
        """The rewrites that differ from the annotations that a phase has."""
        stands = self.standing[phase]
        return [r for r in rewrites if stands[r.pipeline, r.vfsm] != r.annotation]

    def can_rewrite(self, rewrites: Sequence[Rewrite]) -> bool:
        """Does the schedule of the phase that runs carry out commands for all pipelines of ``rewrites``?"""
        if self.current < 0:
            return True
        return can_rewrite({r.pipeline for r in rewrites}, self._slots[self.current])

    def soon(self, rewrites: Sequence[Rewrite]) -> bool:
        """Are the commands carried out sooner in the phase that runs than by way of the loader phase?"""
        if self.current < 0:
            return True
        words: dict[int, int] = {}
        for r in rewrites:
            words[r.pipeline] = words.get(r.pipeline, 0) + len(self.codes.write_annotation(r.vfsm, r.annotation))
        return rewrites_soon(words, self._slots[self.current], self.images.period)

    async def rewrite(self, phase: int, rewrites: Sequence[Rewrite], *, running: bool) -> None:
        """Change annotations of a loaded phase, in order within each pipeline; ``running``: the phase runs at present."""
        commands = self._noted(phase, rewrites)
        if not commands:
            return
        lanes = [Lane(True, (p,), len(w), np.array(w, np.uint64)) for p, w in sorted(commands.items())]
        await Transfer(lanes, Category.REPROG)
        for p in sorted(commands):
            await WaitEmpty(p, Category.REPROG)
        if running:
            await Wait(ANNOTATION_DRAIN, Category.REPROG)

    def _noted(self, phase: int, rewrites: Sequence[Rewrite]) -> dict[int, list[int]]:
        """Note the new annotations of VFSMs; gives the words of the commands by pipeline."""
        commands: dict[int, list[int]] = {}
        for r in rewrites:
            commands.setdefault(r.pipeline, []).extend(self.codes.write_annotation(r.vfsm, r.annotation))
            self.standing[phase][r.pipeline, r.vfsm] = r.annotation
        return commands
