"""A node's router as its processor sees it: what its memories hold, how to change them, which phase runs.

Everything here awaits requests (``requests``) and keeps no cycles of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

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
from pointsman.protocol.costs import ANNOTATION_DRAIN, POINTER_DRAIN, can_rewrite, rewrites_soon
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil
from pointsman.runtime.api.substrate import Clock

from .residency import Memories

ALIGN = -3
"""The last word of the pointer command that starts the block of the loader phase is written in a cycle congruent to this,
modulo the period. Its entries then run in the slots in which they would run had the memories been filled before reset."""


class Router:
    """A node's view of its own router: what is loaded, which phase runs, how its VFSMs stand."""

    def __init__(self, images: Images, number: int, clock: Clock, *, preloaded: bool) -> None:
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
        """By phase, those that are loaded with it: an operator's other schedules."""
        self.passages = {(left, entered): way for node, left, entered, way in images.passages if node == number}
        self.current = -1
        """Phase that runs; -1: the loader phase."""
        self.arrived: Callable[[], None] | None = None
        """Called when a phase runs."""
        self.unused = False
        """The phase that runs was entered for an operator that continues, and no other has been loaded there yet."""
        self.memories = Memories(images, number, preloaded=preloaded)
        self.preloaded = preloaded
        self.changes = 0
        """Changes of phase so far."""
        self.loads = 0
        """Phases loaded so far, wholly or in part."""
        self.deadline = 0
        """Cycle from which on no word of the operators used so far is left in the router."""
        self.due: dict[int, bool] = {}
        """By operator of the phase that runs, whether it was used after it was loaded; only those that exchange words here."""
        self.used: set[int] = set()
        """Operators that have been used since the phase was entered from another, or exchange no words here; of the last round,
        if rounds of it follow each other."""
        self.turned = False
        """The phase has been left and entered again since."""
        self.quiet: dict[int, int] = {}
        """By phase, the cycle before which it must not be entered: neighbours may take its words for an earlier phase's."""
        self.standing: dict[int, dict[tuple[int, int], Annotation]] = {
            part.phase: {(r.pipeline, r.vfsm): r.annotation for r in part.annotations} for part in image.phases
        }
        """By phase, how its VFSMs are to stand."""
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
        """Out of reset: make the loader phase a block of one period, in step with all other nodes.

        While the block is written it runs through entries in some order, but each of them runs the reprogramming VFSM.
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
        """Does each of these phases stay where it is once it has been loaded?"""
        return all(phase in self.memories.alone for phase in phases)

    def _block(self, phase: int) -> int:
        return Images.LOADER_BLOCK if phase < 0 else self.images.phases[phase].block

    async def load(self, *phases: int) -> None:
        """Put what is missing of these phases into the router's memories, all pipelines side by side. In the loader phase
        only. In the order given, where they have places in common."""
        period = self.images.period
        commands: list[list[int]] = [[] for _ in range(self.images.shape.pipelines)]
        for phase in phases:
            part, stands = self.phases[phase], self.standing[phase]
            for pipeline, vfsm in self.memories.missing(phase):
                commands[pipeline] += self.codes.write_annotation(vfsm, stands[pipeline, vfsm])
            if phase not in self.memories.resident:
                second = self.images.phases[phase].second
                for block, rows in ((self._block(phase), part.schedule), (second, part.second)):
                    base = block * period
                    for slot, row in enumerate(rows):
                        entry = ScheduleEntry(row, base + (slot + LOOKAHEAD) % period)
                        commands[0] += self.codes.write_entry(base + slot, entry)
            self.memories.loaded(phase)
            self.loads += 1
        lanes = [Lane(True, (p,), len(words), np.array(words, np.uint64)) for p, words in enumerate(commands) if words]
        if lanes:
            await Transfer(lanes, Category.ROUTER)
        for p, words in enumerate(commands):
            if words:
                await WaitEmpty(p, Category.ROUTER)
        await Wait(ANNOTATION_DRAIN, Category.ROUTER)

    async def switch(self, second: bool) -> None:
        """Go to the second schedule of the phase that runs, or back to the first. No word waits for that: both run the same
        VFSMs."""
        if second == self.second or not self.phases[self.current].second:
            return
        phase = self.images.phases[self.current]
        delta = (phase.second - phase.block) * self.images.period
        self.second = second
        self.posted.add(0)
        await self.send(0, self.codes.add_pointer(delta if second else -delta), Category.REPROG)

    def replace(self, part: NodePhase) -> None:
        """From the next load on, a phase has this schedule. VFSMs that are in it as before stay as load functions have set
        them: they are other operators'."""
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

    async def enter(
        self, phase: int, leave: Callable[[int], Awaitable[None]], rewrites: Sequence[Rewrite] = ()
    ) -> bool:
        """Go on to ``phase`` (-1: the end of the program), through all phases in which this node has no operator. Tells
        whether the phase before has been left: a node that stays where it is, or is at its end, leaves with those of its
        barrier that go on. ``rewrites`` are made before the phase runs."""
        before = self.current
        if self.unused and phase == before:
            # So far for an operator that continues: this is the phase's own first use, and no round lies behind the node.
            self.unused = False
            return False
        self.unused = False
        way = self.passages.get((before, phase))
        for passed in way or ():
            await self.change(passed, leave)
        if phase >= 0 and phase != self.current:
            await self.change(phase, leave, rewrites)
            return True
        if way is None:
            return False
        await leave(self.current)
        if phase == before and phase >= 0:
            self.turned = True
            await Wait(dict(self.phases[phase].settle).get(phase, 0), Category.PSYNC)
            if self.arrived is not None:
                self.arrived()
        return True

    def begin(self, operator: int) -> None:
        """A use of an operator begins. Between two uses of a phase it may have been left and entered again; that may be a new
        round of its operators, or only the next one's turn."""
        if self.turned and operator in self.used:
            self.used.clear()
        self.turned = False

    async def change(
        self, phase: int, leave: Callable[[int], Awaitable[None]], rewrites: Sequence[Rewrite] = ()
    ) -> None:
        """Close the current phase and start the next, whose annotations ``rewrites`` change."""
        left = self.current
        if left == phase:
            return
        # Neighbours may still be in a phase from which the node has come through others, though it is long since as a rule.
        await WaitUntil(self.quiet.pop(phase, 0), Category.PSYNC)
        if rewrites and not self.memories.holds(phase):
            # It is loaded as it has to stand.
            self.wish(phase, rewrites)
            rewrites = ()
        elif rewrites and self.soon(rewrites):
            # While the old phase still drains (§5.2.3: "any required router reprogramming while the delay elapses").
            await self.rewrite(phase, rewrites, running=False)
            rewrites = ()
        if left >= 0:
            await leave(left)
        self.due.clear()
        self.used.clear()
        self.turned = False
        self.changes += 1
        gone: int | None = None
        if not self.memories.holds(phase):
            if left >= 0:
                await self.jump(-1, Category.PSYNC)
                gone = self.clock.time
            together = [other for other in self.together.get(phase, ()) if not self.memories.holds(other)]
            others = [other for other in self.memories.certain(phase) if other not in together]
            await self.load(*together, *others, phase)
        elif rewrites:
            # In the loader phase commands need not wait for slots.
            if left >= 0:
                await self.jump(-1, Category.PSYNC)
                gone = self.clock.time
            await self.rewrite(phase, rewrites, running=True)
        await self.jump(phase, Category.PSYNC)
        # Neighbours have this long to leave; a node that loads has left before, and loads meanwhile.
        since = self.clock.time if gone is None else gone
        for later, settle in self.phases[left].settle if left >= 0 else ():
            if later == phase:
                await WaitUntil(since + settle, Category.PSYNC)
            else:
                self.quiet[later] = max(self.quiet.get(later, 0), since + settle)

    async def post(self, phase: int, rewrites: Sequence[Rewrite]) -> None:
        """Send commands that change annotations of a phase and go on before they have taken effect; `settled` waits for them."""
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
        """Those that do not stand already in a phase."""
        stands = self.standing[phase]
        return [r for r in rewrites if stands[r.pipeline, r.vfsm] != r.annotation]

    def can_rewrite_now(self, rewrites: Sequence[Rewrite]) -> bool:
        """Does the phase that runs carry commands to the pipelines in question?"""
        if self.current < 0:
            return True
        return can_rewrite({r.pipeline for r in rewrites}, self._slots[self.current])

    def soon(self, rewrites: Sequence[Rewrite]) -> bool:
        """Would the phase that runs carry commands out in less time than it takes to go through the loader phase?"""
        if self.current < 0:
            return True
        words: dict[int, int] = {}
        for r in rewrites:
            words[r.pipeline] = words.get(r.pipeline, 0) + len(self.codes.write_annotation(r.vfsm, r.annotation))
        return rewrites_soon(words, self._slots[self.current], self.images.period)

    def wish(self, phase: int, rewrites: Sequence[Rewrite]) -> None:
        """Annotations that are to stand when a phase is loaded next."""
        self._noted(phase, rewrites)
        self.memories.wanted(phase, [(r.pipeline, r.vfsm) for r in rewrites])

    async def rewrite(self, phase: int, rewrites: Sequence[Rewrite], *, running: bool) -> None:
        """Change annotations of a phase that is there, in order within each pipeline; ``running``: it is the one that runs."""
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
        """Note how VFSMs are to stand; words of the commands by pipeline."""
        commands: dict[int, list[int]] = {}
        for r in rewrites:
            commands.setdefault(r.pipeline, []).extend(self.codes.write_annotation(r.vfsm, r.annotation))
            self.standing[phase][r.pipeline, r.vfsm] = r.annotation
        return commands
