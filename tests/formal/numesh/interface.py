"""Interface registers: processor and pipelines at the same register in the same cycle, in every combination.

The block stands alone, so that any pipeline may ask for any register in any cycle. The solver chooses the register.
"""

from __future__ import annotations

from itertools import product

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal, Value

from cosim.formal.proof import Harness
from numesh.shape import NodeShape

from .choose import choice
from .view import InterfaceView


def flow_control(shape: NodeShape) -> Harness:
    """A register is a place for one word: one writer fills it, one reader empties it, and each is told whether it did."""
    m = Module()
    view = InterfaceView(m, shape)
    port = view.processor
    r = choice(m, shape.registers, "register")
    full, word = Signal(), Signal(shape.width)
    for access in (*view.reads, *view.writes):
        m.d.comb += Assume(access.number < shape.registers)

    here = port.p_address == r
    p_reads, p_writes = port.p_read & here, port.p_write & here
    m.d.comb += Assert(port.p_full.bit_select(r, 1) == full, "the full bit")
    with m.If(full):
        m.d.comb += Assert(view.registered(m, r) == word, "the word")

    # Writers in order of precedence. The processor always wins; it fills an empty register.
    fills = p_writes & ~full
    value = port.p_write_data
    for write in view.writes:
        asks = write.request & (write.number == r)
        wins = asks & (~full | write.blind) & ~fills
        with m.If(asks):
            m.d.comb += Assert(write.ok == wins, "a writer is told whether its word is in the register")
        value = Mux(wins, write.data, value)
        fills = fills | wins

    # Readers. A copy leaves the register full, but no later reader has the same word.
    gone = p_reads & full
    empties = p_reads & full
    for read in view.reads:
        asks = read.request & (read.number == r)
        wins = asks & full & ~gone
        with m.If(asks):
            m.d.comb += Assert(read.taken == wins, "a reader is told whether the word is its own")
        with m.If(asks & wins):
            m.d.comb += Assert(read.data == word, "a reader has the word")
        gone = gone | wins
        empties = empties | (wins & ~read.keep)
    for access in view.writes:
        with m.If(~access.request):
            m.d.comb += Assert(~access.ok, "who does not ask is told nothing")
    for access in view.reads:
        with m.If(~access.request):
            m.d.comb += Assert(~access.taken, "who does not ask is told nothing")

    m.d.sync += full.eq(fills | (full & ~empties))
    with m.If(fills):
        m.d.sync += word.eq(value)
    read, expected = Signal(), Signal(shape.width)
    m.d.sync += [read.eq(p_reads & full), expected.eq(word)]
    with m.If(read):
        m.d.comb += Assert(port.p_read_data == expected, "the processor has the word in the next cycle")

    _conflicts(m, view, r, p_reads, p_writes, full)
    return Harness(m, list(view.inputs))


def _conflicts(m: Module, view: InterfaceView, r: Signal, p_reads: Value, p_writes: Value, full: Signal) -> None:
    """Every set of requests for one register can come together, at a full one and at an empty one."""
    asks = [p_reads, p_writes, *(access.request & (access.number == r) for access in (*view.reads, *view.writes))]
    pattern = Signal(len(asks) + 1)
    m.d.comb += pattern.eq(Cat(*asks, full))
    for bits in product((0, 1), repeat=len(pattern)):
        m.d.comb += Cover(pattern == sum(bit << i for i, bit in enumerate(bits)))
