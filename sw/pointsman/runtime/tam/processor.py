"""A TAM processor: threads of the running frame from the local continuation vector, frames from the queue, inlets as messages
come (`handlers`).

Everything between two messages is ordinary Python; `_did` names what is done, in the terms of Tables 6-3 and 6-4.
"""

from __future__ import annotations

from collections import Counter, deque

from pointsman.errors import PointsmanError
from pointsman.runtime.active.layers import AnyEndpoint
from pointsman.runtime.active.trace import NodeTrace
from pointsman.runtime.api.requests import Category, Wait

from .assembler import ME, NODES, REGISTERS, SELF, TamError
from .costs import Costs
from .frames import NODE_SHIFT, Frame, Frames, FrameState
from .heap import Deferred, Heap, check_place, check_size
from .program import ARITHMETIC, Inlet, Instruction, Operand, Place, TamProgram, Value
from .values import LEAST, MOST, OPERATIONS, packed, whole

MOST_FRAMES = 1 << 16
POLL_EVERY = 8
"""Threads from poll to poll; a processor without threads takes messages anyway. About 4 % of the time, as in von Eicken
1993, §6.2.2.1."""
_WORD = 0xFFFFFFFF
MOST_TOLD = 4
"""Reasons why a node waits that are told at most."""


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

    def told(self) -> str:
        """What keeps the program from going on here, in words."""
        live = [frame for frame in self.frames.all if frame.live]
        waits = [
            f"{frame.block.name}.{thread.name} waits for {left} more of its {thread.count} forks and posts"
            for frame in live
            for thread, left in zip(frame.block.threads, frame.counters, strict=True)
            if 0 < left < thread.count
        ]
        reads = [f"a read of element {place} of a structure is deferred" for place in self.heap.waited_for()]
        found = [f"{len(live)} frame{'s' * (len(live) != 1)}, no thread is enabled", *waits, *reads]
        return "; ".join(found[:MOST_TOLD]) + ("; …" if len(found) > MOST_TOLD else "")

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
        where = f"{self.program.name}:{step.line}: {step.name} in thread {frame.block.name}.{thread}"
        return f"{where} on node {self.number}"

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

    def _swap(self, frame: Frame) -> None:
        """Let the next frame that is ready have its turn; threads that are enabled here wait until this frame has its own.

        Table 6-3 has no cost of it; it is counted as a stop, which takes from the LCV what runs next."""
        self._did("stop")
        frame.remote, self.local = [*frame.remote, *self.local], []
        self.running = None
        frame.state = FrameState.READY if frame.remote else FrameState.IDLE
        if frame.remote:
            self.ready.append(frame)

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
            case "swap":
                self._swap(frame)
                return -2
            case "poll":
                self._did("poll")
                await endpoint.poll()
                if not frame.live:
                    raise PointsmanError("the frame has been freed")
            case "halt":
                self.result = values
                for node in range(self.nodes):
                    if node != self.number:
                        await endpoint.request(node, "halt", replies=0)
                self.ended = True
            case "send":
                await self._send(endpoint, values[0], step.target, values[1:])
            case "sendto":
                await self._send(endpoint, values[0], whole(values[1], "an inlet"), values[2:])
            case "ffree" | "ifree":
                await self._free(endpoint, whole(values[0], f"what {name} frees"), name)
            case "falloc":
                inlets = step.other & 0xFFFF, step.other >> 16
                await self._allocated(endpoint, frame, values[0], name, step.target, inlets)
            case "ialloc":
                size = check_size(values[0], values[1])
                await self._allocated(endpoint, frame, values[1], name, size, (step.target, step.target))
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
            slot = frame.block.slot_name(int(one.value))
            raise PointsmanError(f"slot {slot} of a frame of {frame.block.name} is read before it is written")
        return value

    def _compute(self, frame: Frame, step: Instruction) -> None:
        to, *given = step.operands
        if step.name == "inletof":
            result: Value = step.target
        else:
            result = OPERATIONS[step.name](*(self._value(frame, one) for one in given))
        if isinstance(result, int) and not LEAST <= result <= MOST:
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

    async def _send(self, endpoint: AnyEndpoint, to: Value, inlet: int, values: list[Value]) -> None:
        pointer = whole(to, "a frame")
        node = pointer >> NODE_SHIFT
        if node == self.number:
            self._did(f"send local {len(values)}")
            self.deliver(pointer, inlet, values, local=True)
            return
        self._did(f"send remote {len(values)}")
        mask, data = packed(values)
        if not 0 <= inlet <= _WORD:
            raise PointsmanError(f"no code-block has an inlet {inlet}")
        await self._request(endpoint, node, "message", (pointer & _WORD, inlet, mask), data, 0)

    async def _free(self, endpoint: AnyEndpoint, pointer: int, what: str) -> None:
        """Free a frame or a structure."""
        node, number = pointer >> NODE_SHIFT, pointer & _WORD
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
        self, endpoint: AnyEndpoint, frame: Frame, where: Value, what: str, of: int, inlets: tuple[int, int]
    ) -> None:
        """Have a frame or a structure allocated; its pointer comes to the first inlet, a refusal to the second."""
        node = whole(where, "a node")
        if node == self.number:
            self._did("send local 2")
            made = self.frames.allocate(of) if what == "falloc" else self.heap.allocate(of)
            self.deliver(frame.number, inlets[made is None], [] if made is None else [made], local=True)
            return
        self._did("send remote 2")
        await self._request(endpoint, node, what, (of, frame.number, inlets[0] | inlets[1] << 16), b"", 1)

    async def _fetch(self, endpoint: AnyEndpoint, frame: Frame, values: list[Value], inlet: int, take: bool) -> None:
        pointer, index = whole(values[0], "a structure"), values[1]
        node = pointer >> NODE_SHIFT
        if node != self.number:
            self._did("ifetch remote")
            arguments = (pointer & _WORD, check_place(index, node, "fetched"), frame.number, inlet << 1 | take)
            await self._request(endpoint, node, "fetch", arguments, b"", 0)
            return
        value = self.heap.fetch(pointer, index, Deferred(self.number, frame.number, inlet, take))
        self._did(f"ifetch local {'deferred' if value is None else 'present'}")
        if value is not None:
            self._run_inlet(frame, frame.block.inlets[inlet], [value])

    async def _store(self, endpoint: AnyEndpoint, values: list[Value]) -> None:
        pointer, index, value = whole(values[0], "a structure"), values[1], values[2]
        node = pointer >> NODE_SHIFT
        if node != self.number:
            self._did("istore remote")
            mask, data = packed([value])
            arguments = (pointer & _WORD, check_place(index, node, "written"), mask)
            await self._request(endpoint, node, "store", arguments, data, 0)
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
