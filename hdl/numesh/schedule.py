"""First stage: which VFSM each pipeline runs in this slot, and where the schedule goes on."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .shape import NodeShape


class ScheduleStage(wiring.Component):
    """The schedule memory, a linked list of slots, and the pointer into it (Metcalf 1997, §7.1.1 and §7.1.2).

    The pointer has no register of its own: the address comes from the entry read in the cycle before, unless a
    command set it or added a delta to it. Contents are not changed by reset.

    Latency: one cycle from an address to its entry; the first address after reset is 0. A pointer command changes
    the address of the next cycle, an entry that is written can be read in the next cycle.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    contents : sequence of int
        What the memory holds at power-up, packed by ``Codes.entry_layout``.

    Ports
    -----
    running : Signal(1), out
        ``entry`` holds a slot. Low in the first cycle after reset, high ever after.
    entry : Codes.entry_layout, out
        VFSM of each pipeline in this slot, and the next address.
    set_pointer : Signal(1), in
        Strobe: ``pointer`` is the next address.
    add_pointer : Signal(1), in
        Strobe: ``pointer`` is added, modulo the schedule depth, to the next address.
    pointer : Signal(range(schedule_depth)), in
        Valid with either strobe.
    w_enable : Signal(1), in
        Strobe: write ``w_entry``. A read of the same address in this cycle gives the old entry.
    w_address : Signal(range(schedule_depth)), in
        Valid with ``w_enable``.
    w_entry : Codes.entry_layout, in
        Valid with ``w_enable``.

    Attributes
    ----------
    ram : Memory
        Entries.
    setting, adding, value : Signal
        Pointer command that acts in this cycle.
    """

    def __init__(self, *, shape: NodeShape, contents: Sequence[int]) -> None:
        self.shape = shape
        self.contents = contents
        self.codes = codes = Codes(shape)
        entry = data.StructLayout(codes.entry_layout)
        super().__init__(
            {
                "running": Out(1),
                "entry": Out(entry),
                "set_pointer": In(1),
                "add_pointer": In(1),
                "pointer": In(codes.pointer_bits),
                "w_enable": In(1),
                "w_address": In(codes.pointer_bits),
                "w_entry": In(entry),
            }
        )
        bits = sum(codes.entry_layout.values())
        self.ram = Memory(shape=bits, depth=shape.schedule_depth, init=contents)
        self.setting = Signal()
        self.adding = Signal()
        self.value = Signal(codes.pointer_bits, reset_less=True)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = self.ram
        write = self.ram.write_port()
        read = self.ram.read_port()
        m.d.comb += [
            write.en.eq(self.w_enable),
            write.addr.eq(self.w_address),
            write.data.eq(self.w_entry),
            self.entry.eq(read.data),
        ]

        m.d.sync += [
            self.running.eq(1),
            self.setting.eq(self.set_pointer),
            self.adding.eq(self.add_pointer),
            self.value.eq(self.pointer),
        ]
        with m.If(~self.running):
            m.d.comb += read.addr.eq(0)
        with m.Elif(self.setting):
            m.d.comb += read.addr.eq(self.value)
        with m.Elif(self.adding):
            m.d.comb += read.addr.eq(self.entry.next + self.value)
        with m.Else():
            m.d.comb += read.addr.eq(self.entry.next)
        return m
