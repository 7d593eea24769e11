"""The full bits of the buffers, which live in two small memories: alone, so that any buffer may be filled and emptied.

The solver chooses the buffer. The proofs of the whole node take from here that a reset leaves all buffers empty
(`view.PipelineView`).
"""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, ResetSignal, Signal

from cosim.formal.proof import Harness
from numesh.shape import NodeShape

from .choose import choice
from .view import FullBitsView

_LOOKUPS = 2


def look_ups(shape: NodeShape) -> Harness:
    """A look-up tells whether the last event of a buffer filled it."""
    m = Module()
    view = FullBitsView(m, shape, _LOOKUPS)
    v = choice(m, shape.vfsms, "buffer")
    bits = view.block
    truth = Signal()
    enters = (bits.fill | bits.keep) & (bits.put == v)
    leaves = bits.clear & (bits.got == v)
    m.d.comb += Assume(~(enters & leaves))
    # What a reset does is told below; a node at work has none.
    m.d.comb += [Assume(~ResetSignal()), Assume(~(bits.sweeping & bits.clear))]
    up = Signal()
    m.d.sync += [truth.eq(enters | (truth & ~leaves)), up.eq(1)]
    with m.If(~up):
        m.d.comb += Assume(view.full(v) == truth)
    m.d.comb += Assert(view.full(v) == truth, "the bit is that of the last event")
    for k in range(_LOOKUPS):
        named, asked, then = (Signal(name=f"{name}_{k}") for name in ("named", "asked", "then"))
        index = getattr(bits, f"index_{k}")
        # What the memories and the events under way say in the cycle after the question; events of that cycle come later.
        m.d.sync += [named.eq(index == v), asked.eq(named), then.eq(truth)]
        with m.If(asked):
            m.d.comb += Assert(getattr(bits, f"full_{k}") == then, "a look-up")
    m.d.comb += [
        Cover(up & truth & leaves),
        Cover(up & truth & enters),
        Cover(up & ~truth & leaves),
        Cover(up & ~truth),
    ]
    return Harness(m, view.inputs)


def reset(shape: NodeShape) -> Harness:
    """A reset of as many cycles as there are buffers leaves all of them empty, whatever was in them."""
    m = Module()
    view = FullBitsView(m, shape, _LOOKUPS)
    v = choice(m, shape.vfsms, "buffer")
    cycles = Signal(range(shape.vfsms + 1), reset_less=True)
    m.d.sync += cycles.eq(Mux(ResetSignal(), Mux(cycles == shape.vfsms, cycles, cycles + 1), 0))
    swept = Signal.like(view.block.last_got)
    m.d.comb += swept.eq(view.block.last_got - v)
    with m.If(cycles > swept):
        m.d.comb += Assert(~view.full(v), "buffers are emptied in turn")
    with m.If(cycles == shape.vfsms):
        m.d.comb += Assert(~view.full(v), "all are empty")
    with m.If(cycles != 0):
        m.d.comb += Assert(view.block.cleared & ~view.block.filled & ~view.block.kept, "nothing else is under way")
    m.d.comb += [Cover((cycles == shape.vfsms) & ~ResetSignal()), Cover((cycles == 1) & view.full(v))]
    return Harness(m, view.inputs)
