"""Reprogramming: words written to MEMADR become commands to the memories of the node."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .codes import Codes, CommandKind
from .shape import NodeShape


class CommandAssembler(wiring.Component):
    """Collects the words that one pipeline writes to MEMADR and decodes the command (Metcalf 1997, §7.1.1).

    A command takes ``Codes.command_words`` words, lowest first. Schedule and pointer belong to pipeline 0; the
    same commands from another pipeline, and kinds that do not exist, do nothing.

    Latency: one cycle from the last word of a command to the strobes.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    pipeline : int
        Pipeline that carries the commands.

    Ports
    -----
    valid : Signal(1), in
        ``word`` is written to MEMADR in this cycle.
    word : Signal(width), in
        Valid with ``valid``.
    w_annotation : Signal(1), out
        Strobe: write ``annotation`` of VFSM ``vfsm``.
    vfsm : Signal(range(vfsms)), out
        Valid with ``w_annotation``.
    annotation : Codes.annotation_layout, out
        Valid with ``w_annotation``.
    w_schedule : Signal(1), out
        Strobe: write ``entry`` to ``address``. Like the ports below only in pipeline 0.
    address : Signal(range(schedule_depth)), out
        Valid with ``w_schedule``.
    entry : Codes.entry_layout, out
        Valid with ``w_schedule``.
    set_pointer : Signal(1), out
        Strobe: go on at address ``pointer``, and in the slot after at ``second``.
    add_pointer : Signal(1), out
        Strobe: add ``pointer`` to all addresses from the next on.
    pointer : Signal(range(schedule_depth)), out
        Valid with either strobe.
    second : Signal(range(schedule_depth)), out
        Valid with ``set_pointer``.

    Attributes
    ----------
    count : Signal(range(command_words))
        Words collected so far.
    collected : Signal
        These words, the last one highest; the lower places hold what was there before.
    complete : Signal(1)
        The cycle before had the last word of a command, which is in ``collected``.
    """

    def __init__(self, *, shape: NodeShape, pipeline: int) -> None:
        if not 0 <= pipeline < shape.pipelines:
            raise ValueError(f"pipeline must be 0 to {shape.pipelines - 1}, not {pipeline}")
        self.shape = shape
        self.pipeline = pipeline
        self.codes = codes = Codes(shape)
        ports = {
            "valid": In(1),
            "word": In(shape.width),
            "w_annotation": Out(1),
            "vfsm": Out(codes.vfsm_bits),
            "annotation": Out(data.StructLayout(codes.annotation_layout)),
        }
        if pipeline == 0:
            ports |= {
                "w_schedule": Out(1),
                "address": Out(codes.pointer_bits),
                "entry": Out(data.StructLayout(codes.entry_layout)),
                "set_pointer": Out(1),
                "add_pointer": Out(1),
                "pointer": Out(codes.pointer_bits),
                "second": Out(codes.pointer_bits),
            }
        super().__init__(ports)
        words = codes.command_words
        self.count = Signal(range(words))
        self.collected = Signal(words * shape.width, reset_less=True)
        self.complete = Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        codes = self.codes
        words = codes.command_words
        last = Signal()
        command = self.collected
        m.d.sync += self.complete.eq(self.valid & last)
        if words == 1:
            m.d.comb += last.eq(1)
            m.d.sync += command.eq(self.word)
        else:
            m.d.comb += last.eq(self.count == words - 1)
            with m.If(self.valid):
                m.d.sync += self.count.eq(self.count + 1)
                with m.If(last):
                    m.d.sync += self.count.eq(0)
                # The lowest word moves down to the lowest place while the others follow.
                m.d.sync += command.eq(Cat(command, self.word) >> self.shape.width)

        def field(kind: CommandKind, name: str) -> Value:
            return data.View(_layout(codes, kind), command[: _layout(codes, kind).size])[name]

        kind = Signal(CommandKind)
        execute = self.complete
        m.d.comb += kind.eq(field(CommandKind.ANNOTATION, "kind"))
        m.d.comb += [
            self.w_annotation.eq(execute & (kind == CommandKind.ANNOTATION)),
            self.vfsm.eq(field(CommandKind.ANNOTATION, "vfsm")),
        ]
        for name in codes.annotation_layout:
            m.d.comb += self.annotation[name].eq(field(CommandKind.ANNOTATION, name))
        if self.pipeline == 0:
            m.d.comb += [
                self.w_schedule.eq(execute & (kind == CommandKind.SCHEDULE)),
                self.address.eq(field(CommandKind.SCHEDULE, "address")),
                self.set_pointer.eq(execute & (kind == CommandKind.SET_POINTER)),
                self.add_pointer.eq(execute & (kind == CommandKind.ADD_POINTER)),
                self.pointer.eq(field(CommandKind.SET_POINTER, "value")),
                self.second.eq(field(CommandKind.SET_POINTER, "second")),
            ]
            for name in codes.entry_layout:
                m.d.comb += self.entry[name].eq(field(CommandKind.SCHEDULE, name))
        return m


def _layout(codes: Codes, kind: CommandKind) -> data.StructLayout:
    return data.StructLayout(codes.command_layouts[kind])
