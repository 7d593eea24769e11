"""A node of the packet network: router, interface, and a processor port of numbered registers."""

from __future__ import annotations

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .interface import Interface, port_members
from .route import bits_for
from .router import Router, link_members, local_members
from .shape import RouterShape


def processor_members(shape: RouterShape) -> dict[str, wiring.Member]:
    """Members of the processor port; names and meaning are those of a scheduled node's."""
    return {
        "p_address": In(bits_for(shape.registers)),
        "p_write": In(1),
        "p_read": In(1),
        "p_write_data": In(shape.width),
        "p_full": Out(shape.registers),
        "p_read_data": Out(shape.width),
    }


class Station(wiring.Component):
    """Router and interface, with both sides of the interface open: a word out and a word in each cycle.

    Ports
    -----
    here, in_…_<d>, out_…_<d> : as in `packet_router.router.Router`
    send_…, take_…, full : as in `packet_router.interface.Interface`
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        super().__init__({"here": In(sum(shape.coordinate_bits)), **link_members(shape), **port_members(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.router = router = Router(shape=shape)
        m.submodules.interface = interface = Interface(shape=shape)
        m.d.comb += router.here.eq(self.here)
        for name, member in local_members(shape).items():
            ours, theirs = getattr(router, name), getattr(interface, name)
            m.d.comb += ours.eq(theirs) if member.flow == In else theirs.eq(ours)
        for part, members in ((router, link_members(shape)), (interface, port_members(shape))):
            for name, member in members.items():
                inner, outer = getattr(part, name), getattr(self, name)
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        return m


class Node(wiring.Component):
    """A station behind a processor port with one access a cycle.

    Register 0 sends a word, register ``addresses`` the last word of a message; both are full while no word can be sent. Registers
    1 to ``addresses`` - 1 are the queues of the interface addresses, full while there is a word to read.

    Ports
    -----
    here, in_…_<d>, out_…_<d> : as in `packet_router.router.Router`
    p_address, p_write, p_read, p_write_data, p_full, p_read_data : see `processor_members`
        At most one of ``p_write`` and ``p_read`` in a cycle. A write to a full register does nothing, nor does a read
        from an empty one; ``p_read_data`` comes one cycle after ``p_read``.
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        super().__init__({"here": In(sum(shape.coordinate_bits)), **link_members(shape), **processor_members(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.station = station = Station(shape=shape)
        m.d.comb += station.here.eq(self.here)
        for name, member in link_members(shape).items():
            inner, outer = getattr(station, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        last = self.p_address == shape.addresses
        m.d.comb += [
            station.send.eq(self.p_write & (last | (self.p_address == 0))),
            station.send_last.eq(last),
            station.send_data.eq(self.p_write_data),
            station.take.eq(self.p_read & ~last),
            station.take_address.eq(self.p_address),
            self.p_read_data.eq(station.take_data),
            self.p_full.eq(Cat(~station.send_ready, station.full[1:], ~station.send_ready)),
        ]
        return m
