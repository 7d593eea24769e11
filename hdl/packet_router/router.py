"""The router: inputs, outputs, and a crossbar between them."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .arbiter import RoundRobin
from .input import InputPort
from .output import OutputPort
from .route import bits_for
from .shape import RouterShape


def link_members(shape: RouterShape) -> dict[str, wiring.Member]:
    """Members of the links: into port d comes ``in_…_d``, out of it goes ``out_…_d``; credits go the other way."""
    lanes = bits_for(shape.lanes)
    members: dict[str, wiring.Member] = {}
    for d in range(shape.links):
        for way, there, back in (("in", In, Out), ("out", Out, In)):
            members[f"{way}_valid_{d}"] = there(1)
            members[f"{way}_channel_{d}"] = there(lanes)
            members[f"{way}_data_{d}"] = there(shape.width)
            members[f"{way}_last_{d}"] = there(1)
            members[f"{way}_credit_valid_{d}"] = back(1)
            members[f"{way}_credit_channel_{d}"] = back(lanes)
    return members


def local_members(shape: RouterShape) -> dict[str, wiring.Member]:
    """Members of the port to the interface: ``put_…`` from it, ``get_…`` to it, where a channel is an address."""
    lanes, addresses = bits_for(shape.lanes), bits_for(shape.addresses)
    return {
        "put_valid": In(1),
        "put_channel": In(lanes),
        "put_data": In(shape.width),
        "put_last": In(1),
        "put_credit_valid": Out(1),
        "put_credit_channel": Out(lanes),
        "get_valid": Out(1),
        "get_channel": Out(addresses),
        "get_data": Out(shape.width),
        "get_last": Out(1),
        "get_credit_valid": In(1),
        "get_credit_channel": In(addresses),
    }


class Router(wiring.Component):
    """Wormhole router with virtual channels.

    A message at the front of a buffer asks for a channel at an output (one message of each input a cycle, in turn; one grant of
    each output a cycle). Then its words ask for the output one by one (one channel of each input a cycle, in turn; one
    word of each output a cycle), as long as there is room behind it.

    Latency: four cycles from link to link: caught, written, channel given, word granted; it is on the link in the fifth.

    Parameters
    ----------
    shape : RouterShape

    Ports
    -----
    here : Signal, in
        Place of the router, as headers have it. Constant.
    in_…_<d>, out_…_<d> : see `link_members`
    put_…, get_… : see `local_members`
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        super().__init__({"here": In(shape.here_bits), **link_members(shape), **local_members(shape)})
        ports, lanes = range(shape.ports), range(shape.lanes)
        self.inputs = [InputPort(shape=shape) for _ in ports]
        self.outputs = [OutputPort(shape=shape, interface=o == shape.local) for o in ports]
        wide = max(len(output.given_channel) for output in self.outputs)
        self.active = [Signal(shape.lanes, name=f"active_{p}") for p in ports]
        """By input: the message at the front of this channel has been given a channel."""
        self.way = [[Signal(shape.ports, name=f"way_{p}_{c}") for c in lanes] for p in ports]
        """By input and channel: the output, a bit each."""
        self.channel = [[Signal(wide, name=f"channel_{p}_{c}") for c in lanes] for p in ports]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        local, ports, lanes = shape.local, range(shape.ports), range(shape.lanes)
        inputs, outputs = self.inputs, self.outputs
        for p in ports:
            m.submodules[f"input_{p}"] = inputs[p]
            m.submodules[f"output_{p}"] = outputs[p]
        self._join(m, inputs, outputs)

        for p, source in enumerate(inputs):
            m.d.comb += source.here.eq(self.here)
            active, way, channel = self.active[p], self.way[p], self.channel[p]

            # A message asks for a channel.
            m.submodules[f"message_turn_{p}"] = message_turn = RoundRobin(count=shape.lanes)
            m.d.comb += [message_turn.requests.eq(source.some & ~active), message_turn.turn.eq(1)]
            route = Signal(source.route_0.shape(), name=f"route_{p}")
            for c in lanes:
                with m.If(message_turn.grant[c]):
                    m.d.comb += route.eq(getattr(source, f"route_{c}"))
            ask, ask_any, ask_channel = self._choose(route, outputs)
            waits = (source.some & ~active).any()
            given = Signal(shape.ports, name=f"given_{p}")
            given_channel = Signal.like(channel[0], name=f"given_channel_{p}")
            for o in ports:
                m.d.comb += [
                    outputs[o].ask[p].eq(ask[o] & waits),
                    outputs[o].ask_any[p].eq(ask_any),
                    getattr(outputs[o], f"ask_channel_{p}").eq(route.address if o == local else ask_channel),
                    given[o].eq(outputs[o].given[p]),
                ]
                with m.If(outputs[o].given[p]):
                    m.d.comb += given_channel.eq(outputs[o].given_channel)

            # Its words ask for the output.
            m.submodules[f"lane_turn_{p}"] = lane_turn = RoundRobin(count=shape.lanes)
            for c in lanes:
                rooms = [Array(outputs[o].room)[channel[c][: len(outputs[o].given_channel)]] & way[c][o] for o in ports]
                m.d.comb += lane_turn.requests[c].eq(active[c] & source.some[c] & Cat(*rooms).any())
            wanted = Signal(shape.ports, name=f"wanted_{p}")
            wanted_channel = Signal.like(channel[0], name=f"wanted_channel_{p}")
            for c in lanes:
                with m.If(lane_turn.grant[c]):
                    m.d.comb += [wanted.eq(way[c]), wanted_channel.eq(channel[c])]
            last = (source.final & lane_turn.grant).any()
            for o in ports:
                m.d.comb += [
                    outputs[o].want[p].eq(wanted[o]),
                    getattr(outputs[o], f"want_channel_{p}").eq(wanted_channel),
                    outputs[o].want_last[p].eq(last),
                ]
            granted = Cat(*(outputs[o].granted[p] for o in ports)).any()
            m.d.comb += [lane_turn.turn.eq(granted), source.take.eq(Mux(granted, lane_turn.grant, 0))]
            for c in lanes:
                with m.If(message_turn.grant[c] & given.any()):
                    m.d.sync += [active[c].eq(1), way[c].eq(given), channel[c].eq(given_channel)]
                with m.If(source.take[c] & source.final[c]):
                    m.d.sync += active[c].eq(0)
        return m

    def _choose(self, route: Value, outputs: list[OutputPort]) -> tuple[list[Value], Value, Value]:
        """Outputs to ask for, one at most; whether any channel will do; the channel otherwise."""
        shape = self.shape
        if shape.graph is not None:
            links = [route.wanted[o] & outputs[o].free[0] for o in range(shape.links)]
            here = Array(outputs[shape.local].free)[route.address]
            return [*links, ~route.wanted.any() & here], Const(0, 1), Const(0, 1)
        dimensions = range(shape.dimensions)
        wanted = [route.wanted[2 * d] | route.wanted[2 * d + 1] for d in dimensions]
        arrived = ~route.wanted.any()
        late = route.late if shape.torus else Const(0, 1)
        first = [wanted[d] & ~Cat(*wanted[:d]).any() if d else wanted[0] for d in dimensions]
        free = [Mux(late, output.free[1], output.free[0]) if shape.torus else output.free[0] for output in outputs]
        escape = [first[o // 2] & route.wanted[o] & free[o] for o in range(shape.links)]
        spare = Const(0, 1)
        ask: list[Value] = list(escape)
        if shape.routing == "adaptive":
            open_ = [
                route.free & Cat(*(route.wanted[2 * d + s] & outputs[2 * d + s].spare for s in (0, 1))).any()
                for d in dimensions
            ]
            pairs = [(a, b) for a in dimensions for b in dimensions if a < b]
            best = []
            for d in dimensions:
                good = open_[d]
                for (a, b), farther in zip(pairs, route.farther if pairs else [], strict=True):
                    if d == a:
                        good = good & ~(open_[b] & farther)
                    elif d == b:
                        good = good & ~(open_[a] & ~farther)
                best.append(good)
            spare = Cat(*open_).any()
            ask = [Mux(spare, best[o // 2] & route.wanted[o], escape[o]) for o in range(shape.links)]
        here = Array(outputs[shape.local].free)[route.address]
        return [*ask, arrived & here], spare, late

    def _join(self, m: Module, inputs: list[InputPort], outputs: list[OutputPort]) -> None:
        shape = self.shape
        for p, (source, output) in enumerate(zip(inputs, outputs, strict=True)):
            into, out, mark = ("put", "get", "") if p == shape.local else ("in", "out", f"_{p}")

            def side(way: str, name: str, mark: str = mark) -> Signal:
                signal = getattr(self, f"{way}_{name}{mark}")
                assert isinstance(signal, Signal)
                return signal

            m.d.comb += [
                source.valid.eq(side(into, "valid")),
                source.channel.eq(side(into, "channel")),
                source.data.eq(side(into, "data")),
                source.last.eq(side(into, "last")),
                side(into, "credit_valid").eq(source.credit_valid),
                side(into, "credit_channel").eq(source.credit_channel),
                output.credit_valid.eq(side(out, "credit_valid")),
                output.credit_channel.eq(side(out, "credit_channel")),
                side(out, "valid").eq(output.sent.any()),
                side(out, "channel").eq(output.sent_channel),
            ]
            # The crossbar: and-or of the words that were taken one cycle before.
            words: Value = Const(0, shape.width + 1)
            for q, other in enumerate(inputs):
                words = words | Mux(output.sent[q], Cat(other.word, other.word_last), 0)
            m.d.comb += Cat(side(out, "data"), side(out, "last")).eq(words)
