"""The hardware in place of a node's processor: plays a tape at the processor port and checks what it reads."""

from __future__ import annotations

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from tape import Tape

from numesh.shape import NodeShape


class Kind(enum.Enum, shape=2):
    """What a row does."""

    END = 0
    WRITE = 1
    READ = 2


class Player(wiring.Component):
    """Makes the accesses of one node as its tape says, and finds every word that is not the one on the tape.

    Latency: the first access can fall into the first cycle without ``hold``; a word is compared in the cycle after
    the one in which it was read, and ``wrong`` follows one cycle later.

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
    hold : Signal(1), in
        The node is in reset: rewind. Must be high for `REWIND` cycles at least.
    time : Signal(time_bits), in
        Cycles since ``hold`` became low, 0 in the first one.
    spoil : Signal(1), in
        Flip a bit of every word that is written but commands, to see that it is noticed.
    done : Signal(1), out
        The tape is at its end.
    wrong : Signal(1), out
        A word was not the one on the tape. Stays until ``hold``.
    unpunctual : Signal(1), out
        The end was reached in another cycle than the tape says, or is overdue. Stays until ``hold``.
    p_address, p_write, p_read, p_write_data, p_full, p_read_data
        To the node's processor port.

    Attributes
    ----------
    rows : Memory
        The tape.
    """

    REWIND = 4

    def __init__(self, *, shape: NodeShape, tape: Tape, time_bits: int) -> None:
        pauses = max(row.pause for row in tape.rows)
        self.finish = tape.finish
        self.pipelines = shape.pipelines
        self.layout = data.StructLayout(
            {
                "kind": Kind,
                "register": range(max(2, shape.registers)),
                "drained": max(1, shape.pipelines),
                "pause": range(max(2, pauses + 1)),
                "word": shape.width,
            }
        )
        super().__init__(
            {
                "hold": In(1),
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
        kinds = {None: Kind.END, True: Kind.WRITE, False: Kind.READ}
        contents = [
            {
                "kind": kinds[row.write],
                "register": row.register,
                "drained": row.drained,
                "pause": row.pause,
                "word": row.word,
            }
            for row in tape.rows
        ]
        self.rows = Memory(shape=self.layout, depth=max(2, len(contents)), init=contents)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rows = self.rows
        port = self.rows.read_port()
        row = Signal(self.layout)
        fetched = Signal(2)
        pause = Signal.like(row.pause)
        paused = Signal()
        now = Signal()
        taken = Signal()
        go_on = Signal()

        # The row that is carried out stands in `row`, the one after it at the memory's output.
        address = Signal.like(port.addr)
        m.d.comb += [port.addr.eq(address), port.en.eq(go_on)]
        rewind = Signal()
        rewound = Signal()
        m.d.sync += rewound.eq(self.hold)
        m.d.comb += [
            rewind.eq(self.hold & ~rewound),
            go_on.eq(Mux(self.hold, ~rewind & (fetched != 2), taken)),
        ]
        with m.If(rewind):
            m.d.sync += [address.eq(0), fetched.eq(0)]
        with m.Else():
            m.d.sync += fetched.eq(Mux(self.hold, fetched + go_on, 0))
            with m.If(go_on):
                m.d.sync += [row.eq(port.data), address.eq(address + 1)]

        drained = Signal()
        m.d.comb += drained.eq(~(row.drained & self.p_full[: len(row.drained)]).any())
        with m.If(go_on):
            m.d.sync += [pause.eq(port.data.pause), paused.eq(port.data.pause != 0)]
        with m.Elif(~self.hold & drained & paused):
            m.d.sync += [pause.eq(pause - 1), paused.eq(pause != 1)]

        # A read of a register without a word does nothing, so it need not wait for the full bits: it is tried until it takes
        # one. A write would replace the word that is there.
        full = Array(self.p_full)[row.register]
        m.d.comb += [
            now.eq(~self.hold & drained & ~paused),
            self.p_address.eq(row.register),
            self.p_write_data.eq(row.word ^ (self.spoil & (row.register >= self.pipelines))),
            self.p_write.eq(now & ~full & (row.kind == Kind.WRITE)),
            self.p_read.eq(now & (row.kind == Kind.READ)),
            taken.eq(self.p_write | (self.p_read & full)),
            self.done.eq(now & (row.kind == Kind.END)),
        ]

        expected = Signal(len(self.p_read_data))
        compare = Signal()
        ended = Signal()
        m.d.sync += [compare.eq(self.p_read & full), expected.eq(row.word), ended.eq(self.done)]
        with m.If(compare & (self.p_read_data != expected)):
            m.d.sync += self.wrong.eq(1)
        with m.If(~self.hold & ~ended & (self.done != (self.time == self.finish))):
            m.d.sync += self.unpunctual.eq(1)
        with m.If(self.hold):
            m.d.sync += [self.wrong.eq(0), self.unpunctual.eq(0)]
        return m
