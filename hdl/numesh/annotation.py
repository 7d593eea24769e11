"""Third stage: what the scheduled VFSM is to do."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .shape import NodeShape


class AnnotationStage(wiring.Component):
    """The annotation memory of one pipeline (Metcalf 1997, §7.1.1, "instruction stage").

    Contents are not changed by reset.

    Latency: one cycle from ``vfsm`` to ``annotation``.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    contents : sequence of int
        What the memory holds at power-up, packed by ``Codes.annotation_layout``.

    Ports
    -----
    running : Signal(1), in
        ``vfsm`` comes from a schedule entry.
    vfsm : Signal(range(vfsms)), in
        VFSM that the schedule chose for this pipeline.
    active : Signal(1), out
        ``running`` of the cycle before: the decode stage has a VFSM.
    decode_vfsm : Signal(range(vfsms)), out
        ``vfsm`` of the cycle before, to which ``annotation`` belongs. It is in the read stage two cycles later.
    annotation : Codes.annotation_layout, out
        Move type, source and destination of ``decode_vfsm``.
    w_enable : Signal(1), in
        Strobe: write ``w_annotation``. A read of the same VFSM in this cycle gives the old annotation.
    w_vfsm : Signal(range(vfsms)), in
        Valid with ``w_enable``.
    w_annotation : Codes.annotation_layout, in
        Valid with ``w_enable``.

    Attributes
    ----------
    ram : Memory
        Annotations by VFSM.
    """

    def __init__(self, *, shape: NodeShape, contents: Sequence[int]) -> None:
        self.shape = shape
        self.contents = contents
        self.codes = codes = Codes(shape)
        annotation = data.StructLayout(codes.annotation_layout)
        super().__init__(
            {
                "running": In(1),
                "vfsm": In(codes.vfsm_bits),
                "active": Out(1),
                "decode_vfsm": Out(codes.vfsm_bits),
                "annotation": Out(annotation),
                "w_enable": In(1),
                "w_vfsm": In(codes.vfsm_bits),
                "w_annotation": In(annotation),
            }
        )
        bits = sum(codes.annotation_layout.values())
        self.ram = Memory(shape=bits, depth=shape.vfsms, init=contents)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = self.ram
        write = self.ram.write_port()
        read = self.ram.read_port()
        m.d.comb += [
            write.en.eq(self.w_enable),
            write.addr.eq(self.w_vfsm),
            write.data.eq(self.w_annotation),
            read.addr.eq(self.vfsm),
            self.annotation.eq(read.data),
        ]
        m.d.sync += [self.active.eq(self.running), self.decode_vfsm.eq(self.vfsm)]
        return m
