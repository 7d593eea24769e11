"""Exactly once and in order, along a chain of VFSMs through a node, between links and the processor.

A chain has a way in, a VFSM per move, and a way out. Which VFSMs, links and registers it uses is for the solver to choose, and so
is what runs in which slot: the schedule may be any, and may change at any time. Beside the node runs a queue, which takes
each word that enters at the ports, and which must hold the word that leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from amaranth.hdl import Array, Assert, Assume, Const, Cover, Module, Mux, Signal, Value

from cosim.formal.proof import Harness
from numesh.codes import MoveType
from numesh.shape import NodeShape

from .choose import choice
from .legal import Rules
from .view import NodeView

Word = tuple[Value, Value]
"""There is one, and which."""
Mine = Callable[[Value], Value]
"""Tells words of a chain from others."""


@dataclass
class Move:
    """A VFSM of the chain, and what its annotation says."""

    vfsm: Signal
    type: MoveType
    source: Value
    destination: Value
    forked: bool = False


@dataclass
class Way:
    """Where words enter or leave: an event, with its word."""

    event: Value
    word: Value


@dataclass
class Chain:
    """What a chain is made of.

    Attributes
    ----------
    moves : list of Move
        In the order in which words pass.
    places : list of Word
        Where words of the chain can be, the newest first.
    enters : Way
        Its beginning.
    leaves : list of Way
        Its ends. A fork has one for each leg; the n-th leg has the words of the first n places.
    registers : list of Value
        Interface registers that belong to the chain.
    mine : callable
        Tells words of this chain from others that share its last VFSM.
    """

    moves: list[Move]
    places: list[Word]
    enters: Way
    leaves: list[Way]
    registers: list[Value] = field(default_factory=list)
    mine: Mine | None = None


class ChainProof:
    """Builds the harness of one kind of chain in one pipeline."""

    def __init__(self, shape: NodeShape, pipeline: int) -> None:
        self.shape = shape
        self.m = m = Module()
        self.view = NodeView(m, shape)
        self.pipeline = self.view.pipelines[pipeline]
        self.codes = self.view.codes
        self.rules = Rules(self.view)

    # -- parts -------------------------------------------------------------------------------------------------

    def vfsms(self, count: int) -> list[Signal]:
        """VFSMs of the pipeline, all different, chosen by the solver."""
        m = self.m
        chosen = [choice(m, self.shape.vfsms, f"vfsm_{i}") for i in range(count)]
        for i, one in enumerate(chosen):
            m.d.comb += [Assume(one != other) for other in chosen[:i]]
        return chosen

    def links(self, count: int) -> list[Signal]:
        """Links chosen by the solver. They may be the same: each has two directions."""
        return [choice(self.m, self.shape.neighbours, name) for name in ("into", "out", "second", "third")[:count]]

    def buffer(self, vfsm: Signal) -> Value:
        """Code of the buffer of ``vfsm``."""
        return self.codes.first_buffer + vfsm

    def register(self, number: Signal) -> Value:
        """Code of an interface register."""
        return self.codes.first_register + number

    def own_word(self, vfsm: Signal) -> Word:
        """The word that ``vfsm`` has taken and not passed on: in the write stage or in its buffer, never both."""
        m, pipe = self.m, self.pipeline
        fresh = pipe.writes(vfsm) & ~pipe.from_buffer
        m.d.comb += Assert(~(fresh & pipe.holds(vfsm)), "a word is in the write stage or in the buffer")
        kept = pipe.buffered(vfsm)
        with m.If(pipe.writes(vfsm) & pipe.from_buffer):
            m.d.comb += Assert(pipe.holds(vfsm) & (pipe.write_word == kept), "a word tried again stays in the buffer")
        return fresh | pipe.holds(vfsm), Mux(fresh, pipe.write_word, kept)

    def link_in(self, vfsm: Signal, d: Signal) -> Way:
        """Words that ``vfsm`` takes from link ``d``. No other pipeline reads there in its slot."""
        view, pipe = self.view, self.pipeline
        for other in view.pipelines:
            if other is not pipe:
                with self.m.If(pipe.runs(vfsm) & other.active):
                    self.m.d.comb += Assume(other.annotation.source != d)
        return Way(pipe.runs(vfsm) & view.link("in_valid", d) & view.link("in_accept", d), view.link("in_data", d))

    def link_out(self, vfsm: Signal, d: Signal) -> Way:
        """Words that ``vfsm`` gives to link ``d``. No other pipeline writes there in its slot."""
        view, pipe = self.view, self.pipeline
        for other in view.pipelines:
            if other is not pipe:
                with self.m.If(pipe.writes(vfsm) & other.writing):
                    self.m.d.comb += Assume(other.write_destination != d)
        return Way(pipe.writes(vfsm) & view.link("out_valid", d) & view.link("out_accept", d), view.link("out_data", d))

    # -- the whole ---------------------------------------------------------------------------------------------

    def harness(self, chain: Chain) -> Harness:
        """Annotations, other VFSMs, the queue and the covers for ``chain``."""
        self._annotations(chain)
        self._others(chain)
        self._queues(chain)
        return Harness(self.m, list(self.view.inputs))

    def _annotations(self, chain: Chain) -> None:
        """The VFSMs of the chain do what the chain says; in the write stage as in the read stage."""
        m, pipe = self.m, self.pipeline
        for move in chain.moves:
            said = pipe.annotation
            with m.If(pipe.has(move.vfsm)):
                m.d.comb += Assume(
                    (said.type == move.type)
                    & (said.source == move.source)
                    & (said.destination == move.destination)
                    & (said.forked == move.forked)
                )
            with m.If(pipe.writes(move.vfsm)):
                m.d.comb += Assert(
                    (pipe.write_destination == move.destination)
                    & ~pipe.write_blind
                    & (pipe.write_forked == move.forked),
                    "the write stage does what the read stage was told",
                )

    def _others(self, chain: Chain) -> None:
        """Other VFSMs leave the buffers and registers of the chain alone, but for merging into its last buffer."""
        m, codes = self.m, self.codes
        for pipe in self.view.pipelines:
            said = pipe.annotation
            other = pipe.active
            writing = pipe.writing
            if pipe is self.pipeline:
                for move in chain.moves:
                    other = other & (pipe.vfsm != move.vfsm)
                    writing = writing & (pipe.write_vfsm != move.vfsm)
                for i, move in enumerate(chain.moves):
                    buffer = codes.first_buffer + move.vfsm
                    merging = chain.mine is not None and i == len(chain.moves) - 1
                    with m.If(other):
                        m.d.comb += Assume(said.source != buffer)
                        m.d.comb += Assume((said.destination != buffer) | (merging & (said.type != MoveType.BLIND)))
                    with m.If(writing & (pipe.write_destination == buffer)):
                        m.d.comb += Assert(merging & ~pipe.write_blind, "others leave the buffers alone")
                        if chain.mine is not None:
                            m.d.comb += Assume(~chain.mine(pipe.write_word))
            for register in chain.registers:
                code = codes.first_register + register
                with m.If(other):
                    m.d.comb += Assume((said.source != code) & (said.destination != code))
                with m.If(writing):
                    m.d.comb += Assert(pipe.write_destination != code, "others leave the registers alone")

    def _queues(self, chain: Chain) -> None:
        """A queue for each end."""
        m, mine, enters = self.m, chain.mine, chain.enters
        if mine is not None:
            with m.If(enters.event):
                m.d.comb += Assume(mine(enters.word))
        for i, leaves in enumerate(chain.leaves):
            pop = Signal(name=f"pop_{i}")
            m.d.comb += pop.eq(leaves.event & (mine(leaves.word) if mine else 1))
            places = chain.places if len(chain.leaves) == 1 else chain.places[: i + 1]
            count = self._queue(i, places, mine, enters, Way(pop, leaves.word))
            self._covers(chain, pop, count, len(places))

    def _queue(self, i: int, places: list[Word], mine: Mine | None, enters: Way, leaves: Way) -> Signal:
        """What has entered and not left at end ``i``; it is in ``places``, in this order. Gives the number of words."""
        m, size = self.m, len(places)
        push, pop = enters.event, leaves.event
        count = Signal(range(size + 1), name=f"count_{i}")
        queue = Array(Signal(self.shape.width, name=f"queue_{i}_{k}") for k in range(size))
        with m.If(pop):
            m.d.comb += Assert(count != 0, "no word leaves that has not entered")
            m.d.comb += Assert(leaves.word == queue[0], "words leave in the order in which they entered")
            m.d.sync += [queue[k].eq(queue[k + 1]) for k in range(size - 1)]
        with m.If(push):
            m.d.comb += Assert(count - pop < size, "no word enters without a place")
            m.d.sync += queue[(count - pop)[: len(count)]].eq(enters.word)
        m.d.sync += count.eq(count + push - pop)
        older: Value = Value.cast(0)
        for k, (place, word) in enumerate(reversed(places)):
            here = Signal(name=f"here_{i}_{k}")
            m.d.comb += here.eq(place & (mine(word) if mine else 1))
            with m.If(here):
                m.d.comb += Assert(word == queue[older[: len(count)]], "what waits in the node is what has entered")
            older = older + here
        m.d.comb += Assert(older == count, "as many words wait in the node as have entered and not left")
        return count

    def _covers(self, chain: Chain, pop: Value, count: Signal, size: int) -> None:
        m = self.m
        left, waited, jumped = Signal(2), Signal(), Signal()
        with m.If(pop & (left != 3)):
            m.d.sync += left.eq(left + 1)
        with m.If(self.pipeline.writes(chain.moves[size - 1 if len(chain.leaves) > 1 else -1].vfsm) & ~pop):
            m.d.sync += waited.eq(1)
        with m.If(self.view.jumps & (count != 0)):
            m.d.sync += jumped.eq(1)
        m.d.comb += [
            Cover((left == 2) & waited & self.rules.kept, "a word is refused, and two leave, in a legal schedule"),
            Cover(count == size, "all places of the chain hold words"),
        ]
        if self.codes.command_words == 1:
            m.d.comb += Cover(jumped & (left == 2), "the phase changes while a word waits, and it leaves")


# -- the chains ----------------------------------------------------------------------------------------------


def straight(shape: NodeShape, pipeline: int = -1) -> Harness:
    """Link to link."""
    proof = ChainProof(shape, pipeline % shape.pipelines)
    a, b = proof.links(2)
    (v,) = proof.vfsms(1)
    move = Move(v, MoveType.MOVE, a, b)
    return proof.harness(Chain([move], [proof.own_word(v)], proof.link_in(v, a), [proof.link_out(v, b)]))


def delay(shape: NodeShape, pipeline: int = -1) -> Harness:
    """Link to the VFSM's own buffer, from where another VFSM takes it to a link."""
    proof = ChainProof(shape, pipeline % shape.pipelines)
    a, b = proof.links(2)
    v, u = proof.vfsms(2)
    buffer = proof.buffer(v)
    moves = [Move(v, MoveType.MOVE, a, buffer), Move(u, MoveType.MOVE, buffer, b)]
    places = [proof.own_word(v), proof.own_word(u)]
    return proof.harness(Chain(moves, places, proof.link_in(v, a), [proof.link_out(u, b)]))


