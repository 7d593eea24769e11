"""Between a processor and its router: messages go out word by word, and come into a queue for each interface address."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .header import ANY
from .route import bits_for
from .router import local_members
from .shape import RouterShape


def port_members(shape: RouterShape) -> dict[str, wiring.Member]:
    """Members of the processor's two sides: ``send_…`` for messages out, ``take_…`` for words that have come."""
    return {
        "send": In(1),
        "send_data": In(shape.width),
        "send_last": In(1),
        "send_ready": Out(1),
        "take": In(1),
        "take_address": In(bits_for(shape.addresses)),
        "take_data": Out(shape.width),
        "full": Out(shape.addresses),
    }


class Interface(wiring.Component):
    """Interface of a node (Metcalf 1997, §7.2.1): words wait in the queue of their address until they are read there.

    Messages on one address do not mix: the router gives an address to one message at a time. What comes for address 0, which
    is for words that go out, is dropped.

    Latency: one cycle from a word to its ``full`` bit and from ``take`` to ``take_data``.

    Parameters
    ----------
    shape : RouterShape

    Ports
    -----
    put_…, get_… : see `packet_router.router.local_members`, other way round
    send : Signal(1), in
        Send ``send_data``; the first word of a message is its header. Nothing happens without ``send_ready``.
    send_last : Signal(1), in
        It is the last word of its message.
    send_ready : Signal(1), out
    take : Signal(1), in
        Take a word from the queue of ``take_address``. Nothing happens if it is empty.
    take_data : out
        The word of the last ``take``, from the cycle after it on.
    full : Signal(addresses), out
        Bit a: there is a word in the queue of address a.
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        turned = {name: member.flip() for name, member in local_members(shape).items()}
        super().__init__({**turned, **port_members(shape)})
        lanes = bits_for(shape.lanes)
        self.inside = Signal()
        """A message has begun."""
        self.lane = Signal(lanes)
        """Its channel."""
        self.room, self.whole = Signal(shape.lanes), Signal(shape.lanes)
        self.credits = [
            Signal(range(shape.buffer + 1), init=shape.buffer, name=f"credits_{c}") for c in range(shape.lanes)
        ]
        bits = bits_for(shape.queue)
        self.queues = Memory(shape=shape.width, depth=shape.addresses * shape.queue, init=[])
        self.written = [Signal(bits, name=f"written_{a}") for a in range(shape.addresses)]
        self.taken = [Signal(bits, name=f"taken_{a}") for a in range(shape.addresses)]
        self.words = [Signal(range(shape.queue + 1), name=f"words_{a}") for a in range(shape.addresses)]
        """Words in each queue; of address 0: words dropped whose room has not been given back."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._send(m)
        self._take(m)
        return m

    def _send(self, m: Module) -> None:
        """Count the room behind each channel, and pick one for each message."""
        shape = self.shape
        lanes = bits_for(shape.lanes)
        inside, lane, room, whole = self.inside, self.lane, self.room, self.whole
        first, picked = Signal(lanes), Signal(lanes)
        ready = Signal()
        if shape.routing == "adaptive":
            # Channel 0 is left to messages that keep their order.
            for c in reversed(range(1, shape.lanes)):
                with m.If(whole[c]):
                    m.d.comb += first.eq(c)
            m.d.comb += [
                picked.eq(Mux(self.send_data[ANY], first, 0)),
                ready.eq(room[0] & whole[1:].any()),
            ]
        else:
            m.d.comb += [picked.eq(0), ready.eq(room[0])]
        channel = Signal(lanes)
        m.d.comb += [
            self.send_ready.eq(Mux(inside, Array(room)[lane], ready)),
            channel.eq(Mux(inside, lane, picked)),
            self.put_valid.eq(self.send & self.send_ready),
            self.put_channel.eq(channel),
            self.put_data.eq(self.send_data),
            self.put_last.eq(self.send_last),
        ]
        with m.If(self.put_valid):
            m.d.sync += [inside.eq(~self.send_last), lane.eq(channel)]
        for c in range(shape.lanes):
            less = self.put_valid & (channel == c)
            more = self.put_credit_valid & (self.put_credit_channel == c)
            credits = self.credits[c]
            some = Signal(init=1, name=f"room_{c}")
            all_ = Signal(init=1, name=f"whole_{c}")
            with m.If(more & ~less):
                m.d.sync += [credits.eq(credits + 1), some.eq(1), all_.eq(credits == shape.buffer - 1)]
            with m.Elif(less & ~more):
                m.d.sync += [credits.eq(credits - 1), some.eq(credits != 1), all_.eq(0)]
            m.d.comb += [room[c].eq(some), whole[c].eq(all_)]

    def _take(self, m: Module) -> None:
        """A queue for each address, all in one memory."""
        shape = self.shape
        m.submodules.queues = queues = self.queues
        write, read = queues.write_port(), queues.read_port(transparent_for=())
        written, taken = self.written, self.taken
        takes = Signal()
        m.d.comb += [
            write.en.eq(self.get_valid),
            write.addr.eq(Cat(Array(written)[self.get_channel], self.get_channel)),
            write.data.eq(self.get_data),
            takes.eq(self.take & Array(self.full)[self.take_address]),
            read.en.eq(takes),
            read.addr.eq(Cat(Array(taken)[self.take_address], self.take_address)),
            self.take_data.eq(read.data),
        ]
        # Address 0 gives the room back at once.
        dropped = self.get_valid & (self.get_channel == 0)
        owed = Signal()  # a word dropped in the cycle of a read has its credit in the next free cycle
        count = self.words[0]
        m.d.sync += [
            self.get_credit_valid.eq(takes | owed),
            self.get_credit_channel.eq(Mux(takes, self.take_address, 0)),
            count.eq(count + dropped - (owed & ~takes)),
        ]
        m.d.comb += owed.eq(count != 0)
        for a in range(1, shape.addresses):
            put = self.get_valid & (self.get_channel == a)
            took = takes & (self.take_address == a)
            words = self.words[a]
            full = Signal(name=f"full_{a}")
            m.d.sync += [
                written[a].eq(written[a] + put),
                taken[a].eq(taken[a] + took),
                words.eq(words + put - took),
                full.eq((full & ~(took & (words == 1))) | put),
            ]
            m.d.comb += self.full[a].eq(full)
