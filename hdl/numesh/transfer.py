"""Last stages of one pipeline: a VFSM is made ready, reads a word, and writes it one cycle later."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes, MoveType
from .interface import read_signature, write_signature
from .places import buffer_number, is_buffer, is_neighbour, is_register, register_number
from .shape import NodeShape


class TransferStages(wiring.Component):
    """Read stage, write stage and VFSM buffers of one pipeline (Metcalf 1997, §7.1.1 and Figure 7-2).

    A word that its destination refuses goes to the buffer of its VFSM. While the buffer is full the VFSM refuses
    its source and tries the buffered word again each time it is scheduled. What the stages ask of links and
    interface registers depends on registers alone; answers end in flops. So no combinational path leads from
    the ``in`` ports of the links to their ``out`` ports.

    Latency: one cycle from ``vfsm`` to its read stage, one from taking a word to offering it.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.

    Ports
    -----
    active : Signal(1), in
        The read stage has a VFSM in the next cycle.
    vfsm : Signal(range(vfsms)), in
        VFSM in the read stage of the next cycle.
    annotation : Codes.annotation_layout, in
        What this VFSM is to do.
    in_accept : Signal(neighbours), out
        Bit d: the read stage takes a word from link d, if there is one.
    in_valid : Signal(neighbours), in
        Bit d: link d has a word, and no pipeline with precedence accepts it.
    in_data_<d> : Signal(width), in
        Word on link d.
    out_claim : Signal(neighbours), out
        Bit d: the write stage has a word for link d.
    out_valid : Signal(1), out
        The claimed link may take ``out_data``. Low while a fork's second leg cannot.
    out_data : Signal(width), out
        Word in the write stage. Also the command, with ``memadr``.
    out_accept : Signal(neighbours), in
        Bit d: the reader of link d accepts, and no pipeline with precedence claims the link.
    read : interface.read_signature(shape), out
        Read of an interface register.
    write : interface.write_signature(shape), out
        Write of an interface register.
    memadr : Signal(1), out
        ``out_data`` is written to MEMADR.

    Attributes
    ----------
    read_active, read_vfsm, read_annotation : Signal
        The read stage has a VFSM; which, and what it is to do.
    held : Signal(vfsms)
        Bit v: the buffer of VFSM v holds a word.
    buffers : Memory
        These words, by VFSM.
    write_valid : Signal(1)
        The write stage has a word. The signals below belong to it.
    write_word, write_vfsm, write_type, write_destination, write_forked : Signal
        The word, the VFSM that moves it, and how, and where to, and whether a second leg follows.
    write_from_buffer : Signal(1)
        The word comes from the VFSM's own buffer, which keeps it until the write succeeds.
    """

    def __init__(self, *, shape: NodeShape) -> None:
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
        self.read_active = Signal()
        self.read_vfsm = Signal(codes.vfsm_bits, reset_less=True)
        self.read_annotation = Signal(data.StructLayout(codes.annotation_layout), reset_less=True)
        self.held = Signal(shape.vfsms)
        self.buffers = Memory(shape=shape.width, depth=shape.vfsms, init=[])
        self.write_valid = Signal()
        self.write_word = Signal(shape.width, reset_less=True)
        self.write_vfsm = Signal(codes.vfsm_bits, reset_less=True)
        self.write_type = Signal(2, reset_less=True)
        self.write_destination = Signal(codes.place_bits, reset_less=True)
        self.write_forked = Signal(reset_less=True)
        self.write_from_buffer = Signal(reset_less=True)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        codes, shape = self.codes, self.shape
        held = self.held
        m.submodules.buffers = self.buffers
        store = self.buffers.write_port()
        load = self.buffers.read_port(domain="comb")

        # What is in the write stage.
        to_register = Signal()
        to_buffer = Signal()
        to_memadr = Signal()
        to_null = Signal()
        blind = Signal()
        refusable = Signal()
        target = buffer_number(codes, self.write_destination)
        m.d.comb += [
            to_register.eq(self.write_valid & is_register(codes, self.write_destination)),
            to_buffer.eq(self.write_valid & is_buffer(codes, self.write_destination)),
            to_memadr.eq(self.write_valid & (self.write_destination == codes.memadr)),
            to_null.eq(self.write_valid & (self.write_destination == codes.null)),
            blind.eq(self.write_type == MoveType.BLIND),
            refusable.eq(~(to_memadr | to_null | blind)),
        ]

        # -- Read stage: what it wants, from registers alone --------------------------------------------------
        m.d.sync += [
            self.read_active.eq(self.active),
            self.read_vfsm.eq(self.vfsm),
            self.read_annotation.eq(self.annotation),
        ]
        active, vfsm, reading = self.read_active, self.read_vfsm, self.read_annotation
        kind, source, destination = reading.type, reading.source, reading.destination
        holds = Signal()
        own = Signal()
        incoming = Signal()
        retry = Signal()
        can_accept = Signal()
        from_neighbour = Signal()
        from_register = Signal()
        from_buffer = Signal()
        fork = Signal()
        copy = Signal()
        forked = Signal()
        m.d.comb += [
            holds.eq(held.bit_select(vfsm, 1)),
            # This VFSM is still in the write stage: its word may yet be refused, or is about to leave the buffer.
            own.eq(self.write_valid & (self.write_vfsm == vfsm) & (refusable | self.write_from_buffer)),
            incoming.eq(to_buffer & (target == vfsm)),
            retry.eq(active & holds & ~own),
            can_accept.eq(active & ~holds & ~own & ~incoming),
            from_neighbour.eq(is_neighbour(codes, source)),
            from_register.eq(is_register(codes, source)),
            from_buffer.eq(is_buffer(codes, source)),
            fork.eq((kind == MoveType.FORK) & from_neighbour),
            copy.eq(kind == MoveType.COPY),
            forked.eq(active & fork & self.write_valid & (self.write_destination == source)),
        ]
        for d in range(shape.neighbours):
            m.d.comb += self.in_accept[d].eq(can_accept & ~fork & (source == codes.neighbour(d)))
        m.d.comb += [
            # One interface access a cycle and pipeline: the write wins.
            self.read.request.eq(can_accept & from_register & ~to_register),
            self.read.number.eq(register_number(codes, source)),
            self.read.keep.eq(copy),
        ]
        source_vfsm = buffer_number(codes, source)
        leaving = self.write_valid & self.write_from_buffer & (self.write_vfsm == source_vfsm)
        take_buffer = Signal()
        m.d.comb += [
            load.addr.eq(Mux(retry, vfsm, source_vfsm)),
            take_buffer.eq(can_accept & from_buffer & held.bit_select(source_vfsm, 1) & ~leaving),
        ]

        # -- Write stage: offer the word ----------------------------------------------------------------------
        sent = Signal()
        fill = Signal()
        ok = Signal()
        m.d.comb += [
            # A word with two legs goes when both can have it; with its second leg not there, it stays.
            self.out_valid.eq(self.write_valid & Mux(forked, can_accept, ~self.write_forked)),
            self.out_data.eq(self.write_word),
            self.write.request.eq(to_register),
            self.write.number.eq(register_number(codes, self.write_destination)),
            self.write.blind.eq(blind),
            self.write.data.eq(self.write_word),
            self.memadr.eq(to_memadr),
        ]
        for d in range(shape.neighbours):
            m.d.comb += self.out_claim[d].eq(self.write_valid & (self.write_destination == codes.neighbour(d)))
        m.d.comb += [
            sent.eq(self.out_valid & (self.out_claim & self.out_accept).any()),
            fill.eq(to_buffer & (~held.bit_select(target, 1) | blind)),
            ok.eq(sent | self.write.ok | fill | to_memadr | to_null),
        ]

        # -- Read stage: the word it gets ---------------------------------------------------------------------
        taken = Signal()
        word = Signal(shape.width)
        with m.If(retry):
            m.d.comb += [taken.eq(1), word.eq(load.data)]
        with m.Elif(from_buffer):
            m.d.comb += [taken.eq(take_buffer), word.eq(load.data)]
        with m.Elif(from_register):
            m.d.comb += [taken.eq(self.read.taken), word.eq(self.read.data)]
        with m.Elif(fork):  # `sent` says that this leg can accept
            m.d.comb += [taken.eq(forked & sent), word.eq(self.write_word)]
        with m.Elif(from_neighbour):
            m.d.comb += taken.eq((self.in_accept & self.in_valid).any())
            with m.Switch(source):
                for d in range(shape.neighbours):
                    with m.Case(codes.neighbour(d)):
                        m.d.comb += word.eq(getattr(self, f"in_data_{d}"))
        with m.Elif(source == codes.null):
            m.d.comb += taken.eq(can_accept)
        m.d.sync += [
            self.write_valid.eq(taken),
            self.write_word.eq(word),
            self.write_vfsm.eq(vfsm),
            self.write_destination.eq(destination),
            self.write_type.eq(kind),
            self.write_forked.eq(reading.forked),
            self.write_from_buffer.eq(retry),
        ]

        # -- Buffers -----------------------------------------------------------------------------------------
        keep = Signal()
        drain = Signal()
        m.d.comb += [
            keep.eq(self.write_valid & ~ok & ~blind & ~self.write_from_buffer),
            drain.eq(self.write_valid & (ok | blind) & self.write_from_buffer),
            store.en.eq(keep | fill),
            store.addr.eq(Mux(fill, target, self.write_vfsm)),
            store.data.eq(self.write_word),
        ]
        cleared = self._bit(drain, self.write_vfsm) | self._bit(take_buffer & ~copy, source_vfsm)
        m.d.sync += held.eq((held & ~cleared) | self._bit(store.en, store.addr))
        return m

    def _bit(self, enable: Value, vfsm: Value) -> Value:
        """A bit per VFSM, set at ``vfsm``, if ``enable``."""
        return Mux(enable, Const(1, 1) << vfsm, 0)
