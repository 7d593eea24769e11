"""The network interface of a processor: logical queues, input buffer, commands."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Registers
from .matrix import one_hot
from .shape import COMMAND_WIDTH, SwitchShape, bits_for


def processor_members(shape: SwitchShape) -> dict[str, wiring.Member]:
    """Members of the processor port, by name: those of a NuMesh node's."""
    return {
        "p_address": In(bits_for(shape.registers)),
        "p_write": In(1),
        "p_read": In(1),
        "p_write_data": In(shape.width),
        "p_full": Out(shape.registers),
        "p_read_data": Out(shape.width),
    }


def network_members(shape: SwitchShape) -> dict[str, wiring.Member]:
    """Members of the side to scheduler and fabric, by name."""
    n = shape.ports
    return {
        "request": Out(n),
        "grant": In(n),
        "granted_source": In(n),
        "ready": Out(1),
        "out_ready": In(1),
        "out_valid": Out(1),
        "out_data": Out(shape.width),
        "in_source": In(n),
        "in_valid": In(1),
        "in_data": In(shape.width),
        "command_valid": Out(1),
        "command": Out(COMMAND_WIDTH),
        "command_done": In(1),
        "answer_valid": In(1),
        "answer": In(COMMAND_WIDTH),
    }


class NetworkInterface(wiring.Component):
    """N logical queues, one for each destination; an input buffer with a part for each source (Ding et al. 2005, §4).

    Under a grant a word of the queue leaves in each cycle, as from a DMA engine, if the receiver has room. What the processor
    may do is told by ``p_full`` alone; see `codes.Registers` for the addresses.

    Latency: one cycle from ``p_write`` to ``request``; one from ``grant`` to ``out_valid``; one from ``in_valid`` to
    ``p_full``; ``p_read_data`` follows ``p_read`` by one cycle.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    p_address : Signal(range(registers)), in
        Register of the processor's access. Numbers without a register do nothing.
    p_write : Signal(1), in
        Write ``p_write_data``. Nothing happens if the register is full.
    p_read : Signal(1), in
        Take the word of the register. Nothing happens if it is not full.
    p_write_data : Signal(width), in
        Valid with ``p_write``.
    p_full : Signal(registers), out
        Bit r: queue or command register r cannot be written; buffer or answer register r can be read.
    p_read_data : Signal(width), out
        Word of the last ``p_read``, from the cycle after it on.
    request : Signal(ports), out
        R: queue v has a word.
    grant : Signal(ports), in
        G: may send to v in this cycle; at most one bit.
    granted_source : Signal(ports), in
        Source u may send to this one in this cycle; at most one bit.
    ready : Signal(1), out
        There is room for a word of that source. Back along the circuit.
    out_ready : Signal(1), in
        The receiver of the granted connection is ready.
    out_valid : Signal(1), out
        ``out_data`` is a word; it was granted in the cycle before.
    out_data : Signal(width), out
        Valid with ``out_valid``.
    in_source : Signal(ports), in
        Source of ``in_data``, at most one bit.
    in_valid : Signal(1), in
        ``in_data`` is a word.
    in_data : Signal(width), in
        Valid with ``in_valid``.
    command_valid : Signal(1), out
        There is a command, and room for its answer.
    command : Signal(24), out
        Valid with ``command_valid``.
    command_done : Signal(1), in
        It has been carried out.
    answer_valid : Signal(1), in
        ``answer`` is one to this command.
    answer : Signal(24), in
        Valid with ``answer_valid``.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        super().__init__(processor_members(shape) | network_members(shape))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        registers = Registers(shape)
        selected = Signal(shape.registers)
        m.d.comb += selected.eq(one_hot(self.p_address, shape.registers))
        writes = Signal(shape.registers)
        reads = Signal(shape.registers)
        m.d.comb += [
            writes.eq(selected & ~self.p_full & self.p_write.replicate(shape.registers)),
            reads.eq(selected & self.p_full & self.p_read.replicate(shape.registers)),
        ]

        # To the network.
        queues = _Queues(m, shape, shape.queue_depth, "queue")
        full = Cat(count == shape.queue_depth for count in queues.counts)
        sends = Signal(n)
        m.d.comb += [
            self.request.eq(Cat(count.any() for count in queues.counts)),
            sends.eq(self.grant & self.request & self.out_ready.replicate(n)),
        ]
        queues.put(writes[:n], self.p_write_data)
        m.d.sync += [self.out_valid.eq(sends.any()), self.out_data.eq(queues.take(sends, self.grant))]

        # From the network.
        buffers = _Queues(m, shape, shape.buffer_depth, "buffer")
        # One place stays free, because a word may be on its way.
        room = Cat(count < shape.buffer_depth - 1 for count in buffers.counts)
        m.d.comb += self.ready.eq((room & self.granted_source).any())
        buffers.put(self.in_source & self.in_valid.replicate(n), self.in_data)
        taken = reads[n : 2 * n]
        word = buffers.take(taken, selected[n : 2 * n])

        # To the scheduler.
        pending, command = Signal(), Signal(COMMAND_WIDTH)
        answered, answer = Signal(), Signal(COMMAND_WIDTH)
        m.d.comb += [self.command_valid.eq(pending & ~answered), self.command.eq(command)]
        with m.If(writes[registers.command]):
            m.d.sync += [pending.eq(1), command.eq(self.p_write_data)]
        with m.If(self.command_done):
            m.d.sync += pending.eq(0)
        with m.If(reads[registers.answer]):
            m.d.sync += answered.eq(0)
        with m.If(self.command_done & self.answer_valid):
            m.d.sync += [answered.eq(1), answer.eq(self.answer)]

        m.d.comb += self.p_full.eq(
            Cat(
                full,
                Cat(count.any() for count in buffers.counts),
                pending,
                answered,
                self.request.any() | self.out_valid,
            )
        )
        with m.If(taken.any() | reads[registers.answer]):
            m.d.sync += self.p_read_data.eq(Mux(reads[registers.answer], answer, word))
        return m


class _Queues:
    """N queues of ``depth`` words in one memory, one word in and one out in a cycle.

    ``counts`` has the words in each.
    """

    def __init__(self, m: Module, shape: SwitchShape, depth: int, name: str) -> None:
        self._m = m
        self._memory = Memory(shape=shape.width, depth=shape.ports * depth, init=[])
        m.submodules[name] = self._memory
        bits = bits_for(depth)
        ports = range(shape.ports)
        self.counts = [Signal(range(depth + 1), name=f"{name}_count_{i}") for i in ports]
        self._ends = [Signal(bits, name=f"{name}_end_{i}") for i in ports]
        self._starts = [Signal(bits, name=f"{name}_start_{i}") for i in ports]
        self._puts, self._takes = Signal(shape.ports, name=f"{name}_puts"), Signal(shape.ports, name=f"{name}_takes")
        for i in ports:
            m.d.sync += [
                self.counts[i].eq(self.counts[i] + self._puts[i] - self._takes[i]),
                self._ends[i].eq(self._ends[i] + self._puts[i]),
                self._starts[i].eq(self._starts[i] + self._takes[i]),
            ]

    def put(self, select: Value, word: Value) -> None:
        """Put ``word`` into the queue whose bit is set, if one is."""
        port = self._memory.write_port()
        self._m.d.comb += [
            self._puts.eq(select),
            port.en.eq(select.any()),
            port.addr.eq(self._address(select, self._ends)),
            port.data.eq(word),
        ]

    def take(self, select: Value, place: Value) -> Value:
        """Take a word from the queue whose bit is set. ``place`` is the same bit, known sooner. Gives the word."""
        port = self._memory.read_port(domain="comb")
        self._m.d.comb += [self._takes.eq(select), port.addr.eq(self._address(place, self._starts))]
        return port.data

    def _address(self, select: Value, pointers: list[Signal]) -> Value:
        number = _number(select)
        low: Value = Value.cast(0)
        for bit, pointer in zip(select, pointers, strict=True):
            low = low | (pointer & bit.replicate(len(pointer)))
        return Cat(low, number)


def _number(select: Value) -> Value:
    """Number of the bit that is set; 0 if none is."""
    bits = bits_for(len(select))
    return Cat(Cat(select[i] for i in range(len(select)) if i >> b & 1).any() for b in range(bits))
