"""A network interface that withdraws requests that get nowhere, so that no circuit is kept for ever by a full receiver."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from .nic import NetworkInterface, network_members, processor_members
from .shape import SwitchShape


class Station(wiring.Component):
    """``nic.NetworkInterface`` with patience.

    A connection whose receiver has no room keeps its ports as long as words wait for it. If the receiver waits in turn for a
    word from somebody else who needs one of these ports, and all slots are taken so, everybody waits for ever. So time is
    cut into windows: a destination that was granted in a window, and to which no word could go in all of it, is not
    requested in the next two. They are longer than any time-out, so that the connection is released and those that wait are
    served. Should the circuit stand all the same and the receiver make room, words go at once, and the request comes back.

    Latency: that of the interface; ``request`` falls one cycle after the end of a window.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    As ``nic.NetworkInterface``.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        super().__init__(processor_members(shape) | network_members(shape))
        self.nic = NetworkInterface(shape=shape)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.shape.ports
        m.submodules.nic = nic = self.nic
        for name, member in (processor_members(self.shape) | network_members(self.shape)).items():
            inner, outer = getattr(nic, name), getattr(self, name)
            if name != "request":
                m.d.comb += outer.eq(inner) if member.flow == Out else inner.eq(outer)

        window = Signal(range(patience(self.shape)))
        stuck, moved, patient, weary = Signal(n), Signal(n), Signal(n), Signal(n)
        asked = Signal(n)
        ready = self.out_ready.replicate(n)
        m.d.comb += [
            asked.eq(self.grant & nic.request),
            self.request.eq(nic.request & ~(patient | weary)),
        ]
        m.d.sync += [
            window.eq(window + 1),
            stuck.eq(stuck | (asked & ~ready)),
            moved.eq(moved | (asked & ready)),
            patient.eq(patient & ~(asked & ready)),
            weary.eq(weary & ~(asked & ready)),
        ]
        with m.If(window.all()):
            m.d.sync += [
                stuck.eq(0),
                moved.eq(0),
                patient.eq((stuck | (asked & ~ready)) & ~(moved | (asked & ready)) & ~(patient | weary)),
                weary.eq(patient & ~(asked & ready)),
            ]
        return m


def patience(shape: SwitchShape) -> int:
    """Cycles of a window: a power of two, longer than any time-out."""
    return 1 << max(4, shape.age_bits)
