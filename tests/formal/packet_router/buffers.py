"""An input and its buffers, alone: any words on any channels, as long as senders keep to their credits."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Signal

from cosim.formal.proof import Harness
from packet_router.input import InputPort
from packet_router.route import Route
from packet_router.shape import RouterShape

from .choose import Tracked, at_most_one, choice, one_of, room_of, row


def in_order(shape: RouterShape) -> Harness:
    """What comes on a channel leaves it once, whole and in order, its end mark and its route beside it; room is told truly."""
    m = Module()
    m.submodules.port = port = InputPort(shape=shape)
    c = choice(m, shape.lanes, "channel")
    depth = shape.buffer
    m.d.comb += [
        Assume(port.channel < shape.lanes),
        Assume(at_most_one(port.take)),
        Assume((port.take & ~port.some) == 0),
    ]
    enters = port.valid & (port.channel == c)
    caught = port.caught & (port.caught_channel == c)
    returns = port.credit_valid & (port.credit_channel == c)
    takes = port.take.bit_select(c, 1)
    room = room_of(m, depth, enters, returns)
    count, taken, written = (one_of(values, c) for values in (port.count, port.taken, port.written))
    m.d.comb += [
        Assert(count + caught + returns + room == depth, "every place is counted once"),
        Assert(port.some.bit_select(c, 1) == (count != 0), "a word is there or not"),
        Assert((taken + count - written)[: len(taken)] == 0, "between the pointers"),
        Assert(~port.caught | (port.caught_channel < shape.lanes)),
        Assert(~port.credit_valid | (port.credit_channel < shape.lanes)),
    ]

    word = Tracked(
        m,
        depth=depth + 1,
        width=shape.width + 1,
        enters=enters,
        takes=takes,
        inside=count + caught,
        word=Cat(port.data, port.last),
    )
    m.submodules.route = route = Route(shape=shape)
    m.d.comb += [route.here.eq(port.here), route.header.eq(word.word[:-1])]
    still = Signal.like(port.here)
    m.d.sync += still.eq(port.here)
    here = choice(m, shape.nodes, "here") if len(port.here) else port.here
    if len(port.here):
        m.d.comb += Assume(port.here == here)
    place = Signal(len(taken))
    m.d.comb += place.eq(taken + word.ahead)
    kept = row(m, port.words, Cat(place, c) if shape.lanes > 1 else place)
    front = one_of([row(m, memory, place) for memory in port.fronts], c)
    with m.If(word.waits):
        m.d.comb += Assert(word.ahead < count + caught, "it is inside")
        with m.If(word.ahead < count):
            m.d.comb += [
                Assert(kept == word.word, "in its buffer"),
                Assert(front == Cat(word.word[-1], route.route.as_value()), "its route beside it"),
            ]
        with m.Else():
            m.d.comb += Assert(caught & (Cat(port.caught_data, port.caught_last) == word.word), "or just caught")
    with m.If(word.leaves):
        m.d.comb += [
            Assert(port.final.bit_select(c, 1) == word.word[-1], "the end mark is told"),
            Assert(
                one_of([getattr(port, f"route_{k}").as_value() for k in range(shape.lanes)], c)
                == route.route.as_value(),
                "the route is told",
            ),
        ]
    with m.If(word.left):
        m.d.comb += Assert(Cat(port.word, port.word_last) == word.word, "it is what came")
    m.d.comb += [
        Cover(word.left & (room == 0), "while the buffer is full"),
        Cover(word.leaves & (word.ahead == 0) & (taken == depth - 1) & (count == depth), "at the end of the memory"),
    ]
    inputs = [getattr(port, name) for name in ("here", "valid", "channel", "data", "last", "take")]
    return Harness(m, [one for one in inputs if len(one)] + [word.mark])
