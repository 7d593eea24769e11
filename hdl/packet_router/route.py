"""The routing decision: header and own place to ports."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .header import ADDRESS, ANY
from .routing import up_down_table
from .shape import RouterShape


def bits_for(count: int) -> int:
    """Bits that number ``count`` things, at least one."""
    return max(1, (count - 1).bit_length())


def route_layout(shape: RouterShape) -> StructLayout:
    """What is kept of a header beside its word.

    ``wanted``: a bit for each link on a shortest way, one a dimension at most (in a graph one in all); none on arrival.
    ``farther``: for each pair of dimensions, whether the second has more hops left. ``late``: the link in dimension order is
    taken on channel 1. ``free``: adaptive routing is allowed.
    """
    pairs = shape.dimensions * (shape.dimensions - 1) // 2
    adaptive = shape.routing == "adaptive"
    return StructLayout(
        {
            "wanted": shape.links,
            "farther": pairs if adaptive else 0,
            "late": 1 if shape.torus else 0,
            "free": 1 if adaptive else 0,
            "address": bits_for(shape.addresses),
        }
    )


class Route(wiring.Component):
    """Computes `packet_router.routing.ways` for a header.

    Latency: none.

    Ports
    -----
    here : Signal(here_bits), in
        Place of the router, as headers have it.
    header : Signal(width), in
    route : route_layout, out
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        super().__init__({"here": In(shape.here_bits), "header": In(shape.width), "route": Out(route_layout(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.shape.graph is not None:
            self._look_up(m)
            return m
        shape, shift = self.shape, 0
        wanted: list[Value] = []
        hops: list[Value] = []
        late: Value = Const(0, 1)
        before: list[Value] = []  # a lower dimension has hops left
        for bits, extent in zip(shape.coordinate_bits, shape.size, strict=True):
            if bits == 0:
                wanted += [Const(0, 1), Const(0, 1)]
                hops.append(Const(0, 1))
                continue
            at, to = self.here[shift : shift + bits], self.header[shift : shift + bits]
            shift += bits
            above = Signal(name=f"above_{shift}")
            differs = Signal(name=f"differs_{shift}")
            left = Signal(bits, name=f"hops_{shift}")
            up = Signal(name=f"up_{shift}")
            m.d.comb += [above.eq(to > at), differs.eq(to != at)]
            if shape.torus:
                ahead = Signal(bits, name=f"ahead_{shift}")
                back = Signal(bits, name=f"back_{shift}")
                m.d.comb += [
                    ahead.eq(Mux(above, to - at, to - at + extent)),
                    back.eq(extent - ahead),
                    up.eq(ahead <= extent // 2),
                    left.eq(Mux(up, ahead, back)),
                ]
                late = Mux(Cat(*before).any() if before else Const(0, 1), late, above == up) if before else above == up
            else:
                m.d.comb += [up.eq(above), left.eq(Mux(above, to - at, at - to))]
            wanted += [differs & ~up, differs & up]
            hops.append(left)
            before.append(differs)
        route = self.route
        m.d.comb += route.wanted.eq(Cat(*wanted))
        m.d.comb += route.address.eq(self.header[ADDRESS:])
        if shape.torus:
            m.d.comb += route.late.eq(late)
        if shape.routing == "adaptive":
            pairs = [hops[b] > hops[a] for a in range(shape.dimensions) for b in range(a + 1, shape.dimensions)]
            if pairs:
                m.d.comb += route.farther.eq(Cat(*pairs))
            m.d.comb += route.free.eq(self.header[ANY])
        return m

    def _look_up(self, m: Module) -> None:
        """The table of a graph: a row of ``wanted`` for each node and destination. All routers have the same one, and their
        place as an input; where that is a constant, synthesis leaves the rows of one node."""
        shape = self.shape
        bits = shape.coordinate_bits[0]
        m.d.comb += self.route.address.eq(self.header[ADDRESS:])
        if not bits:
            return
        rows = [0] * (1 << 2 * bits)
        for here, ports in enumerate(up_down_table(shape)):
            for to, port in enumerate(ports):
                rows[here << bits | to] = 0 if port is None else 1 << port
        m.submodules.table = table = Memory(shape=shape.links, depth=len(rows), init=rows)
        port = table.read_port(domain="comb")
        m.d.comb += [port.addr.eq(Cat(self.header[:bits], self.here)), self.route.wanted.eq(port.data)]
