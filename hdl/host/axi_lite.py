"""Bridge from AXI4-Lite to the processor ports of nodes."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .core import HostCore, port_members, side_members
from .shape import HostShape

OKAY, SLVERR = 0, 2
"""Answers of AXI (AMBA AXI and ACE Protocol Specification, A3.4.4)."""


def bus_members(shape: HostShape) -> dict[str, wiring.Member]:
    """Members of the bus, as a subordinate has them, with flat names."""
    address, width = shape.address_bits, shape.width
    return {
        "s_axil_awaddr": In(address),
        "s_axil_awprot": In(3),
        "s_axil_awvalid": In(1),
        "s_axil_awready": Out(1),
        "s_axil_wdata": In(width),
        "s_axil_wstrb": In(width // 8),
        "s_axil_wvalid": In(1),
        "s_axil_wready": Out(1),
        "s_axil_bresp": Out(2),
        "s_axil_bvalid": Out(1),
        "s_axil_bready": In(1),
        "s_axil_araddr": In(address),
        "s_axil_arprot": In(3),
        "s_axil_arvalid": In(1),
        "s_axil_arready": Out(1),
        "s_axil_rdata": Out(width),
        "s_axil_rresp": Out(2),
        "s_axil_rvalid": Out(1),
        "s_axil_rready": In(1),
    }


class AxiLiteBridge(wiring.Component):
    """AXI4-Lite subordinate in front of the processor ports of several nodes. One write and one read are under way at a time.

    A write of less than a whole word, an address between words and an address that holds nothing end with SLVERR.

    Latency: a write is answered two cycles after address and data have been taken, a read of a register three, of another word
    two.

    Parameters
    ----------
    shape : HostShape
        Sizes of the bridge.

    Ports
    -----
    s_axil_<name> : see bus_members
        The bus.
    p_<name>_<i>, irq, done : as in ``core.HostCore``

    Attributes
    ----------
    addressed, filled : Signal
        Address and data of a write have been taken.
    writing, answered : Signal
        Both have, and the write is being made; its answer waits.
    reading, given : Signal
        The same of a read.
    """

    def __init__(self, *, shape: HostShape) -> None:
        self.shape = shape
        super().__init__(bus_members(shape) | port_members(shape) | side_members())
        self.addressed, self.filled = Signal(name="addressed"), Signal(name="filled")
        self.writing, self.answered = Signal(name="writing"), Signal(name="answered")
        self.reading, self.given = Signal(name="reading"), Signal(name="given")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.core = core = HostCore(shape=shape)
        for name in port_members(shape):
            inner, outer = getattr(core, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if name.startswith(("p_full", "p_read_data")) else outer.eq(inner)
        m.d.comb += [self.irq.eq(core.irq), self.done.eq(core.done)]
        low = (shape.bytes - 1).bit_length()

        # Writes: address and data are taken as they come, then the write is offered until it ends, then answered. Whether they
        # are taken is for registers alone to say: no way may lead from inputs of the bus to its outputs (A3.1.1).
        unaligned, short = Signal(), Signal()
        address, data, failed = Signal.like(self.s_axil_awaddr), Signal(shape.width), Signal()
        partial = unaligned | short
        m.d.comb += [
            self.writing.eq(self.addressed & self.filled),
            self.s_axil_awready.eq(~self.addressed & ~self.answered),
            self.s_axil_wready.eq(~self.filled & ~self.answered),
            core.write.eq(self.writing & ~partial),
            core.write_address.eq(address[low:]),
            core.write_data.eq(data),
            self.s_axil_bvalid.eq(self.answered),
            self.s_axil_bresp.eq(failed << 1),
        ]
        with m.If(self.s_axil_awvalid & self.s_axil_awready):
            m.d.sync += [
                self.addressed.eq(1),
                address.eq(self.s_axil_awaddr),
                unaligned.eq(self.s_axil_awaddr[:low].any()),
            ]
        with m.If(self.s_axil_wvalid & self.s_axil_wready):
            m.d.sync += [self.filled.eq(1), data.eq(self.s_axil_wdata), short.eq(~self.s_axil_wstrb.all())]
        with m.If(self.writing & (core.write_ended | partial)):
            m.d.sync += [
                self.addressed.eq(0),
                self.filled.eq(0),
                self.answered.eq(1),
                failed.eq(core.write_failed | partial),
            ]
        with m.If(self.answered & self.s_axil_bready):
            m.d.sync += self.answered.eq(0)

        # Reads likewise.
        astray = Signal()
        place, word, lost = Signal.like(self.s_axil_araddr), Signal(shape.width), Signal()
        m.d.comb += [
            self.s_axil_arready.eq(~self.reading & ~self.given),
            core.read.eq(self.reading & ~astray),
            core.read_address.eq(place[low:]),
            self.s_axil_rvalid.eq(self.given),
            self.s_axil_rdata.eq(word),
            self.s_axil_rresp.eq(lost << 1),
        ]
        with m.If(self.s_axil_arvalid & self.s_axil_arready):
            m.d.sync += [
                self.reading.eq(1),
                place.eq(self.s_axil_araddr),
                astray.eq(self.s_axil_araddr[:low].any()),
            ]
        with m.If(self.reading & (core.read_ended | astray)):
            m.d.sync += [
                self.reading.eq(0),
                self.given.eq(1),
                word.eq(core.read_data),
                lost.eq(core.read_failed | astray),
            ]
        with m.If(self.given & self.s_axil_rready):
            m.d.sync += self.given.eq(0)
        return m
