"""Registers between the processor and the router, with a full bit each."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import bits_for
from .shape import NodeShape


def read_signature(shape: NodeShape) -> wiring.Signature:
    """What a read stage asks of the interface registers.

    Members
    -------
    request : Signal(1), out
        Take register ``number``.
    number : Signal(range(registers)), out
        Valid with ``request``.
    keep : Signal(1), out
        Leave the register full (COPY).
    taken : Signal(1), in
        The register was full and nobody with precedence took it: ``data`` is the word.
    data : Signal(width), in
        Valid with ``taken``.
    """
    return wiring.Signature(
        {
            "request": Out(1),
            "number": Out(bits_for(shape.registers)),
            "keep": Out(1),
            "taken": In(1),
            "data": In(shape.width),
        }
    )


def write_signature(shape: NodeShape) -> wiring.Signature:
    """What a write stage asks of the interface registers.

    Members
    -------
    request : Signal(1), out
        Put ``data`` into register ``number``.
    number : Signal(range(registers)), out
        Valid with ``request``.
    blind : Signal(1), out
        Overwrite a full register (BLIND).
    data : Signal(width), out
        Valid with ``request``.
    ok : Signal(1), in
        The word is written at the end of this cycle.
    """
    return wiring.Signature(
        {
            "request": Out(1),
            "number": Out(bits_for(shape.registers)),
            "blind": Out(1),
            "data": Out(shape.width),
            "ok": In(1),
        }
    )


def processor_members(shape: NodeShape) -> dict[str, wiring.Member]:
    """Members of the processor port, by name, as the node and its Verilog module have them."""
    return {
        "p_address": In(bits_for(shape.registers)),
        "p_write": In(1),
        "p_read": In(1),
        "p_write_data": In(shape.width),
        "p_full": Out(shape.registers),
        "p_read_data": Out(shape.width),
    }


class InterfaceRegisters(wiring.Component):
    """Interface registers, processor port and arbitration (Metcalf 1997, §7.1.1, "Processor Interface").

    Each pipeline may read one register and write one register a cycle (the pipeline itself keeps to one access);
    the processor makes one access a cycle. Who comes first: the processor, then the pipeline with the lower
    number. So ``p_full`` alone tells the processor whether its access succeeds.

    Latency: one cycle from a write, by either side, to its full bit. Router reads are immediate;
    ``p_read_data`` follows ``p_read`` by one cycle.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.

    Ports
    -----
    read_<p> : read_signature(shape), in
        Read stage of pipeline p.
    write_<p> : write_signature(shape), in
        Write stage of pipeline p.
    p_address : Signal(range(registers)), in
        Register of the processor's access. Numbers without a register do nothing.
    p_write : Signal(1), in
        Fill the register with ``p_write_data``. Nothing happens if it is full.
    p_read : Signal(1), in
        Take the word of the register. Nothing happens if it is not full.
    p_write_data : Signal(width), in
        Valid with ``p_write``.
    p_full : Signal(registers), out
        Bit r: register r holds a word.
    p_read_data : Signal(width), out
        Word of the last successful ``p_read``, from the cycle after it on.

    Attributes
    ----------
    banks : list of Memory
        Words: what the processor wrote is in bank 0, what pipeline p wrote in bank p + 1.
    bank_of : list of Signal(registers)
        Bit r of the b-th signal is bit b of the number of the bank that holds the word of register r.
    """

    def __init__(self, *, shape: NodeShape) -> None:
        self.shape = shape
        ports = {f"read_{p}": In(read_signature(shape)) for p in range(shape.pipelines)}
        ports |= {f"write_{p}": In(write_signature(shape)) for p in range(shape.pipelines)}
        super().__init__(ports | processor_members(shape))
        writers = 1 + shape.pipelines
        self.banks = [Memory(shape=shape.width, depth=max(2, shape.registers), init=[]) for _ in range(writers)]
        self.bank_of = [Signal(shape.registers, name=f"bank_of_{b}") for b in range(bits_for(writers))]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        reads = [getattr(self, f"read_{p}") for p in range(shape.pipelines)]
        writes = [getattr(self, f"write_{p}") for p in range(shape.pipelines)]
        full = self.p_full
        p_holds = Signal()
        p_takes = Signal()
        p_fills = Signal()
        m.d.comb += [
            p_holds.eq(full.bit_select(self.p_address, 1)),
            p_takes.eq(self.p_read & p_holds),
            p_fills.eq(self.p_write & ~p_holds),
        ]

        # Who writes what, in order of precedence: a write fails if an earlier one has the same register.
        writers = [_Access(p_fills, self.p_address, self.p_write_data)]
        for write in writes:
            free = ~full.bit_select(write.number, 1) | write.blind
            m.d.comb += write.ok.eq(write.request & free & ~_among(write.number, writers))
            writers.append(_Access(write.ok, write.number, write.data))

        # A memory for each writer, and for each register the number of the memory that holds its word: every
        # memory has a single write port, which small FPGA memories and every tool can do.
        filled = [_bits(writer) for writer in writers]
        for k, (bank, writer) in enumerate(zip(self.banks, writers, strict=True)):
            m.submodules[f"bank_{k}"] = bank
            port = bank.write_port()
            m.d.comb += [port.en.eq(writer.enable), port.addr.eq(writer.number), port.data.eq(writer.data)]
        for b, plane in enumerate(self.bank_of):
            ones = _any([bits for k, bits in enumerate(filled) if k >> b & 1])
            m.d.sync += plane.eq((plane & ~_any(filled)) | ones)

        def word(number: Value, name: str) -> Value:
            result = Signal(shape.width, name=name)
            with m.Switch(Cat(*(plane.bit_select(number, 1) for plane in self.bank_of))):
                for k, bank in enumerate(self.banks):
                    port = bank.read_port(domain="comb")
                    m.d.comb += port.addr.eq(number)
                    with m.Case(k):
                        m.d.comb += result.eq(port.data)
            return result

        with m.If(p_takes):
            m.d.sync += self.p_read_data.eq(word(self.p_address, "p_word"))
        readers = [_Access(p_takes, self.p_address)]
        cleared = [_bits(readers[0])]
        for p, read in enumerate(reads):
            m.d.comb += [
                read.data.eq(word(read.number, f"word_{p}")),
                read.taken.eq(read.request & full.bit_select(read.number, 1) & ~_among(read.number, readers)),
            ]
            readers.append(_Access(read.taken, read.number))
            cleared.append(_bits(_Access(read.taken & ~read.keep, read.number)))

        m.d.sync += full.eq((full & ~_any(cleared)) | _any(filled))
        return m


@dataclass(frozen=True)
class _Access:
    """An access that succeeds if ``enable``."""

    enable: Value
    number: Value
    data: Value | None = None


def _bits(access: _Access) -> Value:
    """A bit per register, set at the register that is accessed."""
    return Mux(access.enable, Const(1, 1) << access.number, 0)


def _among(number: Value, accesses: list[_Access]) -> Value:
    return Cat(*(access.enable & (number == access.number) for access in accesses)).any()


def _any(masks: list[Value]) -> Value:
    result = masks[0]
    for mask in masks[1:]:
        result = result | mask
    return result
