"""The crossbar and its tables: by which output channel a message leaves that has to keep its order."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from cosim.formal.proof import Harness
from packet_router.header import ANY
from packet_router.interface import Interface
from packet_router.route import Route
from packet_router.router import Router, link_members, local_members
from packet_router.shape import RouterShape

from .choose import at_most_one, choice, one_of


def one_way(shape: RouterShape) -> Harness:
    """Messages without *any way* on one channel leave by a channel that place and destination tell, one whole after the other."""
    m = Module()
    m.submodules.router = router = Router(shape=shape)
    ports, lanes = shape.ports, shape.lanes
    p, c = choice(m, ports, "input"), choice(m, lanes, "channel")

    def of_input(name: str) -> Value:
        return one_of([getattr(one, name) for one in router.inputs], p)

    some, final, takes = (of_input(name).bit_select(c, 1) for name in ("some", "final", "take"))
    active = one_of(router.active, p).bit_select(c, 1)
    way = one_of([one_of(ways, c) for ways in router.way], p)
    channel = one_of([one_of(channels, c) for channels in router.channel], p)
    fronts = [[getattr(one, f"route_{k}") for k in range(lanes)] for one in router.inputs]
    route = fronts[0][0].shape()(one_of([one_of([r.as_value() for r in routes], c) for routes in fronts], p))

    # What the route says, in dimension order: one output, and one of its channels.
    links, arrived = shape.links, ~route.wanted.any()
    first: list[Value] = []
    for o in range(links):
        lower = route.wanted[: o & ~1] if shape.graph is None else Const(0, 1)
        first.append(route.wanted[o] & ~lower.any())
    there = Cat(*first, arrived)
    on = Mux(arrived, route.address, route.late if shape.torus else 0)
    free = route.free if shape.routing == "adaptive" else Const(0, 1)

    m.d.comb += Assume(_one_a_dimension(shape, route.wanted))
    was, was_final, had_way, had_channel = Signal(), Signal(), Signal.like(way), Signal.like(channel)
    told, told_channel, was_free = Signal.like(way), Signal.like(channel), Signal()
    m.d.sync += [was.eq(active), was_final.eq(takes & final), had_way.eq(way), had_channel.eq(channel)]
    m.d.sync += [told.eq(there), told_channel.eq(on), was_free.eq(free)]
    begins = active & ~was
    m.d.comb += [
        Assert(~(begins & ~was_free) | ((way == told) & (channel == told_channel)), "as the route says"),
        Assert(~(active & was & ~was_final) | ((way == had_way) & (channel == had_channel)), "until its last word"),
        Assert(~active | (at_most_one(way) & way.any()), "one output"),
        Assert(~takes | (active & some), "no word before"),
        Assert(~was | active | was_final, "given back by the last word only"),
        Assert(~(was & was_final) | ~active, "and by each"),
    ]
    for o in range(ports):
        output = router.outputs[o]
        wants = one_of([output.want[k] for k in range(ports)], p)
        goes = one_of([output.granted[k] for k in range(ports)], p)
        by = one_of([getattr(output, f"want_channel_{k}") for k in range(ports)], p)
        m.d.comb += [
            Assert(~(takes & goes) | (way[o] & (by == channel[: len(by)])), "words go there"),
            Assert(~(takes & way[o]) | (wants & goes), "and nowhere else"),
        ]
    m.d.comb += [Cover(takes & final), Cover(begins & ~was_free)]
    return Harness(
        m, [getattr(router, name) for name in ("here", *_inputs(link_members(shape) | local_members(shape)))]
    )


def same_route(shape: RouterShape) -> Harness:
    """Headers with the same destination, address and *any way* have the same route, which wants one link a dimension at most."""
    m = Module()
    m.submodules.one = one = Route(shape=shape)
    m.submodules.other = other = Route(shape=shape)
    read = (1 << ANY) | 0xFFFF
    m.d.comb += [
        other.here.eq(one.here),
        Assume(((one.header ^ other.header) & read) == 0),
        Assert(one.route.as_value() == other.route.as_value()),
        Assert(_one_a_dimension(shape, one.route.wanted)),
        Cover(one.route.wanted.any() & (one.header != other.header)),
    ]
    return Harness(m, [one.here, one.header, other.header])


def kept_lane(shape: RouterShape) -> Harness:
    """An interface sends messages without *any way* on channel 0, all words of them."""
    m = Module()
    m.submodules.interface = interface = Interface(shape=shape)
    inside, keeps = Signal(), Signal()
    with m.If(interface.put_valid):
        m.d.sync += inside.eq(~interface.put_last)
        with m.If(~inside):
            m.d.sync += keeps.eq(~interface.send_data[ANY])
    kept = Mux(inside, keeps, ~interface.send_data[ANY])
    m.d.comb += [
        Assert(interface.inside == inside),
        Assert(~(inside & keeps) | (interface.lane == 0)),
        Assert(~(interface.put_valid & kept) | (interface.put_channel == 0)),
        Cover(interface.put_valid & kept & inside),
    ]
    return Harness(m, [getattr(interface, name) for name in ("send", "send_data", "send_last")])


def _one_a_dimension(shape: RouterShape, wanted: Value) -> Value:
    if shape.graph is not None:
        return at_most_one(wanted)
    return ~Cat(wanted[2 * d] & wanted[2 * d + 1] for d in range(shape.dimensions)).any()


def _inputs(members: Mapping[str, wiring.Member]) -> list[str]:
    return [name for name, member in members.items() if member.flow == In]
