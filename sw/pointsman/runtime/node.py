"""A node's processor: its router's memory, its phases, its operators.

Everything here awaits requests (``requests``) and keeps no cycles of its own, so an application runs the same on every
engine. What a COP compiler would generate as C (Metcalf 1997, §2.7, A.8) is data here: the images say for each operator
and node what its load, write, read and func functions do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import numpy as np

from numesh.codes import (
    ANNOTATION_LATENCY,
    LOOKAHEAD,
    NOP_VFSM,
    POINTER_LATENCY,
    REPROGRAM_VFSM,
    SHORTEST_LOOP,
    Annotation,
    Codes,
    ScheduleEntry,
)
from pointsman.errors import PointsmanError
from pointsman.images.image import Images, LaneImage, NodeOperator, NodePhase, OperatorImage, Rewrite, Role

from .requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

POINTER_DRAIN = POINTER_LATENCY - 1
"""Cycles from an empty command register, in which a pointer command executes, until no VFSM of the old phase can still take
a word from a register (§7.1.2): a word that is written one cycle before the first read of the new phase meets that."""
ANNOTATION_DRAIN = ANNOTATION_LATENCY - 1
"""The same for a command that changes an annotation."""
ALIGN = -3
"""The last word of the pointer command that starts the block of the loader phase is written in a cycle congruent to this,
modulo the period. Its entries then run in the slots in which they would run had the memories been filled before reset."""


class Clock(Protocol):
    """Where a node reads the time: cycles since reset, the same for all nodes (§1.4.1)."""

    @property
    def time(self) -> int: ...


class Node:
    """One node of a running program.

    Attributes
    ----------
    number : int
        Node number; x runs fastest.
    coordinates : tuple of int
        Its place, x first.
    nodes : int
        Nodes of the network.
    cop : Cop
        The functions of the COP program's operators.
    activity : str
        What the node is doing, in words, for reports.
    """

    def __init__(self, images: Images, number: int, clock: Clock, *, preloaded: bool = False) -> None:
        self.images = images
        self.number = number
        self.coordinates = images.topology.coordinates(number)
        self.nodes = images.topology.nodes
        self.clock = clock
        self.activity = "starting"
        self.router = Router(images, number, clock, preloaded=preloaded)
        self.cop = Cop(self)

    @property
    def time(self) -> int:
        """Cycles since reset."""
        return self.clock.time

    async def compute(self, cycles: int) -> None:
        """Work for ``cycles`` cycles."""
        self.activity = "computing"
        await Wait(cycles, Category.CPU)


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

    # -- phases ----------------------------------------------------------------------------------------------

    async def enter(self, phase: int, leave: Callable[[int], Awaitable[None]]) -> None:
        """Go on to ``phase`` (-1: the end of the program), through all phases in which this node has no operator."""
        for passed in self.passages.get((self.current, phase), ()):
            await self.change(passed, leave)
        if phase >= 0:
            await self.change(phase, leave)
        elif self.passages.get((self.current, phase)):
            await leave(self.current)

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


class Cop:
    """The functions of a COP program at one node: ``label_load``, ``label_write``, ``label_read``, ``label_func``.

    All are coroutines. ``label_load(*values)`` takes the run-time values in the order of the operands; every node of
    the operator's subset must call it before its other functions, and again for other values. ``label_write(message)``
    and ``label_read()`` belong to directional operators, ``label_func(message)`` to functional ones. A message of
    an array type is a NumPy array of exactly ``:m`` words; of a plain type a number.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._functions: dict[str, Callable[..., Awaitable[Any]]] = {}
        for index, operator in enumerate(node.images.operators):
            if any(phase.barrier == index for phase in node.images.phases):
                continue
            function = OperatorFunctions(node, index, operator)
            for name in ("load", "write", "read", "func"):
                self._functions[f"{operator.label}_{name}"] = getattr(function, name)
        for label in node.images.loops:
            self._functions[f"{label}_load"] = self._loop_load

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._functions[name]
        except KeyError:
            known = ", ".join(sorted(self._functions)) or "none"
            raise PointsmanError(
                f"the COP program {self._node.images.name} has no function {name}", hint=f"there are: {known}"
            ) from None

    async def _loop_load(self) -> None:
        """Loop load functions have nothing to hoist yet; all loading is done by the operators' own."""

    async def init(self) -> None:
        """Before anything else: start the loader phase (cop_init)."""
        self._node.activity = "loading"
        await self._node.router.start()

    async def fini(self) -> None:
        """At the end: go through phases that other nodes still run and that need this one (cop_fini)."""
        self._node.activity = "finishing"
        await self._node.router.enter(-1, self._leave)
        self._node.activity = "done"

    async def _leave(self, phase: int) -> None:
        """Make sure that no word of a phase is left in the router (§5.2.3)."""
        router = self._node.router
        image = self._node.images.phases[phase]
        if image.technique == "msg-sync":
            await WaitUntil(router.deadline, Category.PSYNC)
        elif image.technique == "barrier":
            assert image.barrier is not None
            if image.barrier in router.operators:
                self._node.activity = f"the barrier at the end of phase '{image.name}'"
                for lanes in [router.operators[image.barrier].roles[0].lanes]:
                    await Transfer([_lane(lane, 1, None, None) for lane in lanes], Category.PSYNC)


