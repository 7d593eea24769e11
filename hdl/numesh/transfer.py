"""Last stages of one pipeline: a VFSM is decoded and looked up, reads a word, and writes it one cycle later."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .decode import DecodeStage, decoded_layout
from .full_bits import FullBits, Kept
from .interface import read_signature, write_signature
from .places import buffer_number, register_number
from .shape import NodeShape


class TransferStages(wiring.Component):
    """From decoded annotations to written words: look-up, read and write stage, and VFSM buffers, of one pipeline
    (Metcalf 1997, §7.1.1 and Figure 7-2).

    A word that its destination refuses goes to the buffer of its VFSM. While the buffer is full the VFSM refuses
    its source and tries the buffered word again each time it is scheduled. What the stages ask of links and
    interface registers depends on registers alone; answers end in flops. So no combinational path leads from
    the ``in`` ports of the links to their ``out`` ports.

    Whether buffers are full is looked up two cycles before the read and write stages ask. What happens to a buffer in these
    cycles is told from compares of VFSM numbers, made while the annotations came: ``same2`` says that the VFSM in the
    look-up stage is that in the write stage, two slots before; ``into1`` in the read stage that the write stage has a word
    for the buffer of its VFSM, and so on. What is decided last, whether a word stays for want of an answer (`stays`), is
    caught in flops beside the look-ups.

    Latency: two cycles from ``vfsm`` to its read stage, one from taking a word to offering it.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    full_bits : {"memory", "flip-flops"}
        Where the full bits of buffers are kept.

    Ports
    -----
    active : Signal(1), in
        The read stage has a VFSM two cycles later.
    vfsm : Signal(range(vfsms)), in
        VFSM in the read stage two cycles later.
    annotation : Codes.annotation_layout, in
        What this VFSM is to do.
    in_accept : Signal(neighbours), out
        Bit d: the read stage takes a word from link d, if there is one.
    in_valid : Signal(neighbours), in
        Bit d: link d has a word.
    in_lost : Signal(1), in
        A pipeline with precedence accepts the word of the link that this one reads.
    in_open : Signal(1), out
        The read stage takes a word from its source, if there is one.
    next_links : Signal(neighbours), out
        Bit d: the VFSM in the look-up stage reads link d.
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
    out_lost : Signal(1), in
        A pipeline with precedence claims the link that this one claims.
    read_to_links : Signal(neighbours), out
        Bit d: the VFSM in the read stage writes to link d.
    read : interface.read_signature(shape), out
        Read of an interface register.
    write : interface.write_signature(shape), out
        Write of an interface register.
    memadr : Signal(1), out
        ``out_data`` is written to MEMADR.

    Attributes
    ----------
    next_active, next_vfsm, next_annotation : Signal
        The look-up stage has a VFSM; which, and what it is to do.
    read_active, read_vfsm, read_annotation : Signal
        The same of the read stage.
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
                "in_accept": Out(n),
                "in_valid": In(n),
                "in_lost": In(1),
                "in_open": Out(1),
                "next_links": Out(n),
                **{f"in_data_{d}": In(shape.width) for d in range(n)},
                "out_claim": Out(n),
                "out_valid": Out(1),
                "out_data": Out(shape.width),
                "out_accept": In(n),
                "out_lost": In(1),
                "read_to_links": Out(n),
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
        self.held = Signal(shape.vfsms)
        self.full_bits = FullBits(shape=shape, lookups=3, kept=full_bits)
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
        codes, shape = self.codes, self.shape
        annotation, taken_valid, w_buffered = self.annotation, self.write_valid, self.write_from_buffer
        m.submodules.buffers = self.buffers
        store = self.buffers.write_port()
        load = self.buffers.read_port(domain="comb")
        m.submodules.full_bits = full_bits = self.full_bits
        m.submodules.decode = decode = DecodeStage(shape=shape)
        m.d.comb += [decode.vfsm.eq(self.vfsm), decode.annotation.eq(annotation)]
        # In the look-up, read and write stage.
        x = decode.decoded
        r = Signal(decoded_layout(shape), reset_less=True)
        w = Signal(decoded_layout(shape), reset_less=True)
        m.d.sync += [r.eq(x), w.eq(r)]
        self._show(m)

        # -- Who is who: compares for the look-up stage, and those that go on to the read stage ----------------
        source, target = buffer_number(codes, annotation.source), buffer_number(codes, annotation.destination)
        compares = {
            "same1": self.vfsm == x.vfsm,
            "same2": self.vfsm == r.vfsm,
            "same3": self.vfsm == w.vfsm,
            "into1": (self.vfsm == x.target) & x.to_buffer,
            "into2": (self.vfsm == r.target) & r.to_buffer,
            "into3": self.vfsm == w.target,
            "from1": (self.vfsm == x.source) & x.from_buffer & ~x.copy,
            "from2": self.vfsm == r.source,
            "source_same1": source == x.vfsm,
            "source_same2": source == r.vfsm,
            "source_same3": source == w.vfsm,
            "source_into2": (source == r.target) & r.to_buffer,
            "source_into3": source == w.target,
            "source_into1": (source == x.target) & x.to_buffer,
            "source_from1": (source == x.source) & x.from_buffer & ~x.copy,
            "source_from2": source == r.source,
            "target_same1": target == x.vfsm,
            "target_same2": target == r.vfsm,
            "target_into1": (target == x.target) & x.to_buffer,
            "target_into2": target == r.target,
            "target_from1": target == x.source,
            "target_from0": target == source,
            "leg": annotation.source == self.next_annotation.destination,
        }
        look: dict[str, Signal] = {}
        for name, value in compares.items():
            look[name] = Signal(name=f"look_{name}", reset_less=True)
            m.d.sync += look[name].eq(value)

        def later(name: str, value: Value, *, reset_less: bool = True) -> Signal:
            """``value`` one cycle later."""
            flop = Signal(name=name, reset_less=reset_less)
            m.d.sync += flop.eq(value)
            return flop

        # Decided below.
        retry, open_, fill, leaves, stays = (Signal(name=n) for n in ("retry", "open", "fill", "leaves", "stays"))
        taken, take_buffer = Signal(), Signal()
        kept = full_bits.kept
        r_into1 = later("r_into1", look["into1"])
        r_source_into1 = later("r_source_into1", look["source_into1"])
        filled = full_bits.filled
        left = later("left", leaves & ~(fill & r_source_into1))

        def look_now(full: Value, emptied: Value, put_into: Value, put_back: Value) -> Value:
            """A full bit as it was a cycle ago, and what happened to the buffer then: it was emptied, or a word was put into it,
            or its own was put back."""
            return (full & ~(emptied & left)) | (put_into & filled) | (put_back & kept)

        # -- Look-up stage: is the own buffer full, and the source's? -------------------------------------------
        x_filled = Signal()
        x_counts = Signal()
        x_found = Signal()
        x_again = Signal()
        x_blocked = Signal()
        m.d.comb += [
            # Without the word that is in the write stage and may have to stay.
            x_filled.eq(look["into2"] & fill),
            x_counts.eq(~(look["same2"] & taken_valid) & ~(look["from1"] & take_buffer)),
            x_found.eq(look_now(full_bits.full_0, look["from2"], look["into3"], look["same3"])),
            # The next write stage has the word of this VFSM's buffer, or may have to keep its word, or fills its buffer.
            x_again.eq(look["same1"] & retry),
            x_blocked.eq(look["same1"] & r.refusable),
        ]
        going = self.next_active & ~x_again
        x_empty = Signal()
        x_full = Signal()
        x_stays = Signal()
        m.d.comb += [
            x_empty.eq(going & ~x_filled & ~(x_counts & x_found)),
            x_full.eq((going & x_filled) | ((going & x_counts) & x_found)),
            x_stays.eq(self.next_active & look["same2"] & stays),
        ]
        r_empty = later("r_empty", x_empty, reset_less=False)
        r_full = later("r_full", x_full, reset_less=False)
        r_stayed = later("r_stayed", x_stays, reset_less=False)
        # Its own word has just stayed, or the next write stage has its word, or one for its buffer.
        r_shut = later("r_shut", x_stays | (taken & (x_blocked | look["into1"])), reset_less=False)
        r_own = later("r_own", x_blocked)
        r_asks = later("r_asks", x_empty & x.from_register, reset_less=False)
        r_links = Signal(shape.neighbours)
        m.d.sync += r_links.eq(x.links & (x_empty & ~x_stays).replicate(shape.neighbours))
        # Where its word comes from, if it gets one; one that it tries again comes from its own buffer.
        x_tries = Signal()
        m.d.comb += x_tries.eq(x_full | x_stays)
        r_load = Signal(codes.vfsm_bits, reset_less=True)
        m.d.sync += r_load.eq(Mux(x_tries, x.vfsm, x.source))
        r_loads = later("r_loads", x_tries | x.from_buffer)
        r_register = later("r_register", x.from_register & ~x_tries)
        x_source = x.from_buffer & ~(look["source_same1"] & retry)
        r_source = later(
            "r_source",
            (x_source & look["source_into2"] & fill)
            | (
                (x_source & ~(look["source_same2"] & taken_valid) & ~(look["source_from1"] & take_buffer))
                & look_now(full_bits.full_1, look["source_from2"], look["source_into3"], look["source_same3"])
            ),
        )
        r_source_kept = later("r_source_kept", x_source & look["source_same2"] & taken_valid)
        x_leg = self.next_active & x.leg & look["leg"]
        # A word with two legs goes when both can have it; with its second leg not there, it stays.
        r_leg = later("r_leg", x_leg, reset_less=False)
        r_goes = later("r_goes", (~x_leg & ~r.forked) | (x_leg & ~x_blocked & x_empty & ~x_stays))

        # -- Read stage ----------------------------------------------------------------------------------------
        busy = Signal()
        m.d.comb += [
            busy.eq(r_full | r_stayed),
            retry.eq(busy & ~(taken_valid & r_own)),
            open_.eq(r_empty & ~r_shut),
            self.in_accept.eq(r_links & ~r_shut.replicate(shape.neighbours)),
            self.in_open.eq(open_),
            self.next_links.eq(x.links),
            # One interface access a cycle: the write wins.
            self.read.request.eq(r_asks & ~r_shut & ~(taken_valid & w.to_register)),
            self.read.number.eq(register_number(codes, annotation.source)),
            self.read.keep.eq(r.copy),
            take_buffer.eq(open_ & (r_source | (r_source_kept & kept))),
            leaves.eq(take_buffer & ~r.copy),
            load.addr.eq(r_load),
        ]

        # -- Write stage: offer the word -----------------------------------------------------------------------
        sent = Signal()
        w_claim = Signal(shape.neighbours)
        m.d.sync += w_claim.eq(r.to_links & taken.replicate(shape.neighbours))
        m.d.comb += [
            self.out_claim.eq(w_claim),
            self.out_valid.eq(r_goes),
            self.read_to_links.eq(r.to_links),
            self.out_data.eq(self.write_word),
            self.write.request.eq(taken_valid & w.to_register),
            self.write.number.eq(register_number(codes, self.next_annotation.destination)),
            self.write.blind.eq(w.blind),
            self.write.data.eq(self.write_word),
            self.memadr.eq(taken_valid & w.to_memadr),
            sent.eq(r_goes & (w_claim & self.out_accept).any() & ~self.out_lost),
        ]
        look_r = {n: later(f"r_{n}", look[n]) for n in look if n.startswith("target")}
        counts = ~(look_r["target_same1"] & taken_valid) & ~(look_r["target_from0"] & r.from_buffer & leaves)
        r_found = look_now(full_bits.full_2, look_r["target_from1"], look_r["target_into2"], look_r["target_same2"])
        w_room = later(
            "w_room",
            (r.to_buffer & (r.blind | ~(look_r["target_into1"] & fill))) & ~((~r.blind & counts) & r_found),
        )
        w_room_unless_kept = later("w_room_unless_kept", ~r.blind & look_r["target_same1"] & taken_valid)
        m.d.comb += [
            fill.eq(taken_valid & w_room & ~(w_room_unless_kept & kept)),
            stays.eq(taken_valid & w.refusable & ~(sent | self.write.ok | fill)),
        ]

        # -- Read stage: the word it gets ----------------------------------------------------------------------
        sources = [(r_links[d], getattr(self, f"in_data_{d}")) for d in range(shape.neighbours)]
        sources += [(r_loads, load.data), (r_register, self.read.data)]
        word: Value | None = None
        for chosen_, value in sources:
            part = value & chosen_.replicate(shape.width)
            word = part if word is None else word | part
        m.d.comb += taken.eq(
            retry
            | take_buffer
            | self.read.taken
            | (r_leg & sent)  # `sent` says that this leg is open
            | ((self.in_accept & self.in_valid).any() & ~self.in_lost)
            | (open_ & r.from_null)
        )
        m.d.sync += [taken_valid.eq(taken), w_buffered.eq(retry)]
        with m.If(busy | ~r.leg):  # a second leg takes the word that is there
            m.d.sync += self.write_word.eq(word)

        # -- Buffers -------------------------------------------------------------------------------------------
        m.d.comb += [
            # Kept in advance, before it is known whether the word stays; whether the buffer is full tells.
            store.en.eq(taken_valid & (~w_buffered | fill)),
            store.addr.eq(Mux(fill, w.target, w.vfsm)),
            store.data.eq(self.write_word),
        ]
        m.d.comb += [
            full_bits.index_0.eq(self.vfsm),
            full_bits.index_1.eq(source),
            full_bits.index_2.eq(x.target),
            # Trying a word again takes it out of its buffer; if it has to stay, it goes back. A word that is put over one that is
            # tried again leaves with it; one that is put over a word that another VFSM takes, stays.
            full_bits.fill.eq(fill & ~(retry & r_into1)),
            full_bits.keep.eq(stays),
            full_bits.put.eq(store.addr),
            full_bits.clear.eq(retry | (leaves & ~(fill & r_source_into1))),
            full_bits.got.eq(r_load),
        ]
        self._show_held(m, w, r, stays, fill, leaves)
        return m

    def _show_held(self, m: Module, w: data.View, r: data.View, stays: Signal, fill: Signal, leaves: Signal) -> None:
        """The full bits in a register, for those who look into a simulation."""
        own, left, target = Signal.like(self.held), Signal.like(self.held), Signal.like(self.held)
        m.d.comb += [
            own.eq(self.write_valid << w.vfsm),
            left.eq(leaves << r.source),
            target.eq(fill << w.target),
        ]
        m.d.sync += self.held.eq(Mux(stays, own, 0) | (~own & ~left & self.held) | target)

    def _show(self, m: Module) -> None:
        """Registers that tell what is in the stages; synthesis drops those that nobody reads."""
        m.d.sync += [
            self.next_active.eq(self.active),
            self.next_vfsm.eq(self.vfsm),
            self.next_annotation.eq(self.annotation),
            self.read_active.eq(self.next_active),
            self.read_vfsm.eq(self.next_vfsm),
            self.read_annotation.eq(self.next_annotation),
            self.write_vfsm.eq(self.read_vfsm),
            self.write_type.eq(self.read_annotation.type),
            self.write_destination.eq(self.read_annotation.destination),
            self.write_forked.eq(self.read_annotation.forked),
        ]
