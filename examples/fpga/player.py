"""The hardware in place of a node's processor: plays a tape at the processor port and checks what it reads."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from tape import Tape

from numesh.shape import NodeShape


class Player(wiring.Component):
    """Makes the accesses of one node as its tape says, and finds every word that is not the one on the tape.

    Nothing is decided in the cycle in which it is seen: the full bits go through two registers before they count, and every
    output to the node is a register. That may be, since only this player fills the place for its words and only it empties those
    for the router's: a register that was seen ready is ready. What it costs is part of the tape (`tape.played`).

    Latency: from a full bit to the access that waits for it `tape.LOOK` cycles; from an access to the next one
    ``tape.LOOK + 1`` at least; from a word that is read to ``wrong`` five.

    A reset rewinds the tape; it must last `REWIND` cycles at least.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    tape : Tape
        What to do.
    time_bits : int
        Width of ``time``.

    Ports
    -----
    time : Signal(time_bits), in
        Cycles since the reset, 0 in the first one.
    spoil : Signal(1), in
        Flip a bit of every word that is written but commands, to see that it is noticed.
    done : Signal(1), out
        The tape is at its end.
    wrong : Signal(1), out
        A word was not the one on the tape. Stays until the next reset.
    unpunctual : Signal(1), out
        The end was reached in another cycle than the tape says, or is overdue. Stays until the next reset.
    p_address, p_write, p_read, p_write_data, p_full, p_read_data
        To the node's processor port.

    Attributes
    ----------
    rows : list of Memory
        The tape, in columns of as many bits as a block RAM has at one of its ports, which has a register at its output.
    parts : list of range
        Bits of a row that are in each of them.
    """

    REWIND = 3
    COLUMN = 18

    def __init__(self, *, shape: NodeShape, tape: Tape, time_bits: int) -> None:
        pauses = max(row.pause for row in tape.rows)
        self.finish = tape.finish
        self.pipelines = shape.pipelines
        self.registers = shape.registers
        self.layout = data.StructLayout(
            {
                "write": 1,
                "read": 1,
                "waits": 1,
                "register": range(max(2, shape.registers)),
                "drained": max(1, shape.pipelines),
                "pause": range(max(2, pauses + 1)),
                "word": shape.width,
            }
        )
        size = self.layout.size
        self.parts = [range(start, min(start + self.COLUMN, size)) for start in range(0, size, self.COLUMN)]
        super().__init__(
            {
                "time": In(time_bits),
                "spoil": In(1),
                "done": Out(1),
                "wrong": Out(1),
                "unpunctual": Out(1),
                "p_address": Out(range(max(2, shape.registers))),
                "p_write": Out(1),
                "p_read": Out(1),
                "p_write_data": Out(shape.width),
                "p_full": In(shape.registers),
                "p_read_data": In(shape.width),
            }
        )
        contents = [
            {
                "write": row.write is True,
                "read": row.write is False,
                "waits": row.waits,
                "register": row.register,
                "drained": row.drained,
                "pause": row.pause,
                "word": row.word,
            }
            for row in tape.rows
        ]
        bits = [self.layout.const(row).as_bits() for row in contents]
        words = [[row >> part.start & (1 << len(part)) - 1 for row in bits] for part in self.parts]
        self.rows = [
            Memory(shape=len(part), depth=max(2, len(bits)), init=column, attrs={"ram_style": "block"})
            for part, column in zip(self.parts, words, strict=True)
        ]

    def elaborate(self, platform: object) -> Module:
        m = Module()

        # The row that is carried out stands in registers; the next one waits in the memory's output register.
        coming = Signal(self.layout, reset_less=True)
        write, read, waits = Signal(), Signal(), Signal()
        drained = Signal(coming.drained.shape(), reset_less=True)
        pause = Signal(coming.pause.shape(), reset_less=True)
        mask = Signal(self.registers, reset_less=True)
        address = Signal(range(self.rows[0].depth))
        accessing = Signal(init=1)  # a reset ends like an access: the next row comes
        for part, column in zip(self.parts, self.rows, strict=True):
            m.submodules[f"rows_{part.start}"] = column
            port = column.read_port()
            m.d.comb += port.addr.eq(address)
            m.d.sync += coming.as_value()[part.start : part.stop].eq(port.data)
        spoiled = self.spoil & coming.write & (coming.register >= self.pipelines)
        with m.If(accessing):
            m.d.sync += [
                address.eq(address + 1),
                Cat(write, read, waits).eq(Cat(coming.write, coming.read, coming.waits)),
                drained.eq(coming.drained),
                pause.eq(coming.pause),
                mask.eq(Cat((coming.register == r) & (coming.write | coming.read) for r in range(self.registers))),
                self.p_address.eq(coming.register),
                self.p_write_data.eq(coming.word ^ spoiled),
            ]

        # What is seen of the full bits: of all in the next cycle, of those of the row one later.
        full = Signal(self.registers)
        ready, empty = Signal(), Signal()
        m.d.sync += [
            full.eq(self.p_full),
            ready.eq((full & mask).any() == read),
            empty.eq(~(full[: len(drained)] & drained).any()),
        ]

        settling, settled, go = Signal(), Signal(), Signal()
        m.d.sync += [settling.eq(accessing), settled.eq(settling)]
        with m.FSM():
            with m.State("settle"), m.If(settled):
                with m.If(waits):
                    m.next = "drain"
                with m.Else():
                    m.next = "look"
            with m.State("drain"), m.If(empty):
                m.next = "pause"
            with m.State("pause"):
                m.d.sync += pause.eq(pause - 1)
                with m.If(pause == 0):
                    m.next = "look"
            with m.State("look"):
                m.d.comb += go.eq(ready)
                with m.If(ready):
                    m.next = "settle"
        m.d.sync += [
            accessing.eq(go & (write | read)),
            self.p_write.eq(go & write),
            self.p_read.eq(go & read),
            self.done.eq(self.done | (go & ~write & ~read)),
        ]

        # The word is at the port in the cycle after the read. It is compared by bytes, from registers.
        heard, expected = (Signal.like(self.p_read_data, name=name, reset_less=True) for name in ("heard", "expected"))
        differ = Signal(-(-len(heard) // 8), reset_less=True)
        answered, compared, judged = Signal(), Signal(), Signal()
        m.d.sync += [
            answered.eq(self.p_read),
            compared.eq(answered),
            judged.eq(compared),
            heard.eq(self.p_read_data),
            differ.eq(Cat((heard[k : k + 8] != expected[k : k + 8]) for k in range(0, len(heard), 8))),
        ]
        with m.If(self.p_read):
            m.d.sync += expected.eq(self.p_write_data)
        with m.If(judged & differ.any()):
            m.d.sync += self.wrong.eq(1)

        due, ended = Signal(), Signal()
        m.d.sync += [due.eq(self.time == self.finish - 1), ended.eq(self.done)]
        with m.If(~ended & (self.done != due)):
            m.d.sync += self.unpunctual.eq(1)
        return m
