"""An output of the router: who may use its channels, whose word goes out, and how much room there is behind it."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .arbiter import RoundRobin
from .route import bits_for
from .shape import RouterShape


class OutputPort(wiring.Component):
    """Gives channels to messages, one a cycle, and the link to words, one a cycle, both in turn.

    A channel that is given stays with its message until the last word has been granted. Room behind the link is counted by
    credits. The port to the interface has a channel for each interface address.

    Latency: none from requests to grants; a granted word is on the link one cycle later.

    Parameters
    ----------
    shape : RouterShape
    interface : bool
        The port to the interface.

    Ports
    -----
    ask : Signal(ports), in
        Input p has a message that wants a channel.
    ask_any : Signal(ports), in
        … and any empty channel above those of dimension order will do (links only), otherwise
    ask_channel_<p> : in
        … this one, which the input has seen to be free.
    given : Signal(ports), out
        The input that gets a channel in this cycle.
    given_channel : out
        Valid with ``given``.
    free : Signal(channels), out
        Channel belongs to no message.
    spare : Signal(1), out
        There is a channel for ``ask_any``.
    room : Signal(channels), out
        There is room for a word behind channel c.
    want : Signal(ports), in
        Input p has a word for this output, and there is room for it.
    want_channel_<p> : in
    want_last : Signal(ports), in
        It is the last of its message.
    granted : Signal(ports), out
        The input whose word goes out.
    sent : Signal(ports), out
        ``granted`` of the cycle before.
    sent_channel : out
        Its channel.
    credit_valid, credit_channel : in
        There is room for one word more behind this channel.
    """

    def __init__(self, *, shape: RouterShape, interface: bool) -> None:
        self.shape = shape
        self.interface = interface
        self.channels = shape.addresses if interface else shape.lanes
        self.depth = shape.queue if interface else shape.buffer
        bits = bits_for(self.channels)
        ports = shape.ports
        super().__init__(
            {
                "ask": In(ports),
                "ask_any": In(ports),
                **{f"ask_channel_{p}": In(bits) for p in range(ports)},
                "given": Out(ports),
                "given_channel": Out(bits),
                "free": Out(self.channels),
                "spare": Out(1),
                "room": Out(self.channels),
                "want": In(ports),
                **{f"want_channel_{p}": In(bits) for p in range(ports)},
                "want_last": In(ports),
                "granted": Out(ports),
                "sent": Out(ports),
                "sent_channel": Out(bits),
                "credit_valid": In(1),
                "credit_channel": In(bits),
            }
        )
        self.credits = [
            Signal(range(self.depth + 1), init=self.depth, name=f"credits_{c}") for c in range(self.channels)
        ]
        self.empty = Signal(self.channels)
        """Nobody's words are behind channel c."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        ports = range(shape.ports)
        m.submodules.channel_turn = channel_turn = RoundRobin(count=shape.ports)
        m.submodules.word_turn = word_turn = RoundRobin(count=shape.ports)
        bits = bits_for(self.channels)

        # Channels.
        empty = self.empty
        escape = self.channels if self.interface else shape.escape_channels
        spare = self.free & empty
        m.d.comb += [channel_turn.requests.eq(self.ask), channel_turn.turn.eq(1), self.given.eq(channel_turn.grant)]
        asked = Signal(bits)
        for p in ports if self.channels > 1 else ():
            with m.If(channel_turn.grant[p]):
                m.d.comb += asked.eq(getattr(self, f"ask_channel_{p}"))
        lowest = Signal(bits)
        for c in reversed(range(escape, self.channels)):
            with m.If(spare[c]):
                m.d.comb += lowest.eq(c)
        any_way = (self.ask_any & channel_turn.grant).any()
        m.d.comb += [
            self.spare.eq(spare[escape:].any() if escape < self.channels else 0),
            self.given_channel.eq(Mux(any_way, lowest, asked)),
        ]

        # Words.
        m.d.comb += [word_turn.requests.eq(self.want), word_turn.turn.eq(1), self.granted.eq(word_turn.grant)]
        channel = Signal(bits)
        for p in ports if self.channels > 1 else ():
            with m.If(word_turn.grant[p]):
                m.d.comb += channel.eq(getattr(self, f"want_channel_{p}"))
        goes = self.want.any()
        ends = (self.want_last & word_turn.grant).any()
        m.d.sync += [self.sent.eq(word_turn.grant), self.sent_channel.eq(channel)]

        holds = Signal(self.channels)
        m.d.comb += self.free.eq(~holds)
        gives = self.ask.any()
        for c in range(self.channels):
            less = goes & (channel == c)
            more = self.credit_valid & (self.credit_channel == c)
            credits = self.credits[c]
            room = Signal(init=1, name=f"room_{c}")
            whole = Signal(init=1, name=f"whole_{c}")
            with m.If(more & ~less):
                m.d.sync += [credits.eq(credits + 1), room.eq(1), whole.eq(credits == self.depth - 1)]
            with m.Elif(less & ~more):
                m.d.sync += [credits.eq(credits - 1), room.eq(credits != 1), whole.eq(0)]
            m.d.comb += [self.room[c].eq(room), empty[c].eq(whole)]
            with m.If(gives & (self.given_channel == c)):
                m.d.sync += holds[c].eq(1)
            with m.Elif(less & ends):
                m.d.sync += holds[c].eq(0)
        return m
