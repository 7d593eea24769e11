"""Fourth stage: an annotation taken apart, so that the stages after it look at single bits."""

from __future__ import annotations

from amaranth.hdl import Module
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
        Number of the VFSM, and of those whose buffers are its source and its destination.
    links, to_links : unsigned(neighbours)
        Bit d: takes a word from link d (not as second leg of a fork); destination is link d.
    leg : 1
        Second leg of a fork.
    from_register, from_buffer, from_null : 1
        Kind of the source.
    to_register, to_buffer, to_memadr, to_null : 1
        Kind of the destination.
    copy, blind, forked : 1
        Type of the move, and the mark of a first leg.
    refusable : 1
        A word may have to stay: the move is not blind, and not to MEMADR or NULL.
    """
    codes = Codes(shape)
    return data.StructLayout(
        {
            **dict.fromkeys(("vfsm", "source", "target"), codes.vfsm_bits),
            **dict.fromkeys(("links", "to_links"), shape.neighbours),
            **dict.fromkeys(("leg", "from_register", "from_buffer", "from_null"), 1),
            **dict.fromkeys(("to_register", "to_buffer", "to_memadr", "to_null"), 1),
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
    decoded : decoded_layout(shape), out
        The same, of the cycle before.
    """

    def __init__(self, *, shape: NodeShape) -> None:
        self.shape = shape
        self.codes = codes = Codes(shape)
        super().__init__(
            {
                "vfsm": In(codes.vfsm_bits),
                "annotation": In(data.StructLayout(codes.annotation_layout)),
                "decoded": Out(decoded_layout(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        codes, out = self.codes, self.decoded
        kind, source, destination = self.annotation.type, self.annotation.source, self.annotation.destination
        m.d.sync += [
            out.vfsm.eq(self.vfsm),
            out.source.eq(buffer_number(codes, source)),
            out.target.eq(buffer_number(codes, destination)),
        ]
        blind = kind == MoveType.BLIND
        sure = (destination == codes.memadr) | (destination == codes.null)
        for d in range(self.shape.neighbours):
            m.d.sync += [
                out.links[d].eq((source == codes.neighbour(d)) & (kind != MoveType.FORK)),
                out.to_links[d].eq(destination == codes.neighbour(d)),
            ]
        m.d.sync += [
            out.leg.eq(is_neighbour(codes, source) & (kind == MoveType.FORK)),
            out.from_register.eq(is_register(codes, source)),
            out.from_buffer.eq(is_buffer(codes, source)),
            out.from_null.eq(source == codes.null),
            out.to_register.eq(is_register(codes, destination)),
            out.to_buffer.eq(is_buffer(codes, destination)),
            out.to_memadr.eq(destination == codes.memadr),
            out.to_null.eq(destination == codes.null),
            out.copy.eq(kind == MoveType.COPY),
            out.blind.eq(blind),
            out.forked.eq(self.annotation.forked),
            out.refusable.eq(~blind & ~sure),
        ]
        return m
