"""MEMADR: what a command changes, when, and nothing else; and where the schedule goes on.

Schedule and annotations may be anything. The solver chooses one entry and one annotation of each pipeline, and these are watched.
"""

from __future__ import annotations

from amaranth.hdl import Array, Assert, Cat, Cover, Module, Mux, Signal, Value
from amaranth.lib import data

from cosim.formal.proof import Harness
from numesh.codes import CommandKind
from numesh.shape import NodeShape

from .choose import choice
from .view import SCHEDULE_LATENCY, SLOT_LATENCY, NodeView


class Commands:
    """The commands that a pipeline receives, put together from the words that it writes to MEMADR.

    Attributes
    ----------
    complete : Value
        A command is carried out in this cycle: its last word was written in the one before.
    """

    def __init__(self, m: Module, view: NodeView, p: int) -> None:
        self._codes = codes = view.codes
        words, width = codes.command_words, view.shape.width
        given = view.commanding(p)
        word = view.pipelines[p].write_word
        self.complete: Value = given
        self._bits: Value = word
        if words > 1:
            count = Signal(range(words), name=f"words_{p}")
            before = Signal((words - 1) * width, name=f"before_{p}", reset_less=True)
            with m.If(given):
                m.d.sync += [count.eq(Mux(count == words - 1, 0, count + 1)), before.eq(Cat(before, word) >> width)]
            kept_count, kept = view.collected(p)
            m.d.comb += Assert((kept_count == count) & (kept[width:] == before), "the words of a command are collected")
            m.d.comb += Assert(count < words, "a command has so many words")
            self.complete = given & (count == words - 1)
            self._bits = Cat(before, word)
        complete, bits = Signal(name=f"complete_{p}"), Signal(len(self._bits), name=f"bits_{p}", reset_less=True)
        m.d.sync += [complete.eq(self.complete), bits.eq(self._bits)]
        self.complete, self._bits = complete, bits

    def fields(self, kind: CommandKind) -> data.View:
        """The command as one of ``kind``."""
        layout = data.StructLayout(self._codes.command_layouts[kind])
        return data.View(layout, self._bits[: layout.size])

    def are(self, kind: CommandKind) -> Value:
        """A command of ``kind`` is complete."""
        return self.complete & (self._bits[:3] == kind)


def entries(shape: NodeShape) -> Harness:
    """SCHEDULE from pipeline 0 changes the entry it addresses, in the next cycle, and no other does."""
    m = Module()
    view = NodeView(m, shape)
    a = choice(m, shape.schedule_depth, "address")
    commands = Commands(m, view, 0)
    said = commands.fields(CommandKind.SCHEDULE)
    writes = Signal()
    m.d.comb += writes.eq(commands.are(CommandKind.SCHEDULE) & (said.address == a))
    given = Cat(*(said[name] for name in view.codes.entry_layout))
    _row_follows(m, "entry", view.kept_entry(a), writes, given)
    if view.codes.command_words == 1:
        m.d.comb += [Cover(writes), Cover(commands.are(CommandKind.SCHEDULE) & (said.address != a))]
    return Harness(m, list(view.inputs))


def annotations(shape: NodeShape) -> Harness:
    """ANNOTATION changes the annotation it names of the pipeline that carries it, in the next cycle, and no other does."""
    m = Module()
    view = NodeView(m, shape)
    for pipe in view.pipelines:
        v = choice(m, shape.vfsms, f"vfsm_{pipe.number}")
        commands = Commands(m, view, pipe.number)
        said = commands.fields(CommandKind.ANNOTATION)
        writes = Signal(name=f"writes_{pipe.number}")
        m.d.comb += writes.eq(commands.are(CommandKind.ANNOTATION) & (said.vfsm == v))
        given = Cat(*(said[name] for name in view.codes.annotation_layout))
        _row_follows(m, f"annotation_{pipe.number}", pipe.kept_annotation(v), writes, given)
        if view.codes.command_words == 1:
            m.d.comb += Cover(writes)
    return Harness(m, list(view.inputs))


