"""Fifth stage: an annotation taken apart, so that the stages after it look at single bits."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .codes import Codes, MoveType
from .places import buffer_number, is_buffer, is_neighbour, is_register
from .shape import NodeShape


def decoded_layout(shape: NodeShape) -> data.StructLayout:
    """What a VFSM is to do, bit by bit.

    Members
    -------
    vfsm, source, target : unsigned
        Number of the VFSM, and of those whose buffers are its source and its destination; its own number if they are no buffers.
    links, to_links : unsigned(neighbours)
        Bit d: takes a word from link d (not as second leg of a fork); destination is link d.
    from_link, to_link : 1
        One of these.
    leg : 1
        Second leg of a fork.
    from_register, from_buffer, from_null : 1
        Kind of the source. The own buffer is none: a VFSM finds its word by itself.
    to_register, to_buffer, to_memadr : 1
        Kind of the destination. The own buffer is none: a word that goes there has but to stay.
    copy, blind, forked : 1
        Type of the move, and the mark of a first leg. A move to the own buffer is not blind.
    refusable : 1
        A word may have to stay: the move is not blind, and not to MEMADR or NULL.
    """
    codes = Codes(shape)
    return data.StructLayout(
        {
            **dict.fromkeys(("vfsm", "source", "target"), codes.vfsm_bits),
            **dict.fromkeys(("links", "to_links"), shape.neighbours),
            **dict.fromkeys(("from_link", "to_link", "leg", "from_register", "from_buffer", "from_null"), 1),
            **dict.fromkeys(("to_register", "to_buffer", "to_memadr"), 1),
            **dict.fromkeys(("copy", "blind", "forked", "refusable"), 1),
        }
    )


class DecodeStage(wiring.Component):
    """Takes annotations apart.

    Latency: one cycle.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.

    Ports
    -----
    vfsm : Signal(range(vfsms)), in
        VFSM in this stage.
    annotation : Codes.annotation_layout, in
        What it is to do.
    source, target : Signal(range(vfsms)), out
        VFSMs whose buffers it takes words from and puts words into; ``vfsm`` if there are none.
    decoded : decoded_layout(shape), out
        All of it, of the cycle before.
    """

    def __init__(self, *, shape: NodeShape) -> None:
        self.shape = shape
        self.codes = codes = Codes(shape)
        super().__init__(
            {
                "vfsm": In(codes.vfsm_bits),
                "annotation": In(data.StructLayout(codes.annotation_layout)),
                "source": Out(codes.vfsm_bits),
                "target": Out(codes.vfsm_bits),
                "decoded": Out(decoded_layout(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        codes = self.codes
        # Into the register as one word: a simulation of the Verilog has one reset to look at, not one for each field.
        out = Signal(decoded_layout(self.shape), name="coming")
        m.d.sync += self.decoded.eq(out)
        kind, source, destination = self.annotation.type, self.annotation.source, self.annotation.destination
        from_buffer, to_buffer, own, blind = (Signal(name=n) for n in ("from_buffer", "to_buffer", "own", "blind"))
        m.d.comb += [
            from_buffer.eq(is_buffer(codes, source)),
            to_buffer.eq(is_buffer(codes, destination)),
            own.eq(to_buffer & (buffer_number(codes, destination) == self.vfsm)),
            blind.eq((kind == MoveType.BLIND) & ~own),
            self.source.eq(Mux(from_buffer, buffer_number(codes, source), self.vfsm)),
            self.target.eq(Mux(to_buffer, buffer_number(codes, destination), self.vfsm)),
        ]
        sure = (destination == codes.memadr) | (destination == codes.null)
        for d in range(self.shape.neighbours):
            m.d.comb += [
                out.links[d].eq((source == codes.neighbour(d)) & (kind != MoveType.FORK)),
                out.to_links[d].eq(destination == codes.neighbour(d)),
            ]
        m.d.comb += [
            out.vfsm.eq(self.vfsm),
            out.source.eq(self.source),
            out.target.eq(self.target),
            out.from_link.eq(is_neighbour(codes, source) & (kind != MoveType.FORK)),
            out.to_link.eq(is_neighbour(codes, destination)),
            out.leg.eq(is_neighbour(codes, source) & (kind == MoveType.FORK)),
            out.from_register.eq(is_register(codes, source)),
            out.from_buffer.eq(from_buffer & (buffer_number(codes, source) != self.vfsm)),
            out.from_null.eq(source == codes.null),
            out.to_register.eq(is_register(codes, destination)),
            out.to_buffer.eq(to_buffer & ~own),
            out.to_memadr.eq(destination == codes.memadr),
            out.copy.eq(kind == MoveType.COPY),
            out.blind.eq(blind),
            out.forked.eq(self.annotation.forked),
            out.refusable.eq(~blind & ~sure),
        ]
        return m
