"""A node of the packet network: router, interface, and a processor port of numbered registers."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .interface import Interface, port_members
from .route import bits_for
from .router import Router, link_members, local_members
from .shape import RouterShape

WORD, LAST = 0, 1
"""Registers that send a word, and the last word of a message."""


def processor_members(shape: RouterShape) -> dict[str, wiring.Member]:
    """Members of the processor port, by name."""
    return {
        "p_address": In(bits_for(shape.registers)),
        "p_write": In(1),
        "p_read": In(1),
        "p_write_data": In(shape.width),
        "p_write_full": Out(shape.registers),
        "p_read_full": Out(shape.registers),
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
        super().__init__({"here": In(shape.here_bits), **link_members(shape), **port_members(shape)})

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

    Writing register 0 sends a word, writing register 1 the last word of a message. Reading register a takes a word from the
    queue of interface address a.

    Ports
    -----
    here, in_…_<d>, out_…_<d> : as in `packet_router.router.Router`
    p_address : Signal(range(addresses)), in
    p_write, p_read : Signal(1), in
        At most one of them in a cycle. A write that ``p_write_full`` forbids does nothing, nor does a read of an empty queue.
    p_write_data : Signal(width), in
    p_write_full : Signal(addresses), out
        Bits 0 and 1: no word can be sent. The others are always set.
    p_read_full : Signal(addresses), out
        Bit a: there is a word in queue a.
    p_read_data : Signal(width), out
        The word of the last ``p_read``, from the cycle after it on.
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        super().__init__({"here": In(shape.here_bits), **link_members(shape), **processor_members(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.station = station = Station(shape=shape)
        m.d.comb += station.here.eq(self.here)
        for name, member in link_members(shape).items():
            inner, outer = getattr(station, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        closed = ~station.send_ready
        m.d.comb += [
            station.send.eq(self.p_write & (self.p_address <= 1)),
            station.send_last.eq(self.p_address == LAST),
            station.send_data.eq(self.p_write_data),
            station.take.eq(self.p_read),
            station.take_address.eq(self.p_address),
            self.p_read_data.eq(station.take_data),
            self.p_write_full.eq(Cat(closed, closed, Const((1 << shape.registers - 2) - 1, shape.registers - 2))),
            self.p_read_full.eq(station.full),
        ]
        return m
