"""Last stages of one pipeline: a VFSM is decoded and looked up, reads a word, and writes it one cycle later."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .decode import DecodeStage, decoded_layout
from .full_bits import FullBits, Kept
from .interface import read_signature, write_signature
from .kept import kept, kept_pairs
from .places import register_number
from .shape import NodeShape


class TransferStages(wiring.Component):
    """From annotations to written words: decode, distance, look-up, read and write stage, and VFSM buffers, of one pipeline
    (Metcalf 1997, §7.1.1 and Figure 7-2).

    A word that its destination refuses goes to the buffer of its VFSM. While the buffer is full the VFSM refuses
    its source and tries the buffered word again each time it is scheduled. What the stages ask of links and
    interface registers is in registers; answers end in registers. So no combinational path leads from
    the ``in`` ports of the links to their ``out`` ports.

    **A turn that comes too soon is idle**: it takes no word and tries none again. Whether buffers are full is looked up once, two
    cycles before the read stage. What happens to a buffer meanwhile need not be told, for a turn is idle whose buffers (its
    own, its source's, its destination's) another VFSM touches in the last three slots with a turn that is not idle. This follows
    from VFSM numbers, which are compared while the annotation is decoded, in detail:

    ========================================= ==================== ==============================================
    the turn before                           is followed too soon by a turn of another VFSM that
    ----------------------------------------- -------------------------------------------------------------------
    puts its word into a buffer               in 3 slots           has this buffer, or takes words from there
    \\                                         in 2 slots           puts its word there
    has a buffer                              in 3 slots           takes words from there
    \\                                         in 2 slots           puts its word there
    takes words from a buffer                 in 2 slots           has this buffer, or takes words from there
    \\                                         in the next slot     puts its word there
    ========================================= ==================== ==============================================

    A VFSM itself is idle in the slot right after a turn whose word may be refused; what became of its words of two slots ago and
    before is told.

    Latency: three cycles from ``vfsm`` to its read stage, one from taking a word to offering it.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    full_bits : {"memory", "flip-flops"}
        Where the full bits of buffers are kept.

    Ports
    -----
    active : Signal(1), in
        The read stage has a VFSM three cycles later.
    vfsm : Signal(range(vfsms)), in
        VFSM in the read stage three cycles later.
    annotation : Codes.annotation_layout, in
        What this VFSM is to do.
    meets : Signal(1), in
        The VFSM that is in the read stage two cycles later has its link or interface register in common with one of a lower
        pipeline in the same slot, and so is idle.
    next_decoded : decoded_layout(shape), out
        What the VFSM in the read stage two cycles later is to do.
    next_accept : Signal(neighbours), out
        Bit d: in the next cycle the read stage takes a word from link d, if there is one.
    in_valid : Signal(neighbours), in
        Bit d: link d has a word.
    in_data_<d> : Signal(width), in
        Word on link d.
    out_claim : Signal(neighbours), out
        Bit d: the write stage has a word for link d.
    out_valid : Signal(1), out
        The claimed link may take ``out_data``. Low while a fork's second leg cannot. Valid with a claim.
    out_data : Signal(width), out
        Word in the write stage. Also the command, with ``memadr``.
    out_accept : Signal(neighbours), in
        Bit d: the reader of link d accepts.
    read : interface.read_signature(shape), out
        Read of an interface register.
    write : interface.write_signature(shape), out
        Write of an interface register.
    memadr : Signal(1), out
        ``out_data`` is written to MEMADR.

    Attributes
    ----------
    next_active, next_vfsm, next_annotation : Signal
        There is a VFSM two cycles before its read stage; which, and what it is to do.
    read_active, read_vfsm, read_annotation : Signal
        The same of the read stage.
    read_idle : Signal(1)
        The turn in the read stage is idle.
    full_bits : FullBits
        Which buffers hold a word.
    held : Signal(vfsms)
        Bit v: the buffer of VFSM v holds a word. Only shown; emptied by the first cycle of a reset.
    buffers : Memory
        These words, by VFSM.
    write_valid : Signal(1)
        The write stage has a word. The signals below belong to it.
    write_word, write_vfsm, write_type, write_destination, write_forked : Signal
        The word, the VFSM that moves it, and how, and where to, and whether a second leg follows.
    write_from_buffer : Signal(1)
        The word comes from the VFSM's own buffer, which keeps it until the write succeeds.
    """

    def __init__(self, *, shape: NodeShape, full_bits: Kept = "memory") -> None:
        self.shape = shape
        self.codes = codes = Codes(shape)
        n = shape.neighbours
        super().__init__(
            {
                "active": In(1),
                "vfsm": In(codes.vfsm_bits),
                "annotation": In(data.StructLayout(codes.annotation_layout)),
                "meets": In(1),
                "next_decoded": Out(decoded_layout(shape)),
                "next_accept": Out(n),
                "in_valid": In(n),
                **{f"in_data_{d}": In(shape.width) for d in range(n)},
                "out_claim": Out(n),
                "out_valid": Out(1),
                "out_data": Out(shape.width),
                "out_accept": In(n),
                "read": Out(read_signature(shape)),
                "write": Out(write_signature(shape)),
                "memadr": Out(1),
            }
        )
        self.next_active = Signal()
        self.next_vfsm = Signal(codes.vfsm_bits, reset_less=True)
        self.next_annotation = Signal(data.StructLayout(codes.annotation_layout), reset_less=True)
        self.read_active = Signal()
        self.read_vfsm = Signal(codes.vfsm_bits, reset_less=True)
        self.read_annotation = Signal(data.StructLayout(codes.annotation_layout), reset_less=True)
        self.read_idle = Signal(init=1)
        self.held = Signal(shape.vfsms)
        self.full_bits = FullBits(shape=shape, lookups=3, style=full_bits)
        self.buffers = Memory(shape=shape.width, depth=shape.vfsms, init=[])
        self.write_valid = Signal()
        self.write_word = Signal(shape.width, reset_less=True)
        self.write_vfsm = Signal(codes.vfsm_bits, reset_less=True)
        self.write_type = Signal(2, reset_less=True)
        self.write_destination = Signal(codes.place_bits, reset_less=True)
        self.write_forked = Signal(reset_less=True)
        self.write_from_buffer = Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        codes, shape, n = self.codes, self.shape, self.shape.neighbours
        taken_valid = self.write_valid
        m.submodules.buffers = self.buffers
        store = self.buffers.write_port()
        load = self.buffers.read_port(domain="comb")
        m.submodules.full_bits = full_bits = self.full_bits
        m.submodules.decode = decode = DecodeStage(shape=shape)
        m.d.comb += [
            decode.vfsm.eq(self.vfsm),
            decode.annotation.eq(self.annotation),
            self.next_decoded.eq(decode.decoded),
        ]
        # Turns by the stage they are in: distance (two cycles before the read stage), look-up, read, write.
        y = decode.decoded
        x, r, w = (Signal(decoded_layout(shape), name=name, reset_less=True) for name in "xrw")
        m.d.sync += [x.eq(y), r.eq(x), w.eq(r)]
        self._show(m)

        def later(name: str, value: Value, *, reset_less: bool = True, init: int = 0) -> Signal:
            """``value`` one cycle later."""
            flop = Signal(len(value), name=name, reset_less=reset_less, init=init)
            m.d.sync += flop.eq(value)
            return flop

        def named(name: str, value: Value) -> Signal:
            signal = Signal(len(value), name=name)
            m.d.comb += signal.eq(value)
            return signal

        # -- Decode stage: compares with the turns of one, two and three slots before ----------------------------
        vfsm, source, target = self.vfsm, decode.source, decode.target
        compares = {
            "own1": vfsm == y.vfsm,
            "vs1": vfsm == y.source,
            "ss1": source == y.source,
            "vt1": vfsm == y.target,
            "st1": source == y.target,
            "sv1": source == y.vfsm,
            "ts1": target == y.source,
            "tt1": target == y.target,
            "tv1": target == y.vfsm,
            "own2": vfsm == x.vfsm,
            "vs2": vfsm == x.source,
            "ss2": source == x.source,
            "vt2": vfsm == x.target,
            "st2": source == x.target,
            "sv2": source == x.vfsm,
            "tt2": target == x.target,
            "tv2": target == x.vfsm,
            "own3": vfsm == r.vfsm,
            "vt3": vfsm == r.target,
            "st3": source == r.target,
            "sv3": source == r.vfsm,
            "leg": self.annotation.source == self.next_annotation.destination,
        }
        look = {name: later(f"y_{name}", value) for name, value in compares.items()}

        def any_of(*names: str) -> Value:
            return Cat(*(look[name] for name in names)).any()

        # -- Distance stage: does the turn come too soon? ---------------------------------------------------------
        x_idle, r_idle = Signal(init=1), self.read_idle
        w_idle = later("w_idle", r_idle, reset_less=False, init=1)
        runs_on = look["own1"] & look["ss1"] & look["tt1"] & ~x.refusable
        soon1 = any_of("own1", "vs1", "ss1", "vt1", "st1", "sv1", "ts1", "tt1", "tv1") & ~runs_on
        soon2 = any_of("vs2", "ss2", "vt2", "st2", "sv2", "tt2", "tv2") & ~look["own2"]
        # One that takes words out of a buffer into which it puts them is its own neighbour.
        soon3 = (any_of("vt3", "sv3") & ~look["own3"]) | (look["st3"] & (y.from_buffer | ~look["own3"]))
        m.d.sync += [
            x_idle.eq(~self.next_active | self.meets | (soon1 & ~x_idle) | (soon2 & ~r_idle) | (soon3 & ~w_idle)),
            r_idle.eq(x_idle),
        ]
        names = ("own1", "own2", "own3", "ss1", "ss2", "tt2")
        x_own1, x_own2, x_own3, x_ss1, x_ss2, x_tt2 = (later(f"x_{name}", look[name]) for name in names)
        x_leg = later("x_leg", self.next_active & y.leg & look["leg"], reset_less=False)

        # -- Write stage: what becomes of the word ----------------------------------------------------------------
        claims = Signal(n)
        goes, weak, fills, puts = (Signal(name=f"w_{name}") for name in ("goes", "weak", "fills", "puts"))
        accepted = Cat(*kept_pairs(m, "accepted", claims, self.out_accept)).any()
        stays = named("stays", taken_valid & weak & ~(goes & accepted))
        fill = named("fill", taken_valid & fills)
        m.d.comb += [
            self.out_claim.eq(claims),
            self.out_valid.eq(goes),
            self.out_data.eq(self.write_word),
            self.write.number.eq(register_number(codes, self.next_annotation.destination)),
            self.write.put.eq(taken_valid & puts),
            self.write.data.eq(self.write_word),
            self.memadr.eq(taken_valid & w.to_memadr),
        ]

        # -- Look-up stage: what is the turn going to do? ---------------------------------------------------------
        retries = Signal()  # the read stage tries its VFSM's word again
        takes = Signal()  # the read stage takes a word out of another buffer
        took = later("took", takes, reset_less=False)
        waits = x_own2 & taken_valid  # its own word is in the write stage
        held = named("x_held", (full_bits.full_0 | (x_own3 & full_bits.kept)) & ~waits)
        free = kept(m, "x_free", ~x_idle & ~held)
        holds = kept(m, "x_holds", ~x_idle & held & ~(x_own1 & retries))
        # The latest of all: whether its word of two slots ago stays.
        own_weak = kept(m, "x_own_weak", ~x_idle & waits & weak)
        again = kept(m, "x_again", own_weak & ~(goes & accepted))
        opens = free & ~again
        there = x.from_buffer & full_bits.full_1 & ~(x_ss1 & takes & ~r.copy) & ~(x_ss2 & took & ~w.copy)
        found = kept(m, "x_found", free & (x.from_null | there))
        free_links = kept(m, "x_free_links", x.links & free.replicate(n))
        r_links = later("r_links", free_links & ~again.replicate(n), reset_less=False)
        # It has a word for certain: one that it tries again, 0, or one out of a buffer.
        r_sure = later("r_sure", holds | again | found, reset_less=False)
        r_leg = later("r_leg", x_leg & opens, reset_less=False)
        tries = holds | again
        # Where its word comes from, if it gets one; one that it tries again comes from its own buffer.
        r_load = Signal(codes.vfsm_bits, reset_less=True)
        m.d.sync += [
            r_load.eq(Mux(tries, x.vfsm, x.source)),
            retries.eq(tries),
            takes.eq(opens & there),
            # A word with two legs goes when both can have it; with its second leg not there, it stays.
            goes.eq((~x_leg & ~r.forked) | (x_leg & opens)),
        ]
        r_loads = later("r_loads", tries | x.from_buffer)
        m.d.comb += [
            self.next_accept.eq(free_links & ~again.replicate(n)),
            self.read.number.eq(register_number(codes, self.annotation.source)),
            self.read.names.eq(x.from_register),
            self.read.keep.eq(x.copy),
            self.read.asks.eq(x.from_register & opens),
        ]

        # -- Read stage ----------------------------------------------------------------------------------------
        # One interface access a cycle: the write wins.
        reads = named("reads", self.read.found & ~(taken_valid & w.to_register))
        m.d.comb += [self.read.take.eq(reads), load.addr.eq(r_load)]
        r_tt2 = later("r_tt2", x_tt2)
        room = ~(full_bits.full_2 | (r_tt2 & full_bits.filled))
        r_fills = r.to_buffer & (r.blind | room)
        r_pours = kept(m, "r_pours", r.to_register & r.blind)
        r_may_put = kept(m, "r_may_put", r.to_register & ~(taken_valid & puts & self.write.same))
        r_puts = r_may_put & (~self.write.full | self.write.emptied)
        m.d.sync += [
            fills.eq(r_fills),
            puts.eq(r_pours | r_puts),
            weak.eq(kept(m, "r_stays", r.refusable & ~r_fills) & ~r_puts),
        ]
        sources = [(r_links[d], getattr(self, f"in_data_{d}")) for d in range(n)]
        word = kept(m, "register_word", self.read.data & ~retries.replicate(shape.width))
        word = word | kept(m, "buffer_word", load.data & r_loads.replicate(shape.width))
        for d in range(0, n, 2):
            pair = [value & chosen.replicate(shape.width) for chosen, value in sources[d : d + 2]]
            word = word | kept(m, f"links_word_{d}", reduce(or_, pair))
        certain = kept(m, "certain", r_sure | reads)
        rest = kept(m, "rest", certain | (r_leg & accepted))
        taken = Cat(*kept_pairs(m, "arrives", r_links, self.in_valid), rest).any()
        m.d.sync += [
            taken_valid.eq(taken),
            claims.eq(r.to_links & taken.replicate(n)),
            self.write_from_buffer.eq(retries),
        ]
        with m.If(retries | ~r.leg):  # a second leg takes the word that is there
            m.d.sync += self.write_word.eq(word)

        # -- Buffers -------------------------------------------------------------------------------------------
        m.d.comb += [
            # Kept in advance, before it is known whether the word stays; whether the buffer is full tells.
            store.en.eq(taken_valid),
            store.addr.eq(Mux(fills, w.target, w.vfsm)),
            store.data.eq(self.write_word),
            full_bits.index_0.eq(self.vfsm),
            full_bits.index_1.eq(decode.source),
            full_bits.index_2.eq(y.target),
            # Trying a word again takes it out of its buffer; if it has to stay, it goes back.
            full_bits.fill.eq(fill),
            full_bits.keep.eq(stays),
            full_bits.put.eq(store.addr),
            full_bits.clear.eq(retries | (takes & ~r.copy)),
            full_bits.got.eq(r_load),
        ]
        self._show_held(m, w, r, stays, fill, takes & ~r.copy)
        return m

    def _show_held(self, m: Module, w: data.View, r: data.View, stays: Value, fill: Value, leaves: Value) -> None:
        """The full bits in a register, for those who look into a simulation. A word that is tried again counts until it goes."""
        own, left, target = Signal.like(self.held), Signal.like(self.held), Signal.like(self.held)
        m.d.comb += [
            own.eq(self.write_valid << w.vfsm),
            left.eq(leaves << r.source),
            target.eq(fill << w.target),
        ]
        m.d.sync += self.held.eq(Mux(stays, own, 0) | (~own & ~left & self.held) | target)

    def _show(self, m: Module) -> None:
        """Registers that tell what is in the stages; synthesis drops those that nobody reads."""
        look_active = Signal()
        look_vfsm, look_annotation = Signal.like(self.next_vfsm), Signal.like(self.next_annotation)
        m.d.sync += [
            self.next_active.eq(self.active),
            self.next_vfsm.eq(self.vfsm),
            self.next_annotation.eq(self.annotation),
            look_active.eq(self.next_active),
            look_vfsm.eq(self.next_vfsm),
            look_annotation.eq(self.next_annotation),
            self.read_active.eq(look_active),
            self.read_vfsm.eq(look_vfsm),
            self.read_annotation.eq(look_annotation),
            self.write_vfsm.eq(self.read_vfsm),
            self.write_type.eq(self.read_annotation.type),
            self.write_destination.eq(self.read_annotation.destination),
            self.write_forked.eq(self.read_annotation.forked),
        ]
