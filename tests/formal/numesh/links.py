"""The contract of a link: a word is taken by the neighbour or kept by the writer, and what is taken is in one VFSM.

Schedule and annotations may be anything and may change in every cycle, but for what a proof assumes of the VFSM it looks at.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal, Value

from cosim.formal.proof import Harness
from numesh.codes import MoveType
from numesh.shape import NodeShape

from .choose import choice
from .view import NodeView, PipelineView


def offered(shape: NodeShape) -> Harness:
    """A word on a link is that of the one pipeline that has one for it."""
    m = Module()
    view = NodeView(m, shape)
    d = choice(m, shape.neighbours, "link")
    claimed: Value = Value.cast(0)
    word: Value = Value.cast(0)
    for pipe in reversed(view.pipelines):
        claims = _claims(pipe, d)
        word = Mux(claims, pipe.write_word, word)
        claimed = claimed | claims
    with m.If(view.link("out_valid", d)):
        m.d.comb += Assert(claimed, "what is offered is in a write stage")
        m.d.comb += Assert(view.link("out_data", d) == word, "it is the word of this write stage")
    # Nothing is withheld but the word of a fork.
    forked: Value = Value.cast(0)
    for pipe in reversed(view.pipelines):
        said = pipe.annotation
        second = pipe.active & (said.type == MoveType.FORK) & (said.source == d)
        forked = Mux(_claims(pipe, d), pipe.write_forked | second, forked)
    with m.If(claimed & ~forked):
        m.d.comb += Assert(view.link("out_valid", d), "a word that needs no second leg is offered")
    claiming = sum(_claims(pipe, d) for pipe in view.pipelines)
    m.d.comb += Assert(claiming <= 1, "no two pipelines have words for one link at the same time")
    waits = claimed & ~view.link("out_valid", d)
    m.d.comb += Cover(waits, "a word waits for its second leg")
    if shape.pipelines > 1:
        wanting = sum(pipe.active & (pipe.annotation.destination == d) for pipe in view.pipelines)
        m.d.comb += Cover(wanting > 1, "two pipelines want one link")
    return Harness(m, list(view.inputs))


def taken(shape: NodeShape) -> Harness:
    """A word that is accepted is in the write stage of one pipeline in the next cycle; one that is not, in none."""
    m = Module()
    view = NodeView(m, shape)
    d = choice(m, shape.neighbours, "link")
    passed, word = Signal(), Signal(shape.width)
    m.d.sync += [
        passed.eq(view.link("in_valid", d) & view.link("in_accept", d)),
        word.eq(view.link("in_data", d)),
    ]
    took = []
    for pipe in view.pipelines:
        named = Signal(name=f"named_{pipe.number}")
        said = pipe.annotation
        m.d.sync += named.eq(pipe.active & (said.source == d) & (said.type != MoveType.FORK))
        here = Signal(name=f"took_{pipe.number}")
        m.d.comb += here.eq(named & pipe.writing & ~pipe.from_buffer)
        with m.If(here):
            m.d.comb += Assert(pipe.write_word == word, "the word taken is the word offered")
        took.append(here)
    m.d.comb += Assert(sum(took) == passed, "one pipeline takes the word if it is accepted, and none if it is not")
    accepting = view.link("in_accept", d)
    naming = sum(pipe.active & (pipe.annotation.source == d) for pipe in view.pipelines)
    m.d.comb += Cover(passed, "a word passes")
    m.d.comb += Cover(accepting & ~view.link("in_valid", d), "a reader waits")
    m.d.comb += Cover(~accepting & view.link("in_valid", d) & (naming != 0), "a reader refuses")
    if shape.pipelines > 1:
        m.d.comb += Cover(accepting & (naming == shape.pipelines), "all pipelines want one word")
    return Harness(m, list(view.inputs))


def kept(shape: NodeShape, pipeline: int = -1) -> Harness:
    """A word that is refused stays with its VFSM, which refuses its source and sends it next time."""
    m = Module()
    view = NodeView(m, shape)
    pipe = view.pipelines[pipeline % shape.pipelines]
    codes, said = view.codes, pipe.annotation
    v = choice(m, shape.vfsms, "vfsm")
    d = choice(m, shape.neighbours, "link")

    # The VFSM sends to links, by moves of any type, and nobody else touches its buffer.
    buffer = codes.first_buffer + v
    with m.If(pipe.has(v)):
        m.d.comb += Assume((said.destination < shape.neighbours) & (said.source != buffer))
    with m.Elif(pipe.active):
        m.d.comb += Assume((said.destination != buffer) & (said.source != buffer))
    writes = pipe.writes(v)
    with m.If(writes):
        m.d.comb += Assert(pipe.write_destination < shape.neighbours)
    with m.Elif(pipe.writing):
        m.d.comb += Assert(pipe.write_destination != buffer)

    sent, refused = Signal(), Signal()
    link = pipe.write_destination[: len(d)]
    m.d.comb += [
        sent.eq(writes & view.link("out_valid", link) & view.link("out_accept", link)),
        refused.eq(writes & ~sent & ~pipe.write_blind),
    ]

    waiting, word = Signal(), Signal(shape.width)
    with m.If(writes):
        m.d.sync += [waiting.eq(refused), word.eq(pipe.write_word)]
    m.d.comb += Assert(waiting == pipe.holds(v), "a word is kept if it was refused, and only then")
    with m.If(waiting):
        m.d.comb += Assert(pipe.buffered(v) == word, "the word that waits is the word that was refused")
    with m.If(writes):
        m.d.comb += Assert(pipe.from_buffer == waiting, "the word that waits is the next one sent")
    with m.If(writes & waiting):
        m.d.comb += Assert(pipe.write_word == word, "it is sent as it was")

    # Its turn: the word that waits is tried again unless it is being tried, and no other word is taken.
    retries, refuses = Signal(), Signal()
    m.d.sync += [retries.eq(pipe.runs(v) & waiting & ~writes), refuses.eq(pipe.runs(v) & (waiting | refused))]
    with m.If(retries):
        m.d.comb += Assert(writes & pipe.from_buffer, "a word that waits is tried in the next turn")
    with m.If(refuses & writes):
        m.d.comb += Assert(pipe.from_buffer, "while a word waits, none is taken from the source")
    alone: Value = Value.cast(1)
    for other in view.pipelines:
        if other is not pipe:
            alone = alone & ~(other.active & (other.annotation.source == d))
    with m.If(pipe.runs(v) & (waiting | refused) & alone):
        m.d.comb += Assert(~view.link("in_accept", d), "while a word waits, the link is told so")

    times = Signal(2)
    with m.If(refused & (times != 3)):
        m.d.sync += times.eq(times + 1)
    was_refused = Signal()
    m.d.sync += was_refused.eq(times >= 2)
    m.d.comb += [
        Cover(was_refused & sent, "a word is refused twice and then sent"),
        Cover(writes & pipe.write_blind & ~sent, "a blind move drops its word"),
        Cover(retries & writes & pipe.write_blind, "a word that was refused is tried by a blind move"),
    ]
    m.d.comb += Cover(waiting & pipe.has(v) & ~pipe.acts, "a word waits in an idle turn")
    return Harness(m, list(view.inputs))


def _claims(pipe: PipelineView, d: Value) -> Value:
    return pipe.writing & (pipe.write_destination == d)