class OperatorFunctions:
    """load, write, read and func of one operator at one node."""

    def __init__(self, node: Node, index: int, operator: OperatorImage) -> None:
        self.node = node
        self.index = index
        self.operator = operator
        self.view = node.router.operators.get(index)
        self.role: Role | None = None
        self.values = {value: i for i, value in enumerate(operator.values)}
        name = operator.type.rstrip("*")
        self.array = operator.type.endswith("*")
        self.dtype = np.dtype(name)
        self.local: deque[np.ndarray] = deque()

    async def load(self, *values: int) -> None:
        """Get the router ready for the operator, with these run-time values."""
        node, router = self.node, self.node.router
        view = self._view("load")
        node.activity = f"{self.operator.label}_load"
        role = view.roles[view.role_of[self._value(values)]]
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
            await router.enter(phase, node.cop._leave)
        elif router.can_rewrite_now(changed):
            # While the old phase still drains (§5.2.3: "any required router reprogramming while the delay elapses").
            await router.rewrite(changed, running=False)
            await router.enter(phase, node.cop._leave)
        else:
            await router.enter(phase, node.cop._leave)
            await router.rewrite(changed, running=True)
        self.role = role
        node.activity = f"after {self.operator.label}_load"

    async def write(self, message: Any) -> None:
        """Send a message."""
        role = self._ready("write", "write")
        words = self._words(message)
        if role.local:
            self.local.append(words)
            return
        lanes = [lane for lane in role.lanes if lane.write] if role.kind == "both" else role.lanes
        await self._move("write", lanes, words, None)

    async def read(self) -> Any:
        """Receive a message."""
        role = self._ready("read", "read")
        if role.local:
            if not self.local:
                raise self._error("read", "reads what it has not written to itself")
            return self._message(self.local.popleft())
        words = np.zeros(self.operator.m, np.uint32)
        lanes = [lane for lane in role.lanes if not lane.write] if role.kind == "both" else role.lanes
        await self._move("read", lanes, None, words)
        return self._message(words)

    async def func(self, message: Any = None) -> Any:
        """Send a message and receive one."""
        role = self._ready("func", "func")
        if self.operator.kind == "barrier":
            await self._move("func", role.lanes, None, None)
            return None
        words = self._words(message)
        if role.local:
            return self._message(words.copy())
        received = np.zeros(self.operator.m, np.uint32)
        await self._move("func", role.lanes, words, received)
        return self._message(received)

    # -- inside ----------------------------------------------------------------------------------------------

    async def _move(
        self,
        what: str,
        lanes: Sequence[LaneImage],
        out: np.ndarray | None,
        received: np.ndarray | None,
    ) -> None:
        node = self.node
        node.activity = f"{self.operator.label}_{what}"
        await Transfer([_lane(lane, self.operator.m, out, received) for lane in lanes])
        node.activity = f"after {self.operator.label}_{what}"
        role = self.role
        if role is not None and role.delay:
            node.router.deadline = max(node.router.deadline, node.time + role.delay)

    def _view(self, what: str) -> NodeOperator:
        if self.view is None:
            raise self._error(what, "is not in its subset")
        return self.view

    def _ready(self, what: str, kind: str) -> Role:
        self._view(what)
        role = self.role
        if role is None:
            raise self._error(what, f"has not called {self.operator.label}_load")
        if self.node.router.current != self.operator.phase:
            running = self.node.router.current
            phase = self.node.images.phases[running].name if running >= 0 else "loader"
            raise self._error(what, f"has gone on to phase '{phase}' and must call {self.operator.label}_load again")
        if role.kind != kind and not (role.kind == "both" and kind in ("write", "read")):
            may = {
                "none": "may only load it",
                "both": "may write and read",
            }.get(role.kind, f"may only {role.kind}")
            raise self._error(what, may)
        return role

    def _value(self, values: tuple[int, ...]) -> int:
        names = self.operator.runtime
        if len(values) != len(names):
            wanted = f"the {' and the '.join(names)}" if names else "no values"
            raise self._error("load", f"must give {wanted}, not {len(values)} values")
        try:
            return self.values[tuple(int(value) for value in values)]
        except (KeyError, TypeError, ValueError):
            given = ", ".join(map(str, values))
            legal = ", ".join("/".join(map(str, v)) for v in self.operator.values[:12])
            more = ", …" if len(self.operator.values) > 12 else ""
            raise self._error("load", f"gives {' and '.join(names)} {given}; legal are {legal}{more}") from None

    def _error(self, what: str, rest: str) -> PointsmanError:
        where = f"{self.operator.source}: " if self.operator.source else ""
        return PointsmanError(f"{where}{self.operator.label}_{what}: node {self.node.number} {rest}")

    def _words(self, message: Any) -> np.ndarray:
        """The message as words, checked."""
        try:
            items = np.ascontiguousarray(message, self.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._error("write", f"sends what is no {self.operator.type}: {error}") from None
        words = items.reshape(-1).view(np.uint32)
        if words.size != self.operator.m:
            raise self._error("write", f"sends {words.size} words; the message has {self.operator.m} (:m)")
        return words

    def _message(self, words: np.ndarray) -> Any:
        items = words.view(self.dtype)
        return items if self.array else items[0].item()


def _lane(lane: LaneImage, m: int, out: np.ndarray | None, received: np.ndarray | None) -> Lane:
    words = m if lane.words is None else lane.words
    data = {"out": out, "in": received, "token": None}[lane.data]
    return Lane(lane.write, lane.registers, words, data, lane.after, lane.after_all, lane.window, lane.pair)


__all__ = ["NOP_VFSM", "Clock", "Cop", "Node", "Router"]