def merge(shape: NodeShape, pipeline: int = -1) -> Harness:
    """Link to the buffer of the VFSM that sends, into which others may merge; their words differ in the lowest bit."""
    proof = ChainProof(shape, pipeline % shape.pipelines)
    a, b = proof.links(2)
    v, u = proof.vfsms(2)
    moves = [Move(v, MoveType.MOVE, a, proof.buffer(u)), Move(u, MoveType.MOVE, Const(proof.codes.nop), b)]
    places = [proof.own_word(v), proof.own_word(u)]
    chain = Chain(moves, places, proof.link_in(v, a), [proof.link_out(u, b)], mine=lambda word: word[0])
    return proof.harness(chain)


def from_processor(shape: NodeShape, pipeline: int = -1) -> Harness:
    """Processor, interface register, link."""
    proof = ChainProof(shape, pipeline % shape.pipelines)
    (b,), r = proof.links(1), choice(proof.m, shape.registers, "register")
    (v,) = proof.vfsms(1)
    node, view = proof.view.node, proof.view
    with proof.m.If(node.p_address == r):
        proof.m.d.comb += Assume(~node.p_read & ~(node.p_write & view.full(r)))
    enters = Way(node.p_write & (node.p_address == r), node.p_write_data)
    move = Move(v, MoveType.MOVE, proof.register(r), b)
    *others, place = view.places(r)
    for full, _ in others:
        proof.m.d.comb += Assert(~full, "only the processor fills the register")
    places = [place, proof.own_word(v)]
    return proof.harness(Chain([move], places, enters, [proof.link_out(v, b)], registers=[r]))


