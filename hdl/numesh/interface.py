"""Registers between the processor and the router, with a place for the word of each writer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import bits_for
from .kept import kept, kept_pairs
from .shape import NodeShape


def read_signature(shape: NodeShape) -> wiring.Signature:
    """What a read stage asks of the interface registers.

    Members
    -------
    number : Signal(range(registers)), out
        Register that is read three cycles later.
    asks : Signal(1), out
        In the next cycle the read stage takes the word of its register, if there is one. Of two pipelines that ask in one
        cycle none has the register of the other.
    found : Signal(1), in
        The register has a word for the pipeline that asked in the cycle before.
    names : Signal(1), out
        The VFSM that is in the read stage in the next cycle reads a register, whether it asks or not.
    keep : Signal(1), out
        And leaves it as it is (COPY).
    take : Signal(1), out
        Take the word. Only with ``found``.
    data : Signal(width), in
        Word of the register, if one is found. 0 if none was named in the cycle before.
    """
    return wiring.Signature(
        {
            "number": Out(bits_for(shape.registers)),
            "names": Out(1),
            "keep": Out(1),
            "asks": Out(1),
            "found": In(1),
            "take": Out(1),
            "data": In(shape.width),
        }
    )


def write_signature(shape: NodeShape) -> wiring.Signature:
    """What a write stage asks of the interface registers.

    Members
    -------
    number : Signal(range(registers)), out
        Register that is written three cycles later.
    full : Signal(1), in
        The place of this pipeline in the register of the next cycle holds a word, or did two cycles before.
    emptied : Signal(1), in
        The processor takes it in this cycle.
    same : Signal(1), in
        The register of the next cycle is that of this one: what is put there now will be there.
    put : Signal(1), out
        Put ``data`` into the register, over a word that is there.
    data : Signal(width), out
        Valid with ``put``.
    """
    return wiring.Signature(
        {
            "number": Out(bits_for(shape.registers)),
            "full": In(1),
            "emptied": In(1),
            "same": In(1),
            "put": Out(1),
            "data": Out(shape.width),
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
    """Interface registers and processor port (Metcalf 1997, §7.1.1, "Processor Interface").

    A register has a place for the word of each writer: the processor's, and one for each pipeline. A writer looks at its own
    place alone, so writers never meet. Who reads takes from one place after the other: a pipeline the pipelines' words, lower
    pipelines first, then the processor's; the processor those of pipelines only.

    Pipelines name a register three cycles before they ask for it, and its places are looked up two cycles before. What the
    processor does in these cycles is told at once, but for a place that it empties right after one of a lower pipeline, of which
    the writer is told a cycle later. What pipelines do is not, but that nobody finds a word that has been taken: a
    word that a pipeline puts into a register is found by pipelines from the third cycle on; a place that a pipeline has emptied
    is found empty by its writer from the third cycle on; right after a pipeline has found a word in a register no pipeline finds
    one there, and if it took the word, in the cycle after that only one that the processor has just written. A
    register is read by the processor or by pipelines, not by both: otherwise a word may be taken twice. A pipeline that puts a
    word over another, just before that is taken, may lose it.

    Latency: one cycle from a write, by either side, to ``p_full``, and from a write of the processor to a read stage.
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
        Put ``p_write_data`` into the processor's place, over a word that is there.
    p_read : Signal(1), in
        Take a word of a pipeline. If there is none the register stays as it is.
    p_write_data : Signal(width), in
        Valid with ``p_write``.
    p_full : Signal(registers), out
        Bit r: a place of register r holds a word.
    p_read_data : Signal(width), out
        Word taken by the last ``p_read``, from the cycle after it on. If there was none, what the highest pipeline wrote last.

    Attributes
    ----------
    banks : list of Memory
        Words: the processor's, then those of each pipeline.
    full : list of Signal(registers)
        Which of them are there.
    """

    def __init__(self, *, shape: NodeShape) -> None:
        self.shape = shape
        ports = {f"read_{p}": In(read_signature(shape)) for p in range(shape.pipelines)}
        ports |= {f"write_{p}": In(write_signature(shape)) for p in range(shape.pipelines)}
        super().__init__(ports | processor_members(shape))
        depth = max(2, shape.registers)
        names = ["processor", *(f"pipeline_{p}" for p in range(shape.pipelines))]
        self.banks = [Memory(shape=shape.width, depth=depth, init=[]) for _ in names]
        self.full = [Signal(shape.registers, name=f"full_{name}") for name in names]
        self._last_address = Signal.like(self.p_address, name="last_address", reset_less=True)
        self._last_write = Signal(name="last_write")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        pipelines = range(shape.pipelines)
        for k, bank in enumerate(self.banks):
            m.submodules[f"bank_{k}"] = bank
        mine, theirs = self.full[0], self.full[1:]
        reads = [getattr(self, f"read_{p}") for p in pipelines]
        writes = [getattr(self, f"write_{p}") for p in pipelines]
        chosen = Signal(shape.registers)
        m.d.comb += [
            chosen.eq(_one_hot(self.p_address, shape.registers)),
            self.p_full.eq(reduce(or_, self.full)),
        ]
        m.d.sync += [self._last_address.eq(self.p_address), self._last_write.eq(self.p_write)]
        readers = [_Accessor(m, shape, read.number, f"read_{p}") for p, read in enumerate(reads)]
        writers = [_Accessor(m, shape, write.number, f"write_{p}") for p, write in enumerate(writes)]

        # -- Readers ---------------------------------------------------------------------------------------------
        empties = [Signal(len(self.full), name=f"read_{p}_empties") for p in pipelines]
        leave = [Signal(name=f"read_{p}_leaves") for p in pipelines]
        for p in pipelines:
            self._reader(m, p, readers, reads, empties, leave)

        # -- Writers: is the own place empty? -----------------------------------------------------------------------
        for p, writer in enumerate(writers):

            def flop(kind: str, value: Value, p: int = p) -> Signal:
                signal = Signal(name=f"write_{p}_{kind}")
                m.d.sync += signal.eq(value)
                return signal

            # Two cycles before: what is there, and what happens to it.
            full = flop("full", self._at(m, f"write_{p}", theirs[p], writer))
            read = flop("read", self.p_read & (self.p_address == writer.two_number))
            put = flop("put", writes[p].put & writer.same(m, writer, 2))
            lower = _any([self._at(m, f"write_{p}_lower_{q}", theirs[q], writer) for q in range(p)])
            lower_put = _any([writes[q].put & writer.same(m, writers[q], 2) for q in range(p)])
            untold, lower = flop("untold", lower | lower_put), flop("lower", lower)
            # One cycle before.
            m.d.comb += [
                writes[p].full.eq(kept(m, f"write_{p}_full", (full & ~(read & ~lower)) | put)),
                writes[p].emptied.eq(
                    kept(m, f"write_{p}_emptied", self.p_read & (self.p_address == writer.one_number) & ~untold)
                ),
                writes[p].same.eq(writer.same(m, writer, 1)),
            ]

        # -- Full bits -------------------------------------------------------------------------------------------
        # For all registers at once: a simulation of the Verilog then does with words what it would do bit by bit.
        def all_of(bit: Value) -> Value:
            return bit.replicate(shape.registers)

        fours = range(0, shape.registers, 4)
        reading = [kept(m, f"reading_{r}", (self.p_address[2:] == r // 4) & self.p_read) for r in fours]
        in_four = _one_hot(self.p_address[:2], 4)
        at_processor = Cat(in_four & four.replicate(4) for four in reading)[: shape.registers]
        cleared = [all_of(empties[p][0]) & readers[p].zero for p in pipelines]
        m.d.sync += mine.eq((mine & ~reduce(or_, cleared)) | (chosen & all_of(self.p_write)))
        before: Value = Const(0, shape.registers)
        for k, their in enumerate(theirs):
            cleared = [all_of(empties[p][1 + k]) & readers[p].zero for p in pipelines]
            emptied = kept(m, f"emptied_{k}", reduce(or_, cleared))
            taken = kept(m, f"taken_{k}", at_processor & ~before)
            put = kept(m, f"put_{k}", all_of(writes[k].put) & writers[k].zero)
            m.d.sync += their.eq((their & ~taken & ~emptied) | put)
            before = before | their

        # -- Words -----------------------------------------------------------------------------------------------
        # The processor has a cycle, so the words of all banks are caught, and chosen from afterwards.
        there = 1 if shape.registers == 1 << len(self.p_address) else chosen.any()
        caught = [Signal(shape.width, name=f"p_read_{k}") for k in pipelines]
        word: Value = caught[-1]
        with m.If(self.p_read & there):
            for k in pipelines:
                m.d.sync += caught[k].eq(self._row(m, 1 + k, self.p_address))
        for k in reversed(pipelines[:-1]):
            first_of_fours = self._at_processor(m, f"word_{k}", theirs[k], self.p_read)
            first = Signal(len(first_of_fours), name=f"p_read_from_{k}")
            with m.If(self.p_read & there):
                m.d.sync += first.eq(Cat(*first_of_fours))
            word = Mux(first.any(), caught[k], word)
        m.d.comb += self.p_read_data.eq(word)
        words = [(self.p_write, self.p_address, self.p_write_data)]
        words += [(writes[p].put, writers[p].zero_number, writes[p].data) for p in pipelines]
        for bank, (enable, number, data) in zip(self.banks, words, strict=True):
            port = bank.write_port()
            m.d.comb += [port.en.eq(enable), port.addr.eq(number), port.data.eq(data)]
        return m

    def _reader(
        self,
        m: Module,
        p: int,
        readers: Sequence[_Accessor],
        reads: Sequence[wiring.Interface],
        empties: Sequence[Signal],
        leave: Sequence[Signal],
    ) -> None:
        """What pipeline ``p`` finds, and the places that it empties if it takes it: ``empties[p]``; ``leave[p]`` says that it
        empties one."""
        theirs = self.full[1:]
        reader, read = readers[p], reads[p]
        names = ["processor", *(f"pipeline_{k}" for k in range(len(theirs)))]

        # Two cycles before: the places of its register.
        looked = [Signal(name=f"read_{p}_{name}_looked_up") for name in names]
        leaving = [
            other.take & left & reader.same(m, accessor, 2)
            for other, left, accessor in zip(reads, leave, readers, strict=True)
        ]
        emptied = kept(m, f"read_{p}_emptied", _any(leaving))
        founds = [self._at(m, f"read_{p}_{name}", full, reader) for name, full in zip(names, self.full, strict=True)]
        m.d.sync += [look.eq(found & ~emptied) for look, found in zip(looked, founds, strict=True)]

        # One cycle before: is there a word? Those of pipelines are caught, the processor's may just be written.
        written = self._last_write & (self._last_address == reader.one_number)
        writing = self.p_write & (self.p_address == reader.one_number)
        just_found = _any(
            [other.found & reader.same(m, accessor, 1) for other, accessor in zip(reads, readers, strict=True)]
        )
        m.d.sync += read.found.eq(read.asks & (_any([*looked, written]) | writing) & ~just_found)
        firsts = [~_any(looked[1:]), *_first(looked[1:])]
        rows = [self._row(m, 1 + k, reader.one_number) for k in range(len(theirs))]
        word = reduce(or_, (row & first.replicate(len(row)) for row, first in zip(rows, firsts[1:], strict=True)))
        caught = Signal(self.shape.width, name=f"read_{p}_caught", reset_less=True)
        by_processor = Signal(name=f"read_{p}_by_processor")
        m.d.sync += [caught.eq(word), by_processor.eq(read.names & firsts[0])]
        with m.If(~read.names):
            m.d.sync += caught.eq(0)
        own = self._row(m, 0, reader.zero_number)
        m.d.comb += read.data.eq(caught | (own & by_processor.replicate(len(own))))

        m.d.sync += leave[p].eq(~read.keep)
        for k, first in enumerate(firsts):
            leaves = Signal(name=f"read_{p}_leaves_{names[k]}")
            m.d.sync += leaves.eq(first & ~read.keep)
            m.d.comb += empties[p][k].eq(read.take & leaves)

    def _at_processor(self, m: Module, name: str, bits: Value, strobe: Value) -> list[Value]:
        """The bit of the register that the processor accesses, with the strobe: one of these, four registers each, is set."""
        high = self.p_address[2:]
        bits = Cat(bits, Const(0, -len(bits) % 4))
        bits = bits & Cat([_one_hot(self.p_address[:2], 4)] * (len(bits) // 4))
        fours: list[Value] = []
        for r in range(0, self.shape.registers, 4):
            here = kept(m, f"{name}_here_{r}", (high == r // 4) & strobe)
            halves = [kept(m, f"{name}_{r + h}", bits[r + h : r + h + 2].any()) for h in (0, 2)]
            fours.append(kept(m, f"{name}_of_{r}", here & _any(halves)))
        return fours

    def _at(self, m: Module, name: str, full: Value, accessor: _Accessor) -> Value:
        """Whether the place is full of the register that is asked for two cycles later."""
        return Cat(*kept_pairs(m, f"{name}_full", full, accessor.two)).any()

    def _row(self, m: Module, k: int, number: Value) -> Value:
        """The word of bank ``k`` at a register."""
        port = self.banks[k].read_port(domain="comb")
        m.d.comb += port.addr.eq(number)
        return port.data


def _any(bits: Sequence[Value]) -> Value:
    return Cat(*bits).any()


def _first(asking: Sequence[Value]) -> list[Value]:
    """Of those who ask the first, in whose favour the others lose."""
    return [ask & ~_any(asking[:p]) if p else ask for p, ask in enumerate(asking)]


class _Accessor:
    """A port of a pipeline: the register it asks for ``two`` cycles, ``one`` and ``zero`` cycles before it does, as number and as
    a bit for each register."""

    def __init__(self, m: Module, shape: NodeShape, coming: Value, name: str) -> None:
        self.name = name

        def flop(kind: str, value: Value) -> Signal:
            signal = Signal(len(value), name=f"{name}_{kind}", reset_less=True)
            m.d.sync += signal.eq(value)
            return signal

        self.two_number = flop("two_number", coming)
        self.one_number = flop("one_number", self.two_number)
        self.zero_number = flop("number", self.one_number)
        self.two = flop("two", _one_hot(coming, shape.registers))
        self.zero = flop("select", flop("one", self.two))
        self.numbers = [coming, self.two_number, self.one_number, self.zero_number]

    def same(self, m: Module, other: _Accessor, cycles: int) -> Signal:
        """``cycles`` before this one's request: ``other``, whose request is now, has the same register."""
        same = Signal(name=f"{self.name}_{cycles}_after_{other.name}", reset_less=True)
        m.d.sync += same.eq(self.numbers[2 - cycles] == other.numbers[2])
        return same


def _one_hot(number: Value, count: int) -> Value:
    """Bit r of ``count``: the number is r. As a shift, which a simulation of the Verilog does in one go."""
    return (Const(1, count) << number)[:count]
