"""The substrate of scheduled routers: a node's router memory, its phases, its operators.

Everything here awaits requests (``requests``) and keeps no cycles of its own, so an application runs the same on every
engine. What a COP compiler would generate as C (Metcalf 1997, §2.7, A.8) is data here: the images say for each operator
and node what its load, write, read and func functions do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numesh.codes import (
    ANNOTATION_LATENCY,
    LOOKAHEAD,
    POINTER_LATENCY,
    REPROGRAM_VFSM,
    SHORTEST_LOOP,
    Annotation,
    Codes,
    ScheduleEntry,
)
from pointsman.errors import PointsmanError
from pointsman.images.image import (
    SYNC,
    Combination,
    Images,
    LaneImage,
    NodeOperator,
    NodePhase,
    OperatorImage,
    Rewrite,
    Role,
)

from .face import Clock, Combine, Given, Part, Port, Signature
from .node import Node
from .online import Agent, agents_of, attended
from .online_port import OnlinePort, online_signature
from .requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil
from .scheduling import Schedule, schedule_moves

POINTER_DRAIN = POINTER_LATENCY - 1
"""Cycles from an empty command register, in which a pointer command executes, until no VFSM of the old phase can still take
a word from a register (§7.1.2): a word that is written one cycle before the first read of the new phase meets that."""
ANNOTATION_DRAIN = ANNOTATION_LATENCY - 1
"""The same for a command that changes an annotation."""
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
        self.passages = {(left, entered): way for node, left, entered, way in images.passages if node == number}
        self.current = -1
        """Phase that runs; -1: the loader phase."""
        self.resident: set[int] = set(self.phases) if preloaded else set()
        self.preloaded = preloaded
        self.deadline = 0
        """Cycle from which on no word of the operators used so far is left in the router."""
        self.standing: dict[tuple[int, int], Annotation] = {}
        for part in image.phases:
            for rewrite in part.annotations:
                self.standing[rewrite.pipeline, rewrite.vfsm] = rewrite.annotation
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

    def _block(self, phase: int) -> int:
        return Images.LOADER_BLOCK if phase < 0 else self.images.phases[phase].block

    async def load(self, phase: int) -> None:
        """Put a phase's schedule and VFSMs into the router's memories, all pipelines side by side. In the loader phase only."""
        end = self.clock.time + self.images.phases[phase].load_cycles
        part = self.phases[phase]
        period = self.images.period
        base = self._block(phase) * period
        commands: list[list[int]] = [[] for _ in range(self.images.shape.pipelines)]
        for annotation in part.annotations:
            stands = self.standing[annotation.pipeline, annotation.vfsm]
            commands[annotation.pipeline] += self.codes.write_annotation(annotation.vfsm, stands)
        for slot, row in enumerate(part.schedule):
            entry = ScheduleEntry(row, base + (slot + LOOKAHEAD) % period)
            commands[0] += self.codes.write_entry(base + slot, entry)
        lanes = [Lane(True, (p,), len(words), np.array(words, np.uint64)) for p, words in enumerate(commands) if words]
        await Transfer(lanes, Category.ROUTER)
        for p, words in enumerate(commands):
            if words:
                await WaitEmpty(p, Category.ROUTER)
        await Wait(ANNOTATION_DRAIN, Category.ROUTER)
        # As long as at every other node: those that left a phase together must not drift apart.
        await WaitUntil(end, Category.ROUTER)
        self.resident.add(phase)

    def replace(self, part: NodePhase) -> None:
        """From the next load on, a phase has this schedule."""
        self.phases[part.phase] = part
        self.resident.discard(part.phase)
        for rewrite in part.annotations:
            self.standing[rewrite.pipeline, rewrite.vfsm] = rewrite.annotation
        self._slots[part.phase] = [
            sum(row[p] == REPROGRAM_VFSM for row in part.schedule) for p in range(self.images.shape.pipelines)
        ]

    # -- phases ----------------------------------------------------------------------------------------------

    async def enter(self, phase: int, leave: Callable[[int], Awaitable[None]]) -> bool:
        """Go on to ``phase`` (-1: the end of the program), through all phases in which this node has no operator. Tells
        whether the phase before has been left."""
        way = self.passages.get((self.current, phase))
        for passed in way or ():
            await self.change(passed, leave)
        if phase >= 0:
            await self.change(phase, leave)
            return True
        if way is not None:
            await leave(self.current)
        return way is not None

    async def again(self, leave: Callable[[int], Awaitable[None]]) -> bool:
        """Before another use of the phase that runs: go with the nodes that leave it in between through the phases that need this
        one, or meet them. Tells whether the phase has been left."""
        phase = self.current
        way = self.passages.get((phase, phase))
        if way:
            for passed in (*way, phase):
                await self.change(passed, leave)
        elif way is not None:
            await leave(phase)
            await Wait(dict(self.phases[phase].settle).get(phase, 0), Category.PSYNC)
        return way is not None

    async def change(self, phase: int, leave: Callable[[int], Awaitable[None]]) -> None:
        """Close the current phase and start the next."""
        left = self.current
        if left == phase:
            return
        if left >= 0:
            await leave(left)
        if phase not in self.resident:
            if left >= 0:
                await self.jump(-1, Category.PSYNC)
            await self.load(phase)
        await self.jump(phase, Category.PSYNC)
        settle = dict(self.phases[left].settle).get(phase, 0) if left >= 0 else 0
        if settle:
            await Wait(settle, Category.PSYNC)

    # -- rewriting -------------------------------------------------------------------------------------------

    def changed(self, rewrites: Sequence[Rewrite]) -> list[Rewrite]:
        """Those that do not stand already."""
        return [r for r in rewrites if self.standing[r.pipeline, r.vfsm] != r.annotation]

    def can_rewrite_now(self, rewrites: Sequence[Rewrite]) -> bool:
        """Does the phase that runs carry commands to the pipelines in question?"""
        if self.current < 0:
            return True
        slots = self._slots[self.current]
        return all(slots[r.pipeline] for r in rewrites)

    async def rewrite(self, rewrites: Sequence[Rewrite], *, running: bool) -> None:
        """Change annotations, in order within each pipeline; ``running``: of VFSMs of the phase that runs."""
        commands: dict[int, list[int]] = {}
        for r in rewrites:
            commands.setdefault(r.pipeline, []).extend(self.codes.write_annotation(r.vfsm, r.annotation))
            self.standing[r.pipeline, r.vfsm] = r.annotation
        if not commands:
            return
        lanes = [Lane(True, (p,), len(w), np.array(w, np.uint64)) for p, w in sorted(commands.items())]
        await Transfer(lanes, Category.REPROG)
        for p in sorted(commands):
            await WaitEmpty(p, Category.REPROG)
        if running:
            await Wait(ANNOTATION_DRAIN, Category.REPROG)


class NumeshSubstrate:
    """A node on the mesh of scheduled routers."""

    def __init__(self, images: Images, number: int, clock: Clock, *, preloaded: bool = False) -> None:
        self.images = images
        self.name = images.name
        self.loops = images.loops
        self.number = number
        self.clock = clock
        self.router = Router(images, number, clock, preloaded=preloaded)
        self.agents = agents_of(images, number, clock)
        self.leaving: str | None = None
        """Phase whose closing barrier is running."""

    @property
    def agent(self) -> Agent | None:
        """Who serves online messages in the phase that runs."""
        return self.agents.get(self.router.current)

    def ports(self) -> list[tuple[Signature, Port | None]]:
        """Every operator of the program: not the barriers that close phases, nor what stands for online streams."""
        inner = {index for phase in self.images.phases for index in (phase.barrier, phase.online)}
        return [
            (signature_of(operator), self._port(index, operator))
            for index, operator in enumerate(self.images.operators)
            if index not in inner
        ]

    def _port(self, index: int, operator: OperatorImage) -> Port | None:
        view = self.router.operators.get(index)
        if view is None:
            return None
        if operator.online is not None:
            return OnlinePort(self, index, operator, view)
        return NumeshPort(self, index, operator, view)

    def attended(self, program: Coroutine[Any, None, Any]) -> Coroutine[Any, None, Any] | Generator[Any, None, Any]:
        """A program of this node, interrupted whenever an online message needs its processor."""
        return attended(lambda: self.agent, program) if self.agents else program

    async def init(self) -> None:
        """Start the loader phase."""
        await self.router.start()

    async def fini(self) -> None:
        """Go through phases that other nodes still run and that need this one."""
        left = await self.router.enter(-1, self.leave)
        phase = self.router.current
        if not left and phase >= 0 and self.images.phases[phase].online is not None:
            # Messages of others may still pass, and others wait in the barrier.
            await self.leave(phase)

    def where(self) -> str:
        phase = self.router.current
        if self.leaving is not None:
            return f"in the barrier at the end of phase '{self.leaving}'"
        return f"in phase '{self.images.phases[phase].name}'" if phase >= 0 else "in the loader phase"

    async def leave(self, phase: int) -> None:
        """Make sure that no word of a phase is left in the router (§5.2.3)."""
        router = self.router
        image = self.images.phases[phase]
        if image.technique == "msg-sync":
            await WaitUntil(router.deadline, Category.PSYNC)
        elif image.technique == "barrier":
            assert image.barrier is not None
            if image.barrier in router.operators:
                self.leaving = image.name
                lanes = router.operators[image.barrier].roles[0].lanes
                await Transfer([_lane(lane, 1, {}) for lane in lanes], Category.PSYNC)
                await Wait(router.operators[image.barrier].roles[0].delay, Category.PSYNC)
                self.leaving = None
        agent = self.agents.get(phase)
        if agent is not None and not agent.idle():
            raise PointsmanError(
                f"phase '{image.name}': a message to node {self.number} has not been read",
                hint="every message must be read before its phase ends",
            )


class NumeshPort:
    """One operator at one node: its load function rewrites the router, its others move the lanes of its role."""

    def __init__(self, substrate: NumeshSubstrate, index: int, operator: OperatorImage, view: NodeOperator) -> None:
        self.substrate = substrate
        self.router = substrate.router
        self.index = index
        self.operator = operator
        self.view = view
        self.role: Role | None = None
        self.value = -1
        """Index of the values that were loaded last."""
        self.calls: dict[str, int] = {}
        """Calls of each I/O function since then."""
        self.asked: tuple[tuple[int, int], ...] | None = None
        """Who sends to whom in the schedule that was made last."""
        self.partners: tuple[int | None, int | None] = (None, None)
        """Who sends to this node in it, and to whom this node sends."""
        self.own: deque[np.ndarray] = deque()
        """Messages that the destination of a collect sends to itself."""

    async def load(self, given: Given) -> Part:
        """Get the router ready for the operator, with these run-time values."""
        role = self._role_at(given.index, 0)
        entering = self.router.current != self.operator.phase or await self.router.again(self.substrate.leave)
        if self.operator.instances:
            await self._load_scheduled(role, given, entering)
            local = self.partners == (self.substrate.number, self.substrate.number)
            self.role, self.value = role, given.index
            return Part(role.kind, local, role.void)
        if self.operator.synchronised:
            await self._load_together(role, given.index, entering)
        else:
            await self._load_alone(role)
        self.role, self.value = role, given.index
        self.calls = {}
        return Part(role.kind, role.local, role.void)

    def _role_at(self, value: int, stage: int) -> Role:
        return self.view.roles[self.view.role_of[value * self.operator.stages + stage]]

    async def _load_alone(self, role: Role) -> None:
        router, leave = self.router, self.substrate.leave
        phase = self.operator.phase
        changed = router.changed(role.rewrites)
        if router.current == phase:
            if changed:
                await WaitUntil(router.deadline, Category.PSYNC)
                await router.rewrite(changed, running=True)
        elif phase not in router.resident:
            # The phase is loaded as it has to stand.
            for rewrite in changed:
                router.standing[rewrite.pipeline, rewrite.vfsm] = rewrite.annotation
            await router.enter(phase, leave)
        elif router.can_rewrite_now(changed):
            # While the old phase still drains (§5.2.3: "any required router reprogramming while the delay elapses").
            await router.rewrite(changed, running=False)
            await router.enter(phase, leave)
        else:
            await router.enter(phase, leave)
            await router.rewrite(changed, running=True)

    async def _load_together(self, role: Role, value: int, entering: bool) -> None:
        """Rewrite while no word of the operator is on its way: all its nodes have come so far, and none goes on before all
        have done it. All know the values, so all agree on whether there is anything to do."""
        router = self.router
        if entering:
            await self._load_alone(role)
        elif value == self.value and self.operator.stages == 1:
            return
        else:
            await self._meet(role)
            await Wait(role.delay, Category.PSYNC)
            await router.rewrite(router.changed(role.rewrites), running=True)
        await self._meet(role)

    async def _load_scheduled(self, role: Role, given: Given, entering: bool) -> None:
        """Work out a schedule for these values, all nodes the same, and load one's own part of it."""
        router, here = self.router, self.substrate.number
        images, phase = self.substrate.images, self.operator.phase
        instance = next(i for i, nodes in enumerate(self.operator.instances) if here in nodes)
        asked = _moves(self.operator, self.view, self.operator.instances[instance], given)
        if entering:
            await self._load_alone(role)
        elif asked == self.asked:
            return
        if asked != self.asked:
            await self._meet(role)
            made = _scheduled(images, self.index, instance, tuple(move for move in asked if move[0] != move[1]))
            await Wait(made.cycles, Category.CPU)
            router.replace(made.parts[here])
            await router.jump(-1, Category.PSYNC)
            await router.load(phase)
            await router.jump(phase, Category.PSYNC)
            self.asked = asked
        await self._meet(role)
        to = next((b for a, b in asked if a == here), None)
        origin = next((a for a, b in asked if b == here), None)
        self.partners = origin, to

    async def _meet(self, role: Role) -> None:
        """The operator's own barrier."""
        await Transfer([_lane(lane, 1, {}) for lane in role.lanes if lane.turn == SYNC], Category.PSYNC)

    def stale(self) -> str | None:
        running = self.router.current
        if running == self.operator.phase:
            if self.operator.stages > 1 and self.calls.get("stage"):
                return f"is through with its messages and must call {self.operator.label}_load again"
            return None
        phase = self.substrate.images.phases[running].name if running >= 0 else "loader"
        return f"has gone on to phase '{phase}' and must call {self.operator.label}_load again"

    async def write(self, words: np.ndarray) -> None:
        lanes = self._lanes("write")
        if self._role.kind == "both":
            lanes = [lane for lane in lanes if lane.write]
            if not lanes:
                self.own.append(words.copy())
                return
        await self._move(lanes, {"out": words})

    async def read(self, into: np.ndarray) -> bool:
        lanes = self._lanes("read")
        if self._role.kind == "both":
            lanes = [lane for lane in lanes if not lane.write]
            if self.own:
                into[:] = self.own.popleft()
                return True
        await self._move(lanes, {"in": into})
        return self._role.result

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        messages = {name: data for name, data in (("out", words), ("in", into)) if data is not None}
        lanes = self._lanes("func")
        if self.operator.instances:
            origin, to = self.partners
            lanes = [lane for lane in lanes if (to if lane.write else origin) is not None]
            await self._move(lanes, messages)
            return origin is not None or self.operator.kind == "eoshift"
        await self._move(lanes, messages, combine)
        return self._role.result

    @property
    def _role(self) -> Role:
        assert self.role is not None  # the face lets nobody in before load
        return self.role

    def _lanes(self, what: str) -> list[LaneImage]:
        """The lanes of this call of an I/O function."""
        call = self.calls.get(what, 0)
        self.calls[what] = call + 1
        turn = call % self._role.turns
        return [lane for lane in self._role.lanes if lane.turn == turn]

    async def _move(
        self, lanes: Sequence[LaneImage], messages: dict[str, np.ndarray], combine: Combine | None = None
    ) -> None:
        role, m = self._role, self.operator.m
        if role.combines or any(lane.step for lane in lanes):
            last = max(*(c.step for c in role.combines), *(lane.step for lane in lanes), 0, 0)
            for step in range(last + 1):
                for one in role.combines:
                    if one.step == step:
                        _combine(one, messages, m, combine)
                here = [lane for lane in lanes if lane.step == step]
                if here:
                    await Transfer([_lane(lane, m, messages) for lane in here])
        else:
            await Transfer([_lane(lane, m, messages) for lane in lanes])
        if role.delay and not self.operator.synchronised:
            self.router.deadline = max(self.router.deadline, self.substrate.clock.time + role.delay)
        if self.operator.stages > 1 and sum(self.calls.values()) == role.turns:
            await self._go_on(lanes)

    async def _go_on(self, lanes: Sequence[LaneImage]) -> None:
        """Through with its own messages, the node lets its router do what is left for others."""
        router = self.router
        self.calls["stage"] = 1
        later = self._role_at(self.value, self.operator.stages - 1)
        changed = router.changed(later.rewrites)
        if not changed:
            return
        for register in sorted({r for lane in lanes if lane.write for r in lane.registers}):
            await WaitEmpty(register, Category.REPROG)
        await router.rewrite(changed, running=True)


