"""An output, alone: who owns its channels, and how much room there is behind them."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Signal, Value

from cosim.formal.proof import Harness
from packet_router.output import OutputPort
from packet_router.shape import RouterShape

from .choose import at_most_one, choice, one_of


def _owned(shape: RouterShape, *, interface: bool) -> Harness:
    m = Module()
    m.submodules.port = port = OutputPort(shape=shape, interface=interface)
    ports, channels, depth = shape.ports, port.channels, port.depth
    escape = channels if interface else shape.escape_channels
    c = choice(m, channels, "channel")

    # Whose channel c is, from the grant to the last word.
    owned, owner = Signal(), Signal(range(ports))
    gives = port.given.any() & (port.given_channel == c)
    wants = Signal(ports)
    for p in range(ports):
        asked: Value = getattr(port, f"ask_channel_{p}")
        wanted: Value = getattr(port, f"want_channel_{p}")
        m.d.comb += [
            # What an input promises: it asks for what it has seen free, and sends where it owns, into room.
            Assume(~port.ask[p] | (port.spare if escape < channels else 0) | ~port.ask_any[p]),
            Assume(~(port.ask[p] & ~port.ask_any[p]) | ((asked < channels) & one_of(list(port.free), asked))),
            Assume(~port.want[p] | ((wanted < channels) & one_of(list(port.room), wanted))),
            Assume(~(port.want[p] & (wanted == c)) | (owned & (owner == p))),
            wants[p].eq(port.want[p] & (wanted == c)),
        ]
        if escape == channels:
            m.d.comb += Assume(~port.ask_any[p])
        with m.If(port.given[p] & (port.given_channel == c)):
            m.d.sync += owner.eq(p)
    goes = (port.granted & wants).any()
    ends = (port.granted & wants & port.want_last).any()
    m.d.sync += owned.eq((owned & ~ends) | gives)
    m.d.comb += [
        Assert(at_most_one(port.given) & ((port.given & ~port.ask) == 0), "a channel goes to one that asks"),
        Assert(port.given.any() == port.ask.any()),
        Assert(at_most_one(port.granted) & ((port.granted & ~port.want) == 0), "the link goes to one that has a word"),
        Assert(port.granted.any() == port.want.any()),
        Assert(~(gives & owned), "no channel is given twice"),
        Assert(port.free.bit_select(c, 1) == ~owned, "whose it is"),
    ]
    credits = one_of(list(port.credits), c)
    by_any = (port.given & port.ask_any).any()
    m.d.comb += Assert(~(gives & by_any) | ((c >= escape) & (credits == depth)), "any channel is an empty one")

    # Words behind the link that have not been taken.
    behind = Signal(range(depth + 1))
    returns = port.credit_valid & (port.credit_channel == c)
    m.d.comb += [Assume(~(returns & (behind == 0))), Assume(port.credit_channel < channels)]
    m.d.sync += behind.eq(behind + goes - returns)
    m.d.comb += [
        Assert(credits + behind == depth, "credits are places"),
        Assert(port.room.bit_select(c, 1) == (credits != 0), "room"),
        Assert(port.empty.bit_select(c, 1) == (credits == depth), "empty"),
    ]
    went = Signal(ports)
    m.d.sync += went.eq(port.granted & wants)
    m.d.comb += [
        Assert(~went.any() | ((port.sent == went) & (port.sent_channel == c)), "what is granted is sent"),
        Cover(goes & (behind == depth - 1), "the last place"),
        Cover(gives & (behind != 0), "given while words are behind it")
        if escape
        else Cover(gives & (owner != 0), "given again"),
        Cover(ends & (behind != 0), "given back with words behind it"),
    ]
    inputs = ["ask", "ask_any", "want", "want_last", "credit_valid", "credit_channel"]
    inputs += [f"{way}_channel_{p}" for p in range(ports) for way in ("ask", "want")]
    return Harness(m, [getattr(port, name) for name in inputs])


def of_links(shape: RouterShape) -> Harness:
    """A channel of a link has one message from its grant to its last word; a credit is a place behind it, always."""
    return _owned(shape, interface=False)


def of_addresses(shape: RouterShape) -> Harness:
    """An interface address has one message at a time, and a credit is a place in its queue, always."""
    return _owned(shape, interface=True)
