"""The interface, alone: queues of what comes in, credits of what goes out."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Signal

from cosim.formal.proof import Harness
from packet_router.header import ANY
from packet_router.interface import Interface
from packet_router.shape import RouterShape

from .choose import Tracked, choice, one_of, room_of, row

_INPUTS = (
    *("get_valid", "get_channel", "get_data", "get_last", "put_credit_valid", "put_credit_channel"),
    *("send", "send_data", "send_last", "take", "take_address"),
)


def _interface(m: Module, shape: RouterShape) -> Interface:
    m.submodules.interface = interface = Interface(shape=shape)
    m.d.comb += [Assume(interface.get_channel < shape.addresses), Assume(interface.take_address < shape.addresses)]
    return interface


def in_order(shape: RouterShape) -> Harness:
    """What comes for an address is read there once and in order, and its room is given back when it has been read."""
    m = Module()
    interface = _interface(m, shape)
    a = choice(m, shape.addresses, "address", least=1)
    depth = shape.queue
    enters = interface.get_valid & (interface.get_channel == a)
    full = interface.full.bit_select(a, 1)
    takes = interface.take & (interface.take_address == a) & full
    returns = interface.get_credit_valid & (interface.get_credit_channel == a)
    room = room_of(m, depth, enters, returns)
    words, taken, written = (one_of(values, a) for values in (interface.words, interface.taken, interface.written))
    m.d.comb += [
        Assert(words + returns + room == depth, "every place is counted once"),
        Assert(full == (words != 0), "a word is there or not"),
        Assert((taken + words - written)[: len(taken)] == 0, "between the pointers"),
    ]
    word = Tracked(m, depth=depth, width=shape.width, enters=enters, takes=takes, inside=words, word=interface.get_data)
    place = Signal(len(taken))
    m.d.comb += place.eq(taken + word.ahead)
    kept = row(m, interface.queues, Cat(place, a))
    with m.If(word.waits):
        m.d.comb += [Assert(word.ahead < words, "it is inside"), Assert(kept == word.word, "in its queue")]
    with m.If(word.left):
        m.d.comb += Assert(interface.take_data == word.word, "it is what came")
    m.d.comb += [
        Cover(word.left & (room == 0), "while the queue is full"),
        Cover(takes & enters & (words == depth - 1), "both at once"),
        Cover(interface.take & ~full & (interface.take_address == a), "nothing to take"),
    ]
    return Harness(m, [*(getattr(interface, name) for name in _INPUTS), word.mark])


def dropped(shape: RouterShape) -> Harness:
    """What comes for address 0 is dropped, and its room given back, each place once."""
    m = Module()
    interface = _interface(m, shape)
    enters = interface.get_valid & (interface.get_channel == 0)
    returns = interface.get_credit_valid & (interface.get_credit_channel == 0)
    room = room_of(m, shape.queue, enters, returns)
    m.d.comb += [
        Assert(interface.words[0] + returns + room == shape.queue, "every place is counted once"),
        Assert(~interface.full[0], "nothing can be read there"),
        Cover(returns & (room == 0), "the last place comes back"),
    ]
    return Harness(m, [getattr(interface, name) for name in _INPUTS])


def sends(shape: RouterShape) -> Harness:
    """A word goes out only into room, all words of a message on one channel, and none without ``send_ready``."""
    m = Module()
    interface = _interface(m, shape)
    c = choice(m, shape.lanes, "channel")
    goes = interface.put_valid & (interface.put_channel == c)
    # Words behind the channel: credits come back for these only.
    behind = Signal(range(shape.buffer + 1))
    returns = interface.put_credit_valid & (interface.put_credit_channel == c)
    m.d.comb += [Assume(~(returns & (behind == 0))), Assume(interface.put_credit_channel < shape.lanes)]
    m.d.sync += behind.eq(behind + goes - returns)
    credits = one_of(interface.credits, c)
    inside, lane = Signal(), Signal.like(interface.put_channel)
    with m.If(interface.put_valid):
        m.d.sync += [inside.eq(~interface.put_last), lane.eq(interface.put_channel)]
    m.d.comb += [
        Assert(credits + behind == shape.buffer, "credits are places"),
        Assert(interface.room.bit_select(c, 1) == (credits != 0)),
        Assert(interface.whole.bit_select(c, 1) == (credits == shape.buffer)),
        Assert(~goes | (behind < shape.buffer), "into room"),
        Assert(interface.put_valid == (interface.send & interface.send_ready), "when it is ready"),
        Assert((interface.inside == inside) & (~inside | (interface.lane == lane)), "inside a message"),
        Assert(~(interface.put_valid & inside) | (interface.put_channel == lane), "on one channel"),
        Assert(
            ~interface.put_valid
            | ((interface.put_data == interface.send_data) & (interface.put_last == interface.send_last))
        ),
        Assert(interface.lane < shape.lanes),
        Cover(goes & (behind == shape.buffer - 1), "the last place"),
        Cover(interface.send & ~interface.send_ready & inside, "refused"),
    ]
    if shape.routing == "adaptive":
        new = interface.put_valid & ~inside
        m.d.comb += [
            Assert(~new | interface.send_data[ANY] | (interface.put_channel == 0), "kept in order"),
            Assert(~(new & interface.send_data[ANY] & goes) | ((c != 0) & (behind == 0)), "an empty channel"),
        ]
    return Harness(m, [getattr(interface, name) for name in _INPUTS])
