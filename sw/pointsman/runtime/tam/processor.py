"""A TAM processor: threads of the running frame from the local continuation vector, frames from the queue, inlets as messages
come.

Everything between two messages is ordinary Python; `count` names what is done, in the terms of Tables 6-3 and 6-4. Handlers
run inlets; readers that an `istore` resumes on other nodes are told by the processor itself, since handlers send replies
only.
"""

from __future__ import annotations

import operator
import struct
from collections import Counter, deque
from collections.abc import Callable, Mapping

from pointsman.errors import PointsmanError
from pointsman.runtime.active import Handlers, Reply
from pointsman.runtime.active.layers import AnyEndpoint
from pointsman.runtime.active.trace import NodeTrace
from pointsman.runtime.api.requests import Category, Wait

from .assembler import ME, NODES, REGISTERS, SELF, TamError
from .costs import Costs
from .frames import NODE_SHIFT, Frame, Frames, FrameState
from .heap import Deferred, Heap
from .program import ARITHMETIC, Inlet, Instruction, Operand, Place, TamProgram, Value

MOST_FRAMES = 1 << 16
POLL_EVERY = 8
"""Threads from poll to poll; a processor without threads takes messages anyway. About 4 % of the time, as in von Eicken
1993, §6.2.2.1."""
_WORD = 0xFFFFFFFF
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def _shifted(one: int, other: int) -> int:
    return one << min(other, 64)  # too large in any case


def _divided(one: Value, other: Value) -> Value:
    return one // other if isinstance(one, int) and isinstance(other, int) else one / other


OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "mov": lambda one: one,
    "float": float,
    "int": int,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divided,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": _shifted,
    "shr": operator.rshift,
    "lt": lambda one, other: int(one < other),
    "le": lambda one, other: int(one <= other),
    "eq": lambda one, other: int(one == other),
    "ne": lambda one, other: int(one != other),
    "min": min,
    "max": max,
}


def packed(values: list[Value]) -> tuple[int, bytes]:
    """Values as 8 bytes each, and a mask of those that are fractions."""
    mask = sum(isinstance(value, float) << place for place, value in enumerate(values))
    try:
        return mask, b"".join(struct.pack("<d" if isinstance(one, float) else "<q", one) for one in values)
    except struct.error:
        raise PointsmanError("a value of a message has 64 bits at most") from None


