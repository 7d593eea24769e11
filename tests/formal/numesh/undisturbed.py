"""What a VFSM does not name it does not touch; so NOP, NULL and codes without a meaning disturb no other VFSM.

Schedule and annotations may be anything and may change in every cycle. A code counts as named if it is *the* code of a link, a
register or a buffer, compared number by number: a code without a meaning names nothing.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Cat, Cover, Module, Mux, Signal, Value

from cosim.formal.proof import Harness
from numesh.codes import MoveType
from numesh.shape import NodeShape

from .choose import choice
from .view import NodeView


def buffers(shape: NodeShape) -> Harness:
    """A buffer changes only by its own VFSM's word, or by a VFSM of its pipeline that names it; not by COPY from there."""
    m = Module()
    view = NodeView(m, shape)
    for pipe in view.pipelines:
        v = choice(m, shape.vfsms, f"vfsm_{pipe.number}")
        code = view.codes.first_buffer + v
        touched = (
            pipe.writes(v)
            | (pipe.writing & (pipe.write_destination == code))
            | (pipe.active & (pipe.annotation.source == code) & (pipe.annotation.type != MoveType.COPY))
        )
        _unchanged(m, f"buffer_{pipe.number}", touched, pipe.holds(v), pipe.buffered(v))
    return Harness(m, list(view.inputs))


def registers(shape: NodeShape) -> Harness:
    """An interface register changes only by an access of the processor, or by a VFSM that names it; not by COPY from there."""
    m = Module()
    view = NodeView(m, shape)
    node = view.node
    r = choice(m, shape.registers, "register")
    code = view.codes.first_register + r
    touched = (node.p_address == r) & (node.p_read | node.p_write)
    for pipe in view.pipelines:
        touched = touched | (pipe.writing & (pipe.write_destination == code))
        takes = (pipe.annotation.source == code) & (pipe.annotation.type != MoveType.COPY)
        touched = touched | (pipe.active & takes)
    _unchanged(m, "register", touched, view.full(r), view.registered(r))
    return Harness(m, list(view.inputs))


def links(shape: NodeShape) -> Harness:
    """A link carries a word, or an accept, only for a VFSM that names it."""
    m = Module()
    view = NodeView(m, shape)
    d = choice(m, shape.neighbours, "link")
    written: Value = Value.cast(0)
    read: Value = Value.cast(0)
    for pipe in view.pipelines:
        written = written | (pipe.writing & (pipe.write_destination == d))
        read = read | (pipe.active & (pipe.annotation.source == d) & (pipe.annotation.type != MoveType.FORK))
    with m.If(~written):
        m.d.comb += Assert(~view.link("out_valid", d), "nobody writes to the link")
    with m.If(~read):
        m.d.comb += Assert(~view.link("in_accept", d), "nobody reads from the link")
    m.d.comb += [Cover(view.link("out_valid", d)), Cover(view.link("in_accept", d))]
    return Harness(m, list(view.inputs))


def memories(shape: NodeShape) -> Harness:
    """The memories change only by a word for MEMADR: the schedule of pipeline 0, annotations of their own pipeline."""
    m = Module()
    view = NodeView(m, shape)
    a = choice(m, shape.schedule_depth, "address")
    for pipe in view.pipelines:
        v = choice(m, shape.vfsms, f"vfsm_{pipe.number}")
        carried_out = Signal(name=f"carried_out_{pipe.number}")
        m.d.sync += carried_out.eq(view.commanding(pipe.number))
        if not pipe.number:
            _still(m, "entry", carried_out, view.kept_entry(a))
        _still(m, f"annotation_{pipe.number}", carried_out, pipe.kept_annotation(v))
    return Harness(m, list(view.inputs))


