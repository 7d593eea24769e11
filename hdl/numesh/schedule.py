"""First stages: which VFSM each pipeline runs in this slot, and where the schedule goes on."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import Codes
from .shape import NodeShape


class ScheduleStage(wiring.Component):
    """The schedule memory, a linked list of slots, and the pointer into it (Metcalf 1997, §7.1.1 and §7.1.2).

    The memory has a register on its way out, as block RAMs have it, so an entry holds the address two slots on
    (``codes.LOOKAHEAD``) and there are two lists that take turns. The pointer has no register of its own: the address comes
    from the entry that is out, unless a command set it or added a delta to it; a command acts on two successive addresses,
    one of each list. Contents are not changed by reset.

    Latency: two cycles from an address to its entry; the first two addresses after reset are 0 and 1. A pointer command
    changes the addresses of the next two cycles, an entry that is written can be read in the same cycle.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    contents : sequence of int
        What the memory holds at power-up, packed by ``Codes.entry_layout``.

    Ports
    -----
    running : Signal(1), out
        ``entry`` holds a slot. Low in the first two cycles after reset, high ever after.
    entry : Codes.entry_layout, out
        VFSM of each pipeline in this slot, and the address two slots on.
    set_pointer : Signal(1), in
        Strobe: ``pointer`` is the next address, and ``second`` the one after.
    add_pointer : Signal(1), in
        Strobe: ``pointer`` is added, modulo the schedule depth, to the next two addresses. A command that follows
        immediately takes the second of them away: leave a cycle between two commands. Not in the first cycle after reset.
    pointer : Signal(range(schedule_depth)), in
        Valid with either strobe.
    second : Signal(range(schedule_depth)), in
        Valid with ``set_pointer``.
    w_enable : Signal(1), in
        Strobe: write ``w_entry``. A read of the same address in this cycle gives the new entry.
    w_address : Signal(range(schedule_depth)), in
        Valid with ``w_enable``.
    w_entry : Codes.entry_layout, in
        Valid with ``w_enable``.

    Attributes
    ----------
    ram : Memory
        Entries.
    fetched : Signal(1)
        The memory has been read; ``running`` follows.
    setting : Signal(1)
        The address of this cycle is ``value``, not that of the entry plus ``value``.
    value : Signal(range(schedule_depth))
        0 without a command.
    written, fresh : Signal
        The address of two cycles ago was written in that cycle; what was written.
    going_on, base : Signal
        The address of this cycle is what the memory's entry says plus ``value``; otherwise it is ``base`` plus ``value``, where
        ``base`` is 0 if a command sets the address, or what was written into the entry. One choice before the adder, and one
        that fits into the carry cells of an ECP5 (`pointsman.fpga.carry`).
    halfway, rest : Signal
        The command goes on in the next cycle, with this value.
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
                "second": In(codes.pointer_bits),
                "w_enable": In(1),
                "w_address": In(codes.pointer_bits),
                "w_entry": In(entry),
            }
        )
        bits = sum(codes.entry_layout.values())
        # Block RAMs leave open what a read gives in the cycle of a write; here it is replaced by what was written.
        self.ram = Memory(shape=bits, depth=shape.schedule_depth, init=contents, attrs={"no_rw_check": True})
        self.written = Signal(reset_less=True)
        self.fresh = Signal(bits, reset_less=True)
        self.going_on = Signal()
        self.base = Signal(codes.pointer_bits)
        self.fetched = Signal()
        # Reset is a command to go to 0, then to 1.
        self.setting = Signal(init=1)
        self.value = Signal(codes.pointer_bits)
        self.halfway = Signal(init=1)
        self.rest = Signal(codes.pointer_bits, init=1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = self.ram
        write = self.ram.write_port()
        read = self.ram.read_port()
        layout = data.StructLayout(self.codes.entry_layout)
        output = Signal(layout, reset_less=True)
        m.d.sync += output.eq(read.data)
        wrote = Signal(reset_less=True)
        w_address = Signal.like(self.w_address, reset_less=True)
        r_address = Signal.like(read.addr, name="r_address", reset_less=True)
        w_entry = Signal(layout, reset_less=True)
        setting = Signal()  # in the next cycle
        written = Signal()
        m.d.comb += [
            setting.eq(Mux(self.set_pointer | self.add_pointer, self.set_pointer, self.setting & self.halfway)),
            written.eq(wrote & (w_address == r_address)),
        ]
        m.d.sync += [
            wrote.eq(self.w_enable),
            w_address.eq(self.w_address),
            r_address.eq(read.addr),
            w_entry.eq(self.w_entry),
            self.written.eq(written),
            self.fresh.eq(w_entry),
            self.setting.eq(setting),
            self.going_on.eq(~written & ~setting),
            self.base.eq(Mux(setting, 0, w_entry.ahead)),
        ]
        m.d.comb += [
            write.en.eq(self.w_enable),
            write.addr.eq(self.w_address),
            write.data.eq(self.w_entry),
            self.entry.eq(Mux(self.written, self.fresh, output)),
            read.addr.eq(Mux(self.going_on, output.ahead, self.base) + self.value),
        ]
        m.d.sync += [self.fetched.eq(1), self.running.eq(self.fetched)]
        with m.If(self.set_pointer | self.add_pointer):
            m.d.sync += [
                self.value.eq(self.pointer),
                self.halfway.eq(1),
                self.rest.eq(Mux(self.set_pointer, self.second, self.pointer)),
            ]
        with m.Else():
            m.d.sync += [self.value.eq(Mux(self.halfway, self.rest, 0)), self.halfway.eq(0)]
        return m