def pointer(shape: NodeShape) -> Harness:
    """The schedule goes on where the entry leads, where a command sets it, or a delta further modulo the depth; no other way."""
    m = Module()
    view = NodeView(m, shape)
    depth = shape.schedule_depth
    a = choice(m, depth, "address")
    commands = Commands(m, view, 0)
    set_to = view.set_addresses(commands.fields(CommandKind.SET_POINTER))
    delta = commands.fields(CommandKind.ADD_POINTER).value

    # A command acts on the next addresses, one for each entry that is on its way. Reset is a command to go to 0, 1, ...
    steps = SCHEDULE_LATENCY
    left = Signal(range(steps + 1), init=steps)
    setting = Signal(init=1)
    values = Array(Signal(view.codes.pointer_bits, name=f"value_{i}", init=i) for i in range(steps))
    sets, adds = commands.are(CommandKind.SET_POINTER), commands.are(CommandKind.ADD_POINTER)
    with m.If(sets | adds):
        m.d.sync += [left.eq(steps), setting.eq(sets)]
        m.d.sync += [value.eq(Mux(sets, to, delta)) for value, to in zip(values, set_to, strict=True)]
    with m.Elif(left != 0):
        m.d.sync += left.eq(left - 1)

    # In numbers without an end, then brought into the memory.
    base = Mux((left != 0) & setting, 0, view.ahead)
    step = Mux(left != 0, values[(steps - left)[: len(left)]], 0)
    wide = base + step
    address = Mux(wide >= depth, wide - depth, wide)
    m.d.comb += Assert(address < depth, "the address lies in the memory")

    # What was at that address in that cycle is the entry, after its time in the memory.
    hit: Value = address == a
    written = commands.fields(CommandKind.SCHEDULE)
    given = Cat(*(written[name] for name in view.codes.entry_layout))
    # Who reads an entry in the cycle in which it is written reads the new one.
    kept: Value = Mux(commands.are(CommandKind.SCHEDULE) & (written.address == a), given, view.kept_entry(a))
    ran: Value = Value.cast(1)
    for i in range(steps):
        next_hit, next_kept = Signal(name=f"hit_{i}"), Signal(len(kept), name=f"kept_{i}")
        next_ran = Signal(name=f"ran_{i}")
        m.d.sync += [next_hit.eq(hit), next_kept.eq(kept), next_ran.eq(ran)]
        hit, kept, ran = next_hit, next_kept, next_ran
    m.d.comb += Assert(view.running == ran, "an entry comes when its time in the memory has passed")
    with m.If(hit):
        m.d.comb += Assert(view.entry.as_value() == kept, "the entry is that of the address")
    m.d.comb += Cover(hit & ran)
    if view.codes.command_words == 1:
        set_before, added, wrapped = Signal(), Signal(), Signal()
        m.d.sync += [set_before.eq(sets), added.eq(adds), wrapped.eq((wide >= depth) & added)]
        m.d.comb += [Cover(hit & set_before), Cover(hit & added), Cover(hit & wrapped)]
    return Harness(m, list(view.inputs))


def slots(shape: NodeShape) -> Harness:
    """An entry chooses the VFSMs of one slot in all pipelines at once, with what their annotations are in the next cycle."""
    m = Module()
    view = NodeView(m, shape)
    for pipe in view.pipelines:
        v = choice(m, shape.vfsms, f"vfsm_{pipe.number}")
        runs: Value = view.running
        vfsm: Value = view.entry[f"vfsm{pipe.number}"]
        kept: Value = pipe.kept_annotation(v)
        for i in range(SLOT_LATENCY):
            next_runs = Signal(name=f"runs_{pipe.number}_{i}")
            next_vfsm = Signal(len(vfsm), name=f"vfsm_{pipe.number}_{i}")
            next_kept = Signal(len(kept), name=f"kept_{pipe.number}_{i}")
            m.d.sync += [next_runs.eq(runs), next_vfsm.eq(vfsm), next_kept.eq(kept)]
            runs, vfsm, kept = next_runs, next_vfsm, next_kept if i else kept
        m.d.comb += Assert(pipe.active == runs, "all pipelines run, or none")
        with m.If(runs):
            m.d.comb += Assert(pipe.vfsm == vfsm, "the VFSM of the entry is in the read stage")
        with m.If(runs & (vfsm == v)):
            m.d.comb += Assert(pipe.packed == kept, "it does what its annotation says")
        m.d.comb += Cover(runs & (vfsm == v))
    return Harness(m, list(view.inputs))


def _row_follows(m: Module, name: str, kept: Value, writes: Value, given: Value) -> None:
    """A row of a memory is what it was, or what a command gave it in the cycle before."""
    started = Signal(name=f"{name}_started", reset_less=True)
    expected = Signal(len(kept), name=f"{name}_expected", reset_less=True)
    m.d.sync += [started.eq(1), expected.eq(Mux(writes, given, kept))]
    with m.If(started):
        m.d.comb += Assert(kept == expected, "a command changes the row that it names, and nothing else changes it")