def to_processor(shape: NodeShape, pipeline: int = -1) -> Harness:
    """Link, interface register, processor."""
    proof = ChainProof(shape, pipeline % shape.pipelines)
    (a,), r = proof.links(1), choice(proof.m, shape.registers, "register")
    (v,) = proof.vfsms(1)
    node, view, m = proof.view.node, proof.view, proof.m
    with m.If(node.p_address == r):
        m.d.comb += Assume(~node.p_write)
    for k, (full, _) in enumerate(view.places(r)):
        if k != proof.pipeline.number:
            m.d.comb += Assert(~full, "only this pipeline fills the register")
    leaves = Way(node.p_read & (node.p_address == r) & view.full(r), view.registered(r))
    # What the processor gets a cycle later is the word that the queue has given.
    read, word = Signal(), Signal(shape.width)
    m.d.sync += [read.eq(leaves.event), word.eq(leaves.word)]
    with m.If(read):
        m.d.comb += Assert(node.p_read_data == word, "the processor reads the word of the register")
    move = Move(v, MoveType.MOVE, a, proof.register(r))
    places = [proof.own_word(v), (view.full(r), leaves.word)]
    return proof.harness(Chain([move], places, proof.link_in(v, a), [leaves], registers=[r]))


def fork(shape: NodeShape, pipeline: int = -1, legs: int = 2) -> Harness:
    """Link to several links: each leg takes the word that the leg before it gives to its neighbour."""
    proof = ChainProof(shape, pipeline % shape.pipelines)
    m, pipe = proof.m, proof.pipeline
    a, *outs = proof.links(1 + legs)
    vfsms = proof.vfsms(legs)
    moves = [Move(vfsms[0], MoveType.MOVE, a, outs[0], forked=True)]
    moves += [Move(v, MoveType.FORK, outs[i], outs[i + 1], forked=i + 2 < legs) for i, v in enumerate(vfsms[1:])]
    for first, second, out in zip(vfsms, vfsms[1:], outs, strict=False):
        # NUM-10: the second leg follows its first, and no other second leg does.
        said = pipe.annotation
        with m.If(pipe.runs(second) & pipe.writing & (pipe.write_destination == out)):
            m.d.comb += Assume(pipe.write_vfsm == first)
        with m.If(pipe.active & (said.type == MoveType.FORK) & (said.source == out) & pipe.writes(first)):
            m.d.comb += Assume(pipe.vfsm == second)
    ways = [proof.link_out(v, out) for v, out in zip(vfsms, outs, strict=True)]
    harness = proof.harness(Chain(moves, [proof.own_word(v) for v in vfsms], proof.link_in(vfsms[0], a), ways))
    for second, way in zip(vfsms[1:], ways, strict=False):
        gave, word = Signal(), Signal(shape.width)
        m.d.sync += [gave.eq(way.event), word.eq(way.word)]
        fresh = pipe.writes(second) & ~pipe.from_buffer
        m.d.comb += Assert(fresh == gave, "both legs have the word, or neither")
        with m.If(gave):
            m.d.comb += Assert(pipe.write_word == word, "both legs have the same word")
    return harness
