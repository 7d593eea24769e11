"""Bridge from Wishbone B4, classic cycles, to the processor ports of nodes."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .core import HostCore, port_members, side_members
from .shape import HostShape


def bus_members(shape: HostShape) -> dict[str, wiring.Member]:
    """Members of the bus, as a slave has them, with flat names (Wishbone B4, §2.2). Addresses are those of bytes."""
    return {
        "wbs_cyc": In(1),
        "wbs_stb": In(1),
        "wbs_we": In(1),
        "wbs_adr": In(shape.address_bits),
        "wbs_dat_w": In(shape.width),
        "wbs_sel": In(shape.width // 8),
        "wbs_dat_r": Out(shape.width),
        "wbs_ack": Out(1),
        "wbs_err": Out(1),
    }


class WishboneBridge(wiring.Component):
    """Wishbone slave in front of the processor ports of several nodes; classic cycles with registered feedback.

    An access of less than a whole word, an address between words and an address that holds nothing end with ERR. With
    ``blocked="stall"`` an access waits, and the bus with it: a master that fills a full register whose words it is itself to
    take must look at the full bits first. A cycle that the master breaks off has no effect, or its whole effect.

    Parameters
    ----------
    shape : HostShape
        Sizes of the bridge.

    Ports
    -----
    wbs_<name> : see bus_members
        The bus.
    p_<name>_<i>, irq, done : as in ``core.HostCore``
    """

    def __init__(self, *, shape: HostShape) -> None:
        self.shape = shape
        super().__init__(bus_members(shape) | port_members(shape) | side_members())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.core = core = HostCore(shape=shape)
        for name in port_members(shape):
            inner, outer = getattr(core, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if name.startswith(("p_full", "p_read_data")) else outer.eq(inner)
        low = (shape.bytes - 1).bit_length()
        asked, astray, ended, failed = Signal(), Signal(), Signal(), Signal()
        word = Signal(shape.width)
        m.d.comb += [
            self.irq.eq(core.irq),
            self.done.eq(core.done),
            # Ended cycles are answered one later: STB is still that of the access that has ended.
            asked.eq(self.wbs_cyc & self.wbs_stb & ~ended & ~failed),
            astray.eq(asked & (~self.wbs_sel.all() | self.wbs_adr[:low].any())),
            core.write.eq(asked & ~astray & self.wbs_we),
            core.write_address.eq(self.wbs_adr[low:]),
            core.write_data.eq(self.wbs_dat_w),
            core.read.eq(asked & ~astray & ~self.wbs_we),
            core.read_address.eq(self.wbs_adr[low:]),
            self.wbs_ack.eq(ended),
            self.wbs_err.eq(failed),
            self.wbs_dat_r.eq(word),
        ]
        over = Signal()
        bad = Signal()
        m.d.comb += [
            over.eq(astray | (core.write & core.write_ended) | (core.read & core.read_ended)),
            bad.eq(astray | (core.write & core.write_failed) | (core.read & core.read_failed)),
        ]
        m.d.sync += [ended.eq(over & ~bad), failed.eq(over & bad), word.eq(core.read_data)]
        return m
