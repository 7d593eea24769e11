"""The switch without the network interfaces: scheduler and crossbar, for those who put the interfaces elsewhere."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from .crossbar import Crossbar
from .matrix import along_rows, column, row
from .nic import network_members
from .scheduler import Scheduler
from .shape import SwitchShape


class Core(wiring.Component):
    """Scheduler and crossbar. With the interfaces it is ``switch.Switch``, which joins them in the same way.

    Latency: that of the scheduler and the crossbar; nothing is registered here.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    <name>_<i>
        The other end of every port of ``nic.NetworkInterface`` ``i`` that is not the processor's.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        members = network_members(shape)
        super().__init__({f"{name}_{i}": member.flip() for i in range(shape.ports) for name, member in members.items()})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        m.submodules.scheduler = scheduler = Scheduler(shape=shape)
        m.submodules.crossbar = crossbar = Crossbar(shape=shape)
        nics = [{name: getattr(self, f"{name}_{i}") for name in network_members(shape)} for i in range(n)]
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
        for i, nic in enumerate(nics):
            driven = {
                "grant": row(scheduler.grant, i, n),
                "granted_source": column(scheduler.grant, i, n),
                "out_ready": crossbar.back_out[i],
                "in_source": column(scheduler.fabric, i, n),
                "in_valid": getattr(crossbar, f"out_valid_{i}"),
                "in_data": getattr(crossbar, f"out_data_{i}"),
                "command_done": scheduler.done[i],
                "answer_valid": scheduler.answers,
                "answer": scheduler.answer,
            }
            assert set(driven) == {name for name, member in network_members(shape).items() if member.flow == In}
            m.d.comb += [nic[name].eq(value) for name, value in driven.items()]
            m.d.comb += [
                getattr(crossbar, f"in_valid_{i}").eq(nic["out_valid"]),
                getattr(crossbar, f"in_data_{i}").eq(nic["out_data"]),
                getattr(scheduler, f"command_{i}").eq(nic["command"]),
            ]
        return m
