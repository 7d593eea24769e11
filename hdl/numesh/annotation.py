"""Third and fourth stage: what the scheduled VFSM is to do."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .shape import NodeShape


class AnnotationStage(wiring.Component):
    """The annotation memory of one pipeline (Metcalf 1997, §7.1.1, "instruction stage").

    Contents are not changed by reset.

    The memory is read a cycle after the VFSM is known, so that no path leads from memory to memory.

    Latency: two cycles from ``vfsm`` to ``annotation``.

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
        ``running`` of two cycles before: the decode stage has a VFSM.
    decode_vfsm : Signal(range(vfsms)), out
        ``vfsm`` of two cycles before, to which ``annotation`` belongs. It is in the read stage three cycles later.
    annotation : Codes.annotation_layout, out
        Move type, source and destination of ``decode_vfsm``.
    w_enable : Signal(1), in
        Strobe: write ``w_annotation``. ``vfsm`` of the cycle before still gets the old annotation.
    w_vfsm : Signal(range(vfsms)), in
        Valid with ``w_enable``.
    w_annotation : Codes.annotation_layout, in
        Valid with ``w_enable``.

    Attributes
    ----------
    look_running, look_vfsm : Signal
        ``running`` and ``vfsm`` of the cycle before: the memory is read.
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
        self.look_running = Signal()
        self.look_vfsm = Signal(codes.vfsm_bits)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = self.ram
        write = self.ram.write_port()
        read = self.ram.read_port()
        m.d.comb += [
            write.en.eq(self.w_enable),
            write.addr.eq(self.w_vfsm),
            write.data.eq(self.w_annotation),
            read.addr.eq(self.look_vfsm),
            self.annotation.eq(read.data),
        ]
        m.d.sync += [
            self.look_running.eq(self.running),
            self.look_vfsm.eq(self.vfsm),
            self.active.eq(self.look_running),
            self.decode_vfsm.eq(self.look_vfsm),
        ]
        return m
