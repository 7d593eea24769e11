"""Which buffers of a pipeline hold a word."""

from __future__ import annotations

from typing import Literal

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .kept import kept
from .shape import NodeShape

Kept = Literal["memory", "flip-flops"]
"""Where full bits are: in small memories with asynchronous reads, or in flip-flops, for FPGAs without such memories."""
_STYLES: dict[Kept, str] = {"memory": "distributed", "flip-flops": "logic"}


class FullBits(wiring.Component):
    """A full bit for each buffer, in two small memories: a buffer is full if its bits in the two differ.

    Filling writes the one memory, emptying the other, so each has one writer; the value that makes the bits differ or agree
    is read from the other memory. Flip-flops would need a decoder for each event and a multiplexer for each look-up.

    Reset empties one buffer a cycle, in turn, and so all of them if it lasts ``vfsms`` cycles. At power-up all are empty.

    Latency: two cycles from an event to the memories, two from ``index_<k>`` to ``full_<k>``.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    lookups : int
        Buffers that can be looked up in a cycle.
    style : {"memory", "flip-flops"}
        What synthesisers make of the two memories. Nothing else depends on it.

    Ports
    -----
    fill, keep : Signal(1), in
        Strobes: buffer ``put`` is full from the next cycle on.
    put : Signal(range(vfsms)), in
        Valid with ``fill`` and ``keep``.
    clear : Signal(1), in
        Strobe: buffer ``got`` is empty from the next cycle on. Not with ``fill`` or ``keep`` of the same buffer, and not in
        the first cycle after a reset.
    got : Signal(range(vfsms)), in
        Valid with ``clear``.
    filled, kept : Signal(1), out
        ``fill`` and ``keep`` of the cycle before. They reach the memories at the end of this one.
    index_<k> : Signal(range(vfsms)), in
        Buffer to be looked up in the next cycle.
    full_<k> : Signal(1), out
        The buffer ``index_<k>`` of two cycles before was full in the cycle after that.

    Attributes
    ----------
    cleared : Signal(1)
        ``clear`` of the cycle before.
    sweeping : Signal(1)
        The cycle before was one of reset.
    last_put, last_got : Signal(range(vfsms))
        Their buffers.
    puts, gets : Memory
        The two memories.
    """

    def __init__(self, *, shape: NodeShape, lookups: int, style: Kept = "memory") -> None:
        self.shape = shape
        self.lookups = lookups
        bits = Codes(shape).vfsm_bits
        super().__init__(
            {
                "fill": In(1),
                "keep": In(1),
                "put": In(bits),
                "clear": In(1),
                "got": In(bits),
                "filled": Out(1),
                "kept": Out(1),
                **{f"index_{k}": In(bits) for k in range(lookups)},
                **{f"full_{k}": Out(1) for k in range(lookups)},
            }
        )
        self.cleared = Signal(init=1)  # reset empties
        self.sweeping = Signal(init=1)
        self.last_put = Signal(bits, reset_less=True)
        self.last_got = Signal(bits, reset_less=True)
        place = {"ram_style": _STYLES[style]}
        self.puts = Memory(shape=1, depth=shape.vfsms, init=[], attrs=place)
        self.gets = Memory(shape=1, depth=shape.vfsms, init=[], attrs=place)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.puts = self.puts
        m.submodules.gets = self.gets
        m.d.sync += [
            self.filled.eq(self.fill),
            self.kept.eq(self.keep),
            self.cleared.eq(self.clear),
            self.sweeping.eq(0),
            self.last_put.eq(self.put),
            self.last_got.eq(self.got),
        ]
        with m.If(self.sweeping):
            m.d.sync += self.last_got.eq(self.last_got + 1)
        entering = Signal()
        m.d.comb += entering.eq(self.filled | self.kept)

        def row(memory: Memory, index: Value) -> Value:
            port = memory.read_port(domain="comb")
            m.d.comb += port.addr.eq(index)
            return port.data

        put, got = self.puts.write_port(), self.gets.write_port()
        m.d.comb += [
            put.en.eq(entering),
            put.addr.eq(self.last_put),
            put.data.eq(~row(self.gets, self.last_put)),
            got.en.eq(self.cleared),
            got.addr.eq(self.last_got),
            got.data.eq(row(self.puts, self.last_got)),
        ]
        for k in range(self.lookups):
            coming, full = getattr(self, f"index_{k}"), getattr(self, f"full_{k}")
            index = Signal.like(coming, name=f"look_{k}", reset_less=True)
            put_here = Signal(name=f"put_here_{k}", reset_less=True)
            got_here = Signal(name=f"got_here_{k}", reset_less=True)
            m.d.sync += [index.eq(coming), put_here.eq(coming == self.put), got_here.eq(coming == self.got)]
            put_bit = kept(m, f"put_bit_{k}", row(self.puts, index))
            got_bit = kept(m, f"got_bit_{k}", row(self.gets, index))
            leaving = kept(m, f"leaving_{k}", self.cleared & got_here)
            enters = kept(m, f"enters_{k}", entering & put_here)
            m.d.sync += full.eq(((put_bit ^ got_bit) & ~leaving) | enters)
        return m
