"""The whole switch: scheduler, crossbar, and a network interface for each processor."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from .crossbar import Crossbar
from .matrix import along_rows, row
from .nic import network_members, processor_members
from .parts import Parts
from .scheduler import Scheduler
from .shape import SwitchShape
from .station import Station
from .transposed import columns_of


class Switch(wiring.Component):
    """A system of N processors around a time-multiplexed crossbar (Ding et al. 2005, §4, Figure 1).

    The interfaces withdraw requests that get nowhere (``station``), so that a full receiver keeps nobody waiting for ever.

    Latency: a word written in cycle c is requested in c + 1. Sent in a granted cycle g, it can be read from g + 2 on.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the parts that there are for each port.

    Ports
    -----
    p_address_<i>, p_write_<i>, p_read_<i>, p_write_data_<i>, p_full_<i>, p_read_data_<i>
        Processor port of processor i, as in ``nic.NetworkInterface``.
    """

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
        members = processor_members(shape)
        super().__init__({f"{name}_{i}": member for i in range(shape.ports) for name, member in members.items()})
        self.scheduler = Scheduler(shape=shape, parts=self.parts)
        self.crossbar = Crossbar(shape=shape, parts=self.parts)
        self.nics = [] if self.parts.apart else [Station(shape=shape) for _ in range(shape.ports)]
        """The network interfaces, if they are in place."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        m.submodules.scheduler = scheduler = self.scheduler
        m.submodules.crossbar = crossbar = self.crossbar
        members = processor_members(shape) | network_members(shape)
        # Inputs of the interfaces that other parts drive.
        driven = [
            {name: Signal(member.shape, name=f"{name}_of_{i}") for name, member in members.items() if member.flow == In}
            for i in range(n)
        ]
        nics = [
            {**given, **self.parts.place(m, f"nic_{i}", "tdm_nic", partial(self._nic, i), members, given, clocked=True)}
            for i, given in enumerate(driven)
        ]
        sent = Signal(n)
        m.d.comb += [
            scheduler.request.eq(Cat(nic["request"] for nic in nics)),
            sent.eq(Cat(nic["out_valid"] for nic in nics)),
            scheduler.used.eq(scheduler.fabric & along_rows(sent, n)),
            scheduler.command_valid.eq(Cat(nic["command_valid"] for nic in nics)),
            crossbar.fabric.eq(scheduler.fabric),
            crossbar.back.eq(scheduler.grant),
            crossbar.back_in.eq(Cat(nic["ready"] for nic in nics)),
        ]
        sources = {
            name: columns_of(
                m, self.parts, f"columns_of_{name}", [row(getattr(scheduler, name), u, n) for u in range(n)]
            )
            for name in ("grant", "fabric")
        }
        for i, nic in enumerate(nics):
            m.d.comb += [
                nic["grant"].eq(row(scheduler.grant, i, n)),
                nic["granted_source"].eq(sources["grant"][i]),
                nic["out_ready"].eq(crossbar.back_out[i]),
                nic["in_source"].eq(sources["fabric"][i]),
                nic["in_valid"].eq(getattr(crossbar, f"out_valid_{i}")),
                nic["in_data"].eq(getattr(crossbar, f"out_data_{i}")),
                getattr(crossbar, f"in_valid_{i}").eq(nic["out_valid"]),
                getattr(crossbar, f"in_data_{i}").eq(nic["out_data"]),
                getattr(scheduler, f"command_{i}").eq(nic["command"]),
                nic["command_done"].eq(scheduler.done[i]),
                nic["answer_valid"].eq(scheduler.answers),
                nic["answer"].eq(scheduler.answer),
            ]
            for name, member in processor_members(shape).items():
                inner, outer = nic[name], getattr(self, f"{name}_{i}")
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        return m

    def _nic(self, i: int) -> Station:
        return self.nics[i] if self.nics else Station(shape=self.shape)