def _moves(
    operator: OperatorImage, view: NodeOperator, nodes: tuple[int, ...], given: Given
) -> tuple[tuple[int, int], ...]:
    """(from, to) for each node that sends in a shift or a permutation of ``nodes``."""
    size = len(nodes)
    if given.permutation is not None:
        return tuple((nodes[k], nodes[to]) for k, to in enumerate(given.permutation[:size]))
    (distance,) = given.numbers
    if operator.kind == "cshift":
        return tuple((node, nodes[(k + distance) % size]) for k, node in enumerate(nodes))
    return tuple((node, nodes[k + distance]) for k, node in enumerate(nodes) if 0 <= k + distance < size)


@lru_cache(maxsize=64)
def _schedule(key: _ImagesKey, operator: int, instance: int, moves: tuple[tuple[int, int], ...]) -> Schedule:
    return schedule_moves(key.images, operator, instance, moves)


def _scheduled(images: Images, operator: int, instance: int, moves: tuple[tuple[int, int], ...]) -> Schedule:
    """Each node works it out; here it is done once for all."""
    return _schedule(_ImagesKey(images), operator, instance, moves)


class _ImagesKey:
    """Images by identity: comparing them would cost more than the schedule."""

    def __init__(self, images: Images) -> None:
        self.images = images

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ImagesKey) and self.images is other.images

    def __hash__(self) -> int:
        return id(self.images)