def sources(shape: NodeShape) -> Harness:
    """NOP, MEMADR and codes without a meaning give no word, NULL gives zeros, a buffer or register the word that it holds."""
    m = Module()
    view = NodeView(m, shape)
    for pipe in view.pipelines:
        source = pipe.annotation.source
        gives = (source < shape.neighbours) | view.is_register(source) | view.is_buffer(source)
        null = source == view.codes.null
        ran = Signal(name=f"ran_{pipe.number}")
        gave = Signal(name=f"gave_{pipe.number}")
        zero = Signal(name=f"zero_{pipe.number}")
        held = Signal(name=f"held_{pipe.number}")
        vfsm = Signal(view.codes.vfsm_bits, name=f"ran_vfsm_{pipe.number}")
        m.d.sync += [
            ran.eq(pipe.acts),
            gave.eq(gives | null),
            zero.eq(null),
            held.eq(pipe.holds(pipe.vfsm)),
            vfsm.eq(pipe.vfsm),
        ]
        with m.If(pipe.writing):
            m.d.comb += Assert(ran & (pipe.write_vfsm == vfsm), "the VFSM that has read writes")
            m.d.comb += Assert(pipe.from_buffer == held, "a VFSM with a word in its buffer tries that one")
            m.d.comb += Assert(held | gave, "such a code gives no word")
            with m.If(zero & ~held):
                m.d.comb += Assert(pipe.write_word == 0, "NULL gives zeros")
        # A word is taken from where it is, and not while its own VFSM tries it; out of a register, whose places are looked up
        # two cycles before, from where it was then, or has come since.
        owner = source[: view.codes.vfsm_bits]
        trying = pipe.writes(owner) & pipe.from_buffer
        r = choice(m, shape.registers, f"register_{pipe.number}")
        lent = (
            ("buffer", view.is_buffer(source), [(pipe.holds(owner) & ~trying, pipe.buffered(owner))], 1),
            ("register", source == view.codes.first_register + r, view.places(r), 3),
        )
        for kind, named, places, cycles in lent:
            from_here = Signal(name=f"from_{kind}_{pipe.number}")
            m.d.sync += from_here.eq(named)
            was_there: Value = Value.cast(0)
            for k, (full, word) in enumerate(places):
                for before in range(cycles):
                    was_full = Signal(name=f"{kind}_was_full_{pipe.number}_{k}_{before}")
                    was = Signal(shape.width, name=f"{kind}_was_{pipe.number}_{k}_{before}")
                    m.d.sync += [was_full.eq(full), was.eq(word)]
                    was_there = was_there | (was_full & (pipe.write_word == was))
                    full, word = was_full, was
            with m.If(pipe.writing & ~held & from_here):
                m.d.comb += Assert(was_there, "the word was there, and free")
            m.d.comb += Cover(pipe.writing & ~held & from_here)
        m.d.comb += [
            Cover(pipe.writing & zero & ~held, "a zero from NULL"),
            Cover(ran & ~gave & pipe.writing, "a VFSM without a source sends what another put into its buffer"),
        ]
    return Harness(m, list(view.inputs))


def destinations(shape: NodeShape) -> Harness:
    """NOP and codes without a meaning take no word, which stays with its VFSM; MEMADR and NULL take every word."""
    m = Module()
    view = NodeView(m, shape)
    for pipe in view.pipelines:
        to = pipe.write_destination
        codes = view.codes
        takes_all = (to == codes.memadr) | (to == codes.null)
        takes_none = ~(takes_all | (to < shape.neighbours) | view.is_register(to) | view.is_buffer(to))
        v = choice(m, shape.vfsms, f"vfsm_{pipe.number}")
        stays = Signal(name=f"stays_{pipe.number}")
        goes = Signal(name=f"goes_{pipe.number}")
        word = Signal(shape.width, name=f"word_{pipe.number}")
        with m.If(pipe.writes(v)):
            m.d.comb += Assert(pipe.from_buffer == pipe.holds(v), "a word tried again is in the buffer, another is not")
        m.d.sync += [
            stays.eq(pipe.writes(v) & takes_none & ~pipe.write_blind),
            goes.eq(pipe.writes(v) & (takes_all | (takes_none & pipe.write_blind))),
            # A blind move may have put another word into the buffer while the first one was read from it.
            word.eq(Mux(pipe.from_buffer, pipe.buffered(v), pipe.write_word)),
        ]
        with m.If(stays):
            m.d.comb += Assert(pipe.holds(v) & (pipe.buffered(v) == word), "a word that nothing takes stays")
        with m.If(goes):
            m.d.comb += Assert(~pipe.holds(v), "a word that is taken or dropped is gone")
        m.d.comb += [Cover(stays), Cover(goes)]
    return Harness(m, list(view.inputs))


