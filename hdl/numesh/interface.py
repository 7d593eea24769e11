"""Registers between the processor and the router, with a full bit each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

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
        Take the register.
    number : Signal(range(registers)), out
        Register of the request two cycles later.
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
        Put ``data`` into the register.
    number : Signal(range(registers)), out
        Register of the request two cycles later.
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

    Pipelines name a register two cycles before they ask for it. Its full bit, and which bank has its word, are looked up
    one cycle before, with what happens to it in that cycle, so that no request waits for a look-up.

    Latency: one cycle from a write, by either side, to its full bit. Router reads are immediate, given their number;
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
        Take the word of the register. If it is not full it stays as it is.
    p_write_data : Signal(width), in
        Valid with ``p_write``.
    p_full : Signal(registers), out
        Bit r: register r holds a word.
    p_read_data : Signal(width), out
        Word last written into the register of the last ``p_read``, from the cycle after it on.

    Attributes
    ----------
    banks : list of Memory
        The processor and each pipeline write a bank of their own, so every memory has one write port. A bank that does
        not have a register's word may be written in vain: who asks for a register that it may fill writes, before it is
        known whether another one wins.
    held_by_<p> : Signal(registers)
        Bit r: the word of register r is in the bank of pipeline p. In no pipeline's: in the processor's. Reset changes
        neither words nor this.
    """

    def __init__(self, *, shape: NodeShape) -> None:
        self.shape = shape
        ports = {f"read_{p}": In(read_signature(shape)) for p in range(shape.pipelines)}
        ports |= {f"write_{p}": In(write_signature(shape)) for p in range(shape.pipelines)}
        super().__init__(ports | processor_members(shape))
        depth = max(2, shape.registers)
        self.banks = [Memory(shape=shape.width, depth=depth, init=[]) for _ in range(1 + shape.pipelines)]
        self.held_by = [Signal(shape.registers, name=f"held_by_{p}", reset_less=True) for p in range(shape.pipelines)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        pipelines = range(shape.pipelines)
        full = self.p_full
        for k, bank in enumerate(self.banks):
            m.submodules[f"bank_{k}"] = bank
        chosen = Signal(shape.registers)
        m.d.comb += chosen.eq(_one_hot(self.p_address, shape.registers))

        readers = [_Accessor(m, shape, getattr(self, f"read_{p}").number, f"read_{p}") for p in pipelines]
        writers = [_Accessor(m, shape, getattr(self, f"write_{p}").number, f"write_{p}") for p in pipelines]
        everybody = readers + writers

        # Who gets what. Two that meet in a register see the same full bit, so of the lower one it is enough to know what
        # it asks for.
        reads = [getattr(self, f"read_{p}") for p in pipelines]
        writes = [getattr(self, f"write_{p}") for p in pipelines]
        fills = [write.ok for write in writes]
        takes = [read.taken for read in reads]
        asks: list[Value] = []
        clears: list[Value] = []
        for p, (reader, writer) in enumerate(zip(readers, writers, strict=True)):
            ask = writes[p].request & (~writer.full | writes[p].blind)
            lower = [writer.meets(m, writers[q]) & asks[q] for q in range(p)]
            hit = self.p_write & (self.p_address == writer.number)
            m.d.comb += fills[p].eq(ask & ~(hit & ~writer.full) & ~Cat(*lower).any())
            asks.append(ask)
            lower = [reader.meets(m, readers[q]) & reads[q].request for q in range(p)]
            take = reads[p].request & reader.full & ~Cat(*lower).any()
            m.d.comb += takes[p].eq(take & ~(self.p_read & (self.p_address == reader.number)))
            clears.append(take & ~reads[p].keep)

        # In ``asks`` and ``clears`` the processor is left out: a register that it takes or fills before a pipeline can is
        # empty or full all the same. So are lower pipelines in ``asks``, which fill the register in question.
        # What that means for those who come next.
        for access in everybody:
            looked_up = Signal(name=f"{access.name}_looked_up")
            hit = Signal(name=f"{access.name}_hit")
            m.d.comb += [
                looked_up.eq((full & access.next_select).any()),
                hit.eq(self.p_address == access.next_number),
            ]
            filled = [asks[p] & access.follows(m, writers[p]) for p in pipelines]
            cleared = [clears[p] & access.follows(m, readers[p]) for p in pipelines]
            left = Mux(looked_up, ~(hit & self.p_read), hit & self.p_write)
            m.d.sync += access.full.eq((left & ~Cat(*cleared).any()) | Cat(*filled).any())
            if access in readers:
                held_by = [(by & access.next_select).any() for by in self.held_by]
                by_processor = hit & self.p_write & ~looked_up
                by_pipeline = Cat(*filled).any()
                by = [
                    (won | (by & ~by_pipeline)) & ~by_processor for won, by in zip(_first(filled), held_by, strict=True)
                ]
                m.d.sync += access.bank.eq(_one_of(by))
        for r in range(shape.registers):
            filled = [asks[p] & writers[p].select[r] for p in pipelines]
            cleared = [clears[p] & readers[p].select[r] for p in pipelines]
            kept = Mux(full[r], ~(chosen[r] & self.p_read), chosen[r] & self.p_write)
            m.d.sync += full[r].eq((kept & ~Cat(*cleared).any()) | Cat(*filled).any())
            by_processor = chosen[r] & self.p_write & ~full[r]
            with m.If(by_processor | Cat(*filled).any()):
                m.d.sync += [
                    by[r].eq(~by_processor & won) for by, won in zip(self.held_by, _first(filled), strict=True)
                ]

        # Words.
        def rows(number: Value) -> list[Value]:
            """The words of all banks at a register."""
            ports = [bank.read_port(domain="comb") for bank in self.banks]
            m.d.comb += [port.addr.eq(number) for port in ports]
            return [port.data for port in ports]

        for p in pipelines:
            m.d.comb += reads[p].data.eq(_chosen(rows(readers[p].number), readers[p].bank))
        # The processor has a cycle, so the words of all banks are caught, and chosen from afterwards.
        there = 1 if shape.registers == 1 << len(self.p_address) else chosen.any()
        caught: list[Value] = []
        with m.If(self.p_read & there):
            for k, row in enumerate(rows(self.p_address)):
                caught.append(Signal(shape.width, name=f"p_read_{k}"))
                m.d.sync += caught[k].eq(row)
            held_by = [(by & chosen).any() for by in self.held_by]
            caught_bank = Signal(len(self.banks), name="p_read_bank", init=1)
            m.d.sync += caught_bank.eq(_one_of(held_by))
        m.d.comb += self.p_read_data.eq(_chosen(caught, caught_bank))
        # Four registers at a time, so that the write enable of the bank follows soon.
        taken = Cat(full, Const(7, 3))  # those that make the last four complete take nothing
        low, high = self.p_address[:2], self.p_address[2:]
        fours = [
            (high == r // 4) & self.p_write & ~taken[r : r + 4].bit_select(low, 1) for r in range(0, shape.registers, 4)
        ]
        p_fills = Cat(*fours).any()
        words = [(p_fills, self.p_address, self.p_write_data)]
        words += [(asks[p], writers[p].number, writes[p].data) for p in pipelines]
        for bank, (enable, number, word) in zip(self.banks, words, strict=True):
            port = bank.write_port()
            m.d.comb += [port.en.eq(enable), port.addr.eq(number), port.data.eq(word)]
        return m


def _first(asking: Sequence[Value]) -> list[Value]:
    """Of those who ask the first, in whose favour the others lose."""
    return [ask & ~Cat(*asking[:p]).any() if p else ask for p, ask in enumerate(asking)]


def _one_of(held_by: Sequence[Value]) -> Value:
    """A bit for each bank: the processor's holds what no pipeline's does."""
    return Cat(~Cat(*held_by).any(), *held_by)


def _chosen(rows: Sequence[Value], bank: Value) -> Value:
    """Of the words of all banks the one whose bit is set."""
    parts = [row & bit.replicate(len(row)) for row, bit in zip(rows, bank, strict=True)]
    return reduce(or_, parts)


class _Accessor:
    """A port of a pipeline: the register it asks for, whether that is full, and for readers in which bank its word is.

    ``coming`` is the number two cycles before, ``next_number`` one cycle before, ``number`` in the cycle of the request;
    ``select`` has a bit for each register.
    """

    def __init__(self, m: Module, shape: NodeShape, coming: Value, name: str) -> None:
        self.name = name
        self.coming = coming

        def signal(kind: str, width: int = 1) -> Signal:
            return Signal(width, name=f"{name}_{kind}", reset_less=True)

        self.next_number, self.number = signal("next_number", len(coming)), signal("number", len(coming))
        self.next_select, self.select = signal("next_select", shape.registers), signal("select", shape.registers)
        self.full = Signal(name=f"{name}_full")
        self.bank = signal("bank", 1 + shape.pipelines)
        m.d.sync += [
            self.next_number.eq(coming),
            self.number.eq(self.next_number),
            self.next_select.eq(_one_hot(coming, shape.registers)),
            self.select.eq(self.next_select),
        ]

    def follows(self, m: Module, other: _Accessor) -> Signal:
        """In the cycle before this one's request: ``other``, whose request is now, has the same register."""
        same = Signal(name=f"{self.name}_follows_{other.name}", reset_less=True)
        m.d.sync += same.eq(self.coming == other.next_number)
        return same

    def meets(self, m: Module, other: _Accessor) -> Signal:
        """In the cycle of both requests: they have the same register."""
        coming = Signal(name=f"{self.name}_will_meet_{other.name}", reset_less=True)
        same = Signal(name=f"{self.name}_meets_{other.name}", reset_less=True)
        m.d.sync += [coming.eq(self.coming == other.coming), same.eq(coming)]
        return same


def _one_hot(number: Value, count: int) -> Value:
    return Cat(number == r for r in range(count))