def signature_of(operator: OperatorImage) -> Signature:
    """What an operator of the images looks like to an application."""
    if operator.online is not None:
        return online_signature(operator, operator.online.program)
    return Signature(
        operator.label,
        operator.kind,
        operator.type,
        operator.m,
        operator.runtime,
        operator.values,
        operator.function,
        operator.source,
    )


def numesh_node(
    images: Images,
    number: int,
    clock: Clock,
    *,
    preloaded: bool = False,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Node:
    """A node of a program on the mesh of scheduled routers."""
    substrate = NumeshSubstrate(images, number, clock, preloaded=preloaded)
    return Node(substrate, images.topology, number, clock, functions)


def _combine(one: Combination, messages: dict[str, np.ndarray], m: int, combine: Combine | None) -> None:
    result = messages.setdefault(one.result, np.zeros(m, np.uint32))
    if one.right:
        assert combine is not None
        combine(messages[one.left], messages[one.right], result)
    else:
        result[:] = messages[one.left]


def _lane(lane: LaneImage, m: int, messages: dict[str, np.ndarray]) -> Lane:
    """A request for the words of a lane; a message that the role keeps in between is made when it first comes."""
    words = m if lane.words is None else lane.words
    data = None if lane.data == "token" else messages.get(lane.data)
    if data is None and lane.data != "token":
        data = messages[lane.data] = np.zeros(m, np.uint32)
    return Lane(lane.write, lane.registers, words, data, lane.after, lane.after_all, lane.window, lane.pair)
