"""Interface registers: processor and pipelines at the same register in the same cycles, in every combination.

The block stands alone, so that any pipeline may ask for any register in any cycle. The solver chooses the register, and whether
the processor or pipelines read it.
"""

from __future__ import annotations

from itertools import product

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal, Value

from cosim.formal.proof import Harness
from numesh.shape import NodeShape

from .choose import choice
from .view import InterfaceView


def flow_control(shape: NodeShape) -> Harness:
    """A place of a register holds a word of its writer until one reader takes it; who asks is told of room, or of a word."""
    m = Module()
    view = InterfaceView(m, shape)
    port = view.processor
    r = choice(m, shape.registers, "register")
    by_processor = choice(m, 2, "by_processor")
    for number in (*(access.number for access in view.reads), *(access.number for access in view.writes)):
        m.d.comb += Assume(number < shape.registers)
    here = port.p_address == r
    p_reads, p_writes = port.p_read & here, port.p_write & here
    *theirs, mine = view.places(m, r)
    places = [*theirs, mine]
    full = Signal(len(places))
    m.d.comb += [full.eq(Cat(there for there, _ in places)), Assume(~(p_writes & mine[0]))]
    m.d.comb += [
        Assume(by_processor | ~p_reads),
        Assert(port.p_full.bit_select(r, 1) == full.any(), "a place holds a word"),
    ]

    # One side reads the register, and one pipeline at a time asks for it.
    asks = [read.asked & (read.number == r) for read in view.reads]
    found = [ask & read.found for ask, read in zip(asks, view.reads, strict=True)]
    takes = [f & read.take & ~read.keep for f, read in zip(found, view.reads, strict=True)]
    m.d.comb += [Assume(sum(asks) <= 1), Assume(~(by_processor & Cat(*asks).any()))]
    for read in view.reads:
        m.d.comb += Assert(read.asked | ~read.found, "who does not ask finds nothing")
    for ask, is_found, read in zip(asks, found, view.reads, strict=True):
        with m.If(is_found):
            there = [has & (word == read.data) for has, word in places]
            m.d.comb += Assert(Cat(*there).any(), "a reader finds a word that is there")
        m.d.comb += [Cover(is_found & (read.data != 0)), Cover(ask & ~is_found)]

    # Writers put words where there is room.
    puts = [write.put & (write.number == r) for write in view.writes]
    for (has, _), put, write in zip(theirs, puts, view.writes, strict=True):
        m.d.comb += Assume(write.room | ~put)
        with m.If((write.number == r) & write.room & view.up):
            m.d.comb += Assert(~has, "a writer that is told so has room")

    # A place keeps its word until it is taken, by one reader, and is filled by its writer alone.
    fills = [*zip(puts, (write.data for write in view.writes), strict=True), (p_writes, port.p_write_data)]
    taken, data = Signal(), Signal(shape.width)
    value: Value = Value.cast(0)
    for take, read in zip(takes, view.reads, strict=True):
        value = Mux(take, read.data, value)
    first: Value = Value.cast(0)
    for has, word in reversed(theirs):
        first = Mux(has, word, first)
    gives = p_reads & full[:-1].any()
    gone = Cat(*takes).any() | gives
    m.d.sync += [taken.eq(gone), data.eq(Mux(gives, first, value))]
    cleared = []
    up = Signal()
    m.d.sync += up.eq(1)
    for k, ((has, word), (fill, given)) in enumerate(zip(places, fills, strict=True)):
        had, was, filled, gave = (
            Signal(n, name=f"{name}_{k}")
            for name, n in (("had", 1), ("was", shape.width), ("filled", 1), ("gave", shape.width))
        )
        m.d.sync += [had.eq(has), was.eq(word), filled.eq(fill), gave.eq(given)]
        with m.If(up & filled):
            m.d.comb += Assert(has & (word == gave), "a word that is put into a place is there")
        with m.Elif(up & has):
            m.d.comb += Assert(had & (word == was), "a place has no other word")
        lost = up & had & ~has
        with m.If(lost):
            m.d.comb += Assert(taken & (was == data), "only a word that a reader has taken goes")
        cleared.append(lost)
    with m.If(up):
        m.d.comb += Assert(sum(cleared) == taken, "a word that is taken is gone, and no other")
    read, expected = Signal(), Signal(shape.width)
    m.d.sync += [read.eq(gives), expected.eq(first)]
    with m.If(read):
        m.d.comb += Assert(port.p_read_data == expected, "the processor has the word in the next cycle")

    _nothing_is_kept_back(m, view, r, full, asks, found)
    for bits in product((0, 1), repeat=len(places)):
        m.d.comb += Cover(full == sum(bit << i for i, bit in enumerate(bits)))
    return Harness(m, list(view.inputs))


def _nothing_is_kept_back(
    m: Module, view: InterfaceView, r: Signal, full: Signal, asks: list[Value], found: list[Value]
) -> None:
    """A word that has been there for two cycles in which nobody found one is found; a place that was empty for two has room."""
    there: Value = full.any()
    finds: Value = Cat(*found).any()
    calm: Value = Value.cast(1)
    empty: Value = ~full
    was_full: Value = full
    since = Signal(2)  # the last reset
    with m.If(since != 3):
        m.d.sync += since.eq(since + 1)
    for cycle in (1, 2):
        flops = [
            Signal(len(value), name=f"{name}_{cycle}")
            for name, value in (("there", there), ("found", finds), ("full", was_full))
        ]
        m.d.sync += [flop.eq(value) for flop, value in zip(flops, (there, finds, was_full), strict=True)]
        there, finds, was_full = flops
        calm, empty = calm & ~finds, empty & ~was_full
    for ask, is_found in zip(asks, found, strict=True):
        with m.If(ask & there & calm):
            m.d.comb += Assert(is_found, "a word that is there is found")
    for k, write in enumerate(view.writes):
        with m.If((write.number == r) & view.up & (since == 3) & empty[k]):
            m.d.comb += Assert(write.room, "a place that is empty has room")
