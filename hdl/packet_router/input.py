"""An input of the router: buffers of its channels, and what the message at the front of each is about."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .route import Route, bits_for, route_layout
from .shape import RouterShape


class InputPort(wiring.Component):
    """Buffers for each channel of a link.

    A word comes with its channel and a mark on the last one of a message; it is caught in a register, then written into the
    buffer of the channel, its route beside it if it is a header. A word that is taken leaves one cycle later.

    Latency: two cycles from a link to ``some`` and ``route``; one from ``take`` to ``word``.

    Parameters
    ----------
    shape : RouterShape

    Ports
    -----
    here : Signal(here_bits), in
        Place of the router.
    valid, channel, data, last : in
        The link. The sender has counted that there is room.
    credit_valid, credit_channel : out
        A word has been taken from this channel: the sender may count one more. One cycle after ``take``.
    some : Signal(lanes), out
        Channel c has a word at the front.
    final : Signal(lanes), out
        It is the last of its message. Valid with ``some``.
    route_<c> : route_layout, out
        Valid with ``some`` if the word is a header.
    take : Signal(lanes), in
        Take the front of this channel; one bit at most, and only with ``some``.
    word, word_last : out
        The word taken one cycle before.
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        lanes = bits_for(shape.lanes)
        layout = route_layout(shape)
        super().__init__(
            {
                "here": In(shape.here_bits),
                "valid": In(1),
                "channel": In(lanes),
                "data": In(shape.width),
                "last": In(1),
                "credit_valid": Out(1),
                "credit_channel": Out(lanes),
                "some": Out(shape.lanes),
                "final": Out(shape.lanes),
                **{f"route_{c}": Out(layout) for c in range(shape.lanes)},
                "take": In(shape.lanes),
                "word": Out(shape.width),
                "word_last": Out(1),
            }
        )
        pointer = bits_for(shape.buffer)
        self.caught = Signal()
        self.caught_channel = Signal(lanes)
        self.caught_data = Signal(shape.width)
        self.caught_last = Signal()
        self.words = Memory(shape=shape.width + 1, depth=shape.lanes * shape.buffer, init=[])
        self.fronts = [
            Memory(shape=1 + len(Signal(layout).as_value()), depth=shape.buffer, init=[]) for _ in range(shape.lanes)
        ]
        self.written = [Signal(pointer, name=f"written_{c}") for c in range(shape.lanes)]
        self.taken = [Signal(pointer, name=f"taken_{c}") for c in range(shape.lanes)]
        self.count = [Signal(range(shape.buffer + 1), name=f"count_{c}") for c in range(shape.lanes)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        caught, channel, data, last = self.caught, self.caught_channel, self.caught_data, self.caught_last
        m.d.sync += [caught.eq(self.valid), channel.eq(self.channel), data.eq(self.data), last.eq(self.last)]

        m.submodules.route = route = Route(shape=shape)
        m.d.comb += [route.here.eq(self.here), route.header.eq(data)]
        m.submodules.words = words = self.words
        write, read = words.write_port(), words.read_port(domain="comb")

        writes, reads = self.written, self.taken
        for c in range(shape.lanes):
            put = Signal(name=f"put_{c}")
            take = self.take[c]
            written, taken, count = writes[c], reads[c], self.count[c]
            m.d.comb += put.eq(caught & (channel == c))
            m.d.sync += [written.eq(written + put), taken.eq(taken + take), count.eq(count + put - take)]
            some = Signal(name=f"some_{c}")
            m.d.sync += some.eq((some & ~(take & (count == 1))) | put)
            m.submodules[f"front_{c}"] = front = self.fronts[c]
            f_write, f_read = front.write_port(), front.read_port(domain="comb")
            m.d.comb += [
                f_write.en.eq(put),
                f_write.addr.eq(written),
                f_write.data.eq(Cat(last, route.route.as_value())),
                f_read.addr.eq(taken),
                self.some[c].eq(some),
                self.final[c].eq(f_read.data[0]),
                getattr(self, f"route_{c}").eq(f_read.data[1:]),
            ]
        m.d.comb += [
            write.en.eq(caught),
            write.addr.eq(Cat(Array(writes)[channel], channel)),
            write.data.eq(Cat(data, last)),
        ]
        if shape.lanes == 1:
            m.d.comb += write.addr.eq(writes[0])

        # What is taken is read one cycle later; the buffer keeps it until the sender knows of the free place.
        place = Signal.like(read.addr)
        number = Signal(bits_for(shape.lanes))
        chosen = Signal(bits_for(shape.buffer))
        for c in range(shape.lanes):
            with m.If(self.take[c]):
                m.d.comb += [number.eq(c), chosen.eq(reads[c])]
        m.d.sync += [
            place.eq(chosen if shape.lanes == 1 else Cat(chosen, number)),
            self.credit_valid.eq(self.take.any()),
            self.credit_channel.eq(number),
        ]
        m.d.comb += [read.addr.eq(place), Cat(self.word, self.word_last).eq(read.data)]
        return m