def unpacked(mask: int, data: bytes) -> list[Value]:
    """The values that `packed` packed."""
    made: list[Value] = []
    for place in range(len(data) // 8):
        made.append(struct.unpack_from("<d" if mask >> place & 1 else "<q", data, 8 * place)[0])
    return made


class Processor:
    """A node's TAM processor.

    Attributes
    ----------
    events : Counter
        What was done, by the terms of `costs`.
    instructions : Counter
        Instructions carried out, by name.
    operands : int
        Reads and writes of slots by instructions.
    quanta, threads : int
        Frames that were scheduled, threads that were run.
    """

    def __init__(self, program: TamProgram, number: int, nodes: int, costs: Costs) -> None:
        self.program = program
        self.number = number
        self.nodes = nodes
        self.costs = costs
        self.frames = Frames(number, program, MOST_FRAMES)
        self.heap = Heap(number)
        self.registers: list[Value] = [0] * (REGISTERS + 3)
        self.registers[ME], self.registers[NODES] = number, nodes
        self.ready: deque[Frame] = deque()
        self.running: Frame | None = None
        self.local: list[int] = []
        """The local continuation vector (LCV)."""
        self.outbox: deque[tuple[Deferred, Value]] = deque()
        """Readers on other nodes that get a value."""
        self.events: Counter[str] = Counter()
        self.instructions: Counter[str] = Counter()
        self.operands = 0
        self._own: dict[str, int] = {}
        self._own_cycles = 0
        self.quanta = self.threads = 0
        self.posts = 0
        self.result: list[Value] | None = None
        """What the program gave, at the node that halted."""
        self.ended = False
        self.sent = self.handled = 0
        """Messages of the program, for its end."""
        self.counted: list[tuple[int, ...]] = []
        """What the nodes say: sent, handled, whether the program has ended there."""
        self.closed = False
        self.trace: NodeTrace | None = None

    def _did(self, event: str) -> None:
        """Count an event, and its cycles if it sends no message; those that do take the target's time."""
        self.events[event] += 1
        own = self._own.get(event)
        if own is None:
            own = self._own[event] = 0 if "remote" in event or event == "poll" else self.costs.of(event)
        self._own_cycles += own

    # -- inlets ----------------------------------------------------------------------------------------------

    def deliver(self, pointer: Value, inlet: int, values: list[Value], *, local: bool) -> None:
        """A message for an inlet of a frame."""
        if self.ended:
            return
        frame = self.frames.at(pointer, "sent a message")
        if not 0 <= inlet < len(frame.block.inlets):
            raise PointsmanError(f"code-block {frame.block.name} has no inlet {inlet}, to which a message came")
        one = frame.block.inlets[inlet]
        self._did(f"receive {'local' if local else 'remote'} {len(values)}")
        self._run_inlet(frame, one, values)

    def answered(self, pointer: int, inlet: int, value: Value) -> None:
        """The value of an `ifetch` or `mfetch`, whose cost has been counted where it began."""
        if not self.ended:
            frame = self.frames.at(pointer, "answered")
            self._run_inlet(frame, frame.block.inlets[inlet], [value])

    def _run_inlet(self, frame: Frame, one: Inlet, values: list[Value]) -> None:
        if len(values) != len(one.receive):
            raise PointsmanError(
                f"inlet {frame.block.name}.{one.name} receives {len(one.receive)} values, and {len(values)} came"
            )
        for slot, value in zip(one.receive, values, strict=True):
            frame.slots[slot] = value
        for step in one.code:
            self.instructions[step.name] += 1
            if step.name == "post":
                self._post(frame, step.target)
            else:
                self._did("alu")
                self._compute(frame, step)

    def _enabled(self, frame: Frame, thread: int) -> str:
        """Count a fork or post to a thread: is it enabled, and how?"""
        if frame.block.threads[thread].count == 1:
            return "unsynchronizing"
        frame.counters[thread] -= 1
        if frame.counters[thread] < 0:
            one = frame.block.threads[thread]
            raise PointsmanError(
                f"thread {frame.block.name}.{one.name} is enabled more than {one.count} times",
                hint="init sets its count again",
            )
        return "unsuccessful" if frame.counters[thread] else "successful"

    def _post(self, frame: Frame, thread: int) -> None:
        self.posts += 1
        found = self._enabled(frame, thread)
        self._did(f"post {frame.state.name.lower()} {found}")
        if found == "unsuccessful":
            return
        if frame.state == FrameState.RUNNING and self.costs.machine == "cm5":
            self.local.append(thread)
            return
        frame.remote.append(thread)
        if frame.state == FrameState.IDLE:
            frame.state = FrameState.READY
            self.ready.append(frame)

    # -- threads ---------------------------------------------------------------------------------------------

    def _next(self) -> bool:
        """See to it that the LCV has a thread: the running frame's, or, as a new quantum, those of the next frame that is
        ready."""
        if self.local:
            return True
        frame = self.running
        if frame is not None and not (frame.live and frame.state == FrameState.RUNNING):
            frame = None  # it has freed itself
        if frame is not None and frame.remote:  # hybrid: posted during the quantum
            self.local, frame.remote = frame.remote, []
            return True
        if frame is not None:
            frame.state = FrameState.IDLE
        self.running = None
        if not self.ready:
            if self.trace is not None and self.trace.running is not None:
                self.trace.runs(None)
            return False
        frame = self.ready.popleft()
        frame.state = FrameState.RUNNING
        self.running = frame
        self.local, frame.remote = frame.remote, []
        self.registers[SELF] = self.number << NODE_SHIFT | frame.number
        self.quanta += 1
        if self.trace is not None:
            self.trace.runs(frame.block.name)
            self.trace.counts("frames", self.frames.live)
            self.trace.counts("frames that are ready", len(self.ready) + 1)
        return True

    async def run(self, endpoint: AnyEndpoint) -> None:
        """Run threads until the program has ended."""
        following = -1
        while not self.ended:
            while self.outbox:
                reader, value = self.outbox.popleft()
                mask, data = packed([value])
                await self._request(endpoint, reader.node, "fetched", (reader.frame, reader.inlet, mask), data, 0)
            if following < 0:
                if not self._next():
                    await endpoint.until(lambda: bool(self.ready or self.outbox or self.ended))
                    continue
                following = self.local.pop()
            before = self._own_cycles
            following = await self._thread(endpoint, following)
            spent = self._own_cycles - before
            if spent:
                await Wait(spent, Category.CPU)
            self.threads += 1
            if (
                self.threads % POLL_EVERY == 0
            ):  # also where threads follow at once: a loop must not keep messages waiting
                self._did("poll")
                await endpoint.poll()

    async def close(self, endpoint: AnyEndpoint) -> None:
        """Once the program has ended here: wait until all messages of all nodes have been handled. Node 0 asks all, until it
        is so."""
        if self.trace is not None:
            self.trace.runs(None)
        await endpoint.until(lambda: not endpoint.due)
        while self.number == 0 and not self.closed:
            self.counted.clear()
            for node in range(self.nodes):
                await endpoint.request(node, "count")
            await endpoint.until(lambda: len(self.counted) == self.nodes)
            sent, handled, ended = map(sum, zip(*self.counted, strict=True))
            if ended == self.nodes and sent == handled:
                for node in range(self.nodes):
                    await endpoint.request(node, "close", replies=0)
        await endpoint.until(lambda: self.closed)

    async def _thread(self, endpoint: AnyEndpoint, number: int) -> int:
        """Run a thread of the running frame. Gives the thread that follows at once; -1 if none does."""
        frame = self.running
        assert frame is not None
        code = frame.block.threads[number].code
        for place, step in enumerate(code):
            last = place == len(code) - 1 or (place == len(code) - 2 and code[-1].name == "stop")
            self.instructions[step.name] += 1
            try:
                following = await self._step(endpoint, frame, number, step, last)
            except TamError:
                raise
            except PointsmanError as error:
                raise TamError(f"{self._where(frame, number, step)}: {error.message}", hint=error.hint) from None
            except (TypeError, ArithmeticError, ValueError) as error:
                raise TamError(f"{self._where(frame, number, step)}: {error}") from None
            if following >= 0 and not (frame.live and frame.state == FrameState.RUNNING):
                raise TamError(f"{self._where(frame, number, step)}: the frame has been freed")
            if following != -1:
                return following
            if self.ended:
                return -1
        self._did("stop")
        return -1

    def _where(self, frame: Frame, number: int, step: Instruction) -> str:
        thread = frame.block.threads[number].name
        return f"line {step.line}: {step.name} in thread {frame.block.name}.{thread} on node {self.number}"

    def _fork(self, frame: Frame, current: int, thread: int, last: bool) -> int:
        """Enable a thread of the running frame. Gives it if it is gone on to at once, -2 if the thread ends in another way,
        else -1."""
        found = self._enabled(frame, thread)
        if not last:
            self._did(f"fork push {found}")
            if found != "unsuccessful":
                self.local.append(thread)
            return -1
        if found != "unsuccessful" and thread == current + 1:
            self._did("fork fall through")
        else:
            self._did(f"fork branch {found}")
        return thread if found != "unsuccessful" else -2

    async def _step(self, endpoint: AnyEndpoint, frame: Frame, current: int, step: Instruction, last: bool) -> int:
        """Carry out an instruction. -1: go on; -2: the thread has ended; otherwise the thread that follows at once."""
        name = step.name
        if name in ARITHMETIC:
            self._did("alu")
            self._compute(frame, step)
            return -1
        values = [self._value(frame, one) for one in step.operands]
        match name:
            case "fork":
                return self._fork(frame, current, step.target, last)
            case "cfork":
                return self._fork(frame, current, step.target, False) if values[0] else -1
            case "switch":
                self._did("switch")
                return self._fork(frame, current, step.target if values[0] else step.other, last)
            case "init":
                self._did("init")
                frame.counters[step.target] = frame.block.threads[step.target].count
            case "stop":
                return -1
            case "halt":
                self.result = values
                for node in range(self.nodes):
                    if node != self.number:
                        await endpoint.request(node, "halt", replies=0)
                self.ended = True
            case "send":
                await self._send(endpoint, int(values[0]) >> NODE_SHIFT, int(values[0]), step.target, values[1:])
            case "sendto":
                await self._send(endpoint, int(values[0]) >> NODE_SHIFT, int(values[0]), int(values[1]), values[2:])
            case "ffree":
                await self._asked(endpoint, int(values[0]) >> NODE_SHIFT, "ffree", int(values[0]) & _WORD)
            case "ifree":
                await self._asked(endpoint, int(values[0]) >> NODE_SHIFT, "ifree", int(values[0]) & _WORD)
            case "falloc":
                inlets = step.other & 0xFFFF, step.other >> 16
                await self._allocated(endpoint, frame, int(values[0]), "falloc", step.target, inlets)
            case "ialloc":
                await self._allocated(
                    endpoint, frame, int(values[1]), "ialloc", int(values[0]), (step.target, step.target)
                )
            case "ifetch" | "mfetch":
                await self._fetch(endpoint, frame, values, step.target, name == "mfetch")
            case _:
                await self._store(endpoint, values)
        return -1

    def _value(self, frame: Frame, one: Operand) -> Value:
        if one.place == Place.IMMEDIATE:
            return one.value
        if one.place == Place.REGISTER:
            return self.registers[int(one.value)]
        self.operands += 1
        value = frame.slots[int(one.value)]
        if value is None:
            raise PointsmanError(f"slot {int(one.value)} of a frame of {frame.block.name} is read before it is written")
        return value

    def _compute(self, frame: Frame, step: Instruction) -> None:
        to, *given = step.operands
        if step.name == "inletof":
            result: Value = step.target
        else:
            result = OPERATIONS[step.name](*(self._value(frame, one) for one in given))
        if isinstance(result, int) and not _LEAST <= result <= _MOST:
            raise PointsmanError(f"{step.name} gives {result:.3g}, and a value has 64 bits")
        if to.place == Place.SLOT:
            self.operands += 1
            frame.slots[int(to.value)] = result
        else:
            self.registers[int(to.value)] = result

    # -- messages --------------------------------------------------------------------------------------------

    async def _request(
        self, endpoint: AnyEndpoint, node: int, handler: str, arguments: tuple[int, ...], data: bytes, replies: int
    ) -> None:
        if not 0 <= node < self.nodes:
            raise PointsmanError(f"there is no node {node} of {self.nodes}")
        self.sent += 1
        await endpoint.request(node, handler, arguments, data, replies=replies)

    async def _send(self, endpoint: AnyEndpoint, node: int, pointer: int, inlet: int, values: list[Value]) -> None:
        if node == self.number:
            self._did(f"send local {len(values)}")
            self.deliver(pointer, inlet, values, local=True)
            return
        self._did(f"send remote {len(values)}")
        mask, data = packed(values)
        await self._request(endpoint, node, "message", (pointer & _WORD, inlet, mask), data, 0)

    async def _asked(self, endpoint: AnyEndpoint, node: int, what: str, number: int) -> None:
        """Free a frame or a structure."""
        if node == self.number:
            self._did("send local 1")
            if what == "ifree":
                self.heap.free(number)
                return
            if self.local and self.running is self.frames.at(number, "freed"):
                raise PointsmanError("the frame that runs is freed with threads that are enabled")
            self.frames.free(number)
            return
        self._did("send remote 1")
        await self._request(endpoint, node, what, (number,), b"", 0)

    async def _allocated(
        self, endpoint: AnyEndpoint, frame: Frame, node: int, what: str, of: int, inlets: tuple[int, int]
    ) -> None:
        """Have a frame or a structure allocated; its pointer comes to the first inlet, a refusal to the second."""
        if node == self.number:
            self._did("send local 2")
            made = self.frames.allocate(of) if what == "falloc" else self.heap.allocate(of)
            self.deliver(frame.number, inlets[made is None], [] if made is None else [made], local=True)
            return
        self._did("send remote 2")
        await self._request(endpoint, node, what, (of, frame.number, inlets[0] | inlets[1] << 16), b"", 1)

    async def _fetch(self, endpoint: AnyEndpoint, frame: Frame, values: list[Value], inlet: int, take: bool) -> None:
        pointer, index = values
        node = int(pointer) >> NODE_SHIFT
        if node != self.number:
            self._did("ifetch remote")
            arguments = (int(pointer) & _WORD, int(index) & _WORD, frame.number, inlet << 1 | take)
            await self._request(endpoint, node, "fetch", arguments, b"", 0)
            return
        value = self.heap.fetch(pointer, index, Deferred(self.number, frame.number, inlet, take))
        self._did(f"ifetch local {'deferred' if value is None else 'present'}")
        if value is not None:
            self._run_inlet(frame, frame.block.inlets[inlet], [value])

    async def _store(self, endpoint: AnyEndpoint, values: list[Value]) -> None:
        pointer, index, value = values
        node = int(pointer) >> NODE_SHIFT
        if node != self.number:
            self._did("istore remote")
            mask, data = packed([value])
            await self._request(endpoint, node, "store", (int(pointer) & _WORD, int(index) & _WORD, mask), data, 0)
            return
        readers = self.heap.store(pointer, index, value)
        self._did(f"istore local {'deferred' if readers else 'empty'}")
        self.resume(readers, value)

    def resume(self, readers: list[Deferred], value: Value) -> None:
        """Give a value to readers that were deferred."""
        for one in readers:
            if one.node == self.number:
                self.answered(one.frame, one.inlet, value)
            else:
                self.outbox.append((one, value))


def _message(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    pointer, inlet, mask = arguments
    state.deliver(pointer, inlet, unpacked(mask, data), local=False)


def _fetched(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    pointer, inlet, mask = arguments
    state.answered(pointer, inlet, unpacked(mask, data)[0])


def _fetch(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if state.ended:
        return
    pointer, index, frame, inlet = arguments
    reader = Deferred(source, frame, inlet >> 1, bool(inlet & 1))
    value = state.heap.fetch(pointer, _signed(index), reader)
    if value is not None:
        state.outbox.append((reader, value))


def _store(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if state.ended:
        return
    pointer, index, mask = arguments
    value = unpacked(mask, data)[0]
    state.resume(state.heap.store(pointer, _signed(index), value), value)


def _signed(index: int) -> int:
    return index - (index >> 31 << 32)


def _falloc(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    state.handled += 1
    of, frame, inlets = arguments
    made = state.frames.allocate(of)
    if made is None:
        return Reply("answer", (frame, inlets >> 16, 0))
    return Reply("answer", (frame, inlets & 0xFFFF, 0), packed([made])[1])


def _ialloc(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    state.handled += 1
    size, frame, inlets = arguments
    return Reply("answer", (frame, inlets & 0xFFFF, 0), packed([state.heap.allocate(size)])[1])


def _ffree(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if not state.ended:
        state.frames.free(arguments[0])


def _ifree(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if not state.ended:
        state.heap.free(arguments[0])


def _count(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    return Reply("counted", (state.sent & _WORD, state.handled & _WORD, int(state.ended)))


def _counted(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.counted.append(arguments)


def _close(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.closed = True


def _halt(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.ended = True


def _answer(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    frame, inlet, mask = arguments
    state.deliver(frame, inlet, unpacked(mask, data), local=False)


def tam_handlers() -> Handlers:
    """The handlers of TAM."""
    handlers = Handlers()
    for name, function in (
        ("message", _message),
        ("fetch", _fetch),
        ("store", _store),
        ("falloc", _falloc),
        ("ialloc", _ialloc),
        ("ffree", _ffree),
        ("ifree", _ifree),
        ("fetched", _fetched),
        ("halt", _halt),
        ("count", _count),
        ("close", _close),
    ):
        handlers.add(name, function)
    handlers.add("answer", _answer, reply=True)
    handlers.add("counted", _counted, reply=True)
    return handlers