def followers(shape: NodeShape) -> Harness:
    """A word for NOP, NULL or a code without a meaning keeps no other VFSM from its own word in the next slot."""
    m = Module()
    view = NodeView(m, shape)
    codes, node = view.codes, view.node
    for pipe in view.pipelines:
        to, said = pipe.write_destination, pipe.annotation
        named = (to < shape.neighbours) | (to == codes.memadr) | view.is_register(to) | view.is_buffer(to)
        # Another VFSM stands in the write stage, with such a word; ours comes after it. Which one is ours, and the buffer that it
        # names, is chosen once for all, so that in every cycle it is known what they hold.
        v = choice(m, shape.vfsms, f"vfsm_{pipe.number}")
        lender = choice(m, shape.vfsms, f"lender_{pipe.number}")
        after = pipe.runs(v) & pipe.writing & ~named & (pipe.write_vfsm != v)
        after = after & (said.source != codes.first_buffer + pipe.write_vfsm)
        holds = pipe.holds(v)
        link = said.source[: max(1, (shape.neighbours - 1).bit_length())]
        buffer = said.source[: codes.vfsm_bits]
        from_link = (said.source < shape.neighbours) & (said.type != MoveType.FORK)
        same: Value = Value.cast(0)
        for other in view.pipelines[: pipe.number]:
            same = same | (other.active & (other.annotation.source == said.source))
        ready = holds | (said.source == codes.null)
        ready = ready | (from_link & view.link("in_valid", link) & ~same)
        # A register is looked up two cycles before, and what pipelines do to it is not told at once: nobody has read it since.
        r = choice(m, shape.registers, f"register_{pipe.number}")
        code = codes.first_register + r
        taken = node.p_read & (node.p_address == r)
        reads = taken | Cat(other.active & (other.annotation.source == code) for other in view.pipelines).any()
        still: Value = ~taken
        full: Value = view.full(r)
        for cycle in (1, 2):
            read, was_full = (Signal(name=f"{name}_{pipe.number}_{cycle}") for name in ("read", "full"))
            m.d.sync += [read.eq(reads), was_full.eq(full)]
            still, reads, full = still & ~read, read, was_full
        ready = ready | ((said.source == code) & full & still & ~same)
        # A buffer is looked up two cycles before as well. It has had its word since then.
        lent: Value = pipe.holds(lender)
        lends = lent
        for cycle in (1, 2):
            lent_before = Signal(name=f"lent_{pipe.number}_{cycle}")
            m.d.sync += lent_before.eq(lent)
            lent = lent_before
            lends = lends & lent
        ready = ready | (view.is_buffer(said.source) & (buffer == lender) & lends)
        expects = Signal(name=f"expects_{pipe.number}")
        m.d.sync += expects.eq(after & ready)
        with m.If(expects):
            m.d.comb += Assert(pipe.writing, "the VFSM has its word")
        with m.If(after & from_link & ~holds):
            m.d.comb += Assert(view.link("in_accept", link), "the VFSM accepts")
        m.d.comb += Cover(expects)
    return Harness(m, list(view.inputs))


def _unchanged(m: Module, name: str, touched: Value, full: Value, word: Value) -> None:
    """If not ``touched``, a place holds in the next cycle what it holds in this one."""
    watched = Signal(name=f"{name}_watched")
    was_full = Signal(name=f"{name}_full")
    was = Signal(len(word), name=f"{name}_word")
    m.d.sync += [watched.eq(~touched), was_full.eq(full), was.eq(word)]
    with m.If(watched):
        m.d.comb += Assert(full == was_full, "not named, not filled and not emptied")
        with m.If(full):
            m.d.comb += Assert(word == was, "not named, not overwritten")
    m.d.comb += [Cover(watched & full), Cover(~watched & was_full & ~full), Cover(~watched & ~was_full & full)]


def _still(m: Module, name: str, touched: Value, value: Value) -> None:
    """If not ``touched``, a row of a memory is the same in the next cycle."""
    watched = Signal(name=f"{name}_watched")
    was = Signal(len(value), name=f"{name}_was")
    m.d.sync += [watched.eq(~touched), was.eq(value)]
    with m.If(watched):
        m.d.comb += Assert(value == was, "no command, no change")
    m.d.comb += Cover(watched)
