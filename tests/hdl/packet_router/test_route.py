"""The routing decision in hardware is the pure function."""

from __future__ import annotations

import pytest
from amaranth.sim import Simulator

from packet_router.header import pack_header
from packet_router.route import Route
from packet_router.routing import ways
from packet_router.shape import RouterShape


@pytest.mark.parametrize(
    "shape",
    [
        RouterShape(size=(4,)),
        RouterShape(size=(5, 3)),
        RouterShape(size=(5,), torus=True),
        RouterShape(size=(3, 4), torus=True, routing="adaptive"),
        RouterShape(size=(3, 3, 2), routing="adaptive"),
        RouterShape(size=(2, 3, 2), torus=True, routing="adaptive"),
        RouterShape(size=(1, 4), routing="adaptive"),
        RouterShape(size=(5,), routing="up-down", graph=((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3))),
    ],
    ids=lambda s: f"{s.routing}-{'x'.join(map(str, s.size))}{'t' * s.torus}",
)
def test_hardware_agrees_with_the_function(shape):
    dut = Route(shape=shape)

    async def bench(ctx):
        for here in range(shape.nodes):
            ctx.set(dut.here, shape.pack(shape.place(here)))
            for to in range(shape.nodes):
                ctx.set(dut.header, pack_header(shape, to, 1 + to % 15, any_way=to % 2 == 1))
                route = ctx.get(dut.route)
                expected = ways(shape, shape.place(here), shape.place(to))
                wanted = [port for port in range(shape.links) if route.wanted >> port & 1]
                assert route.address == 1 + to % 15
                if expected is None:
                    assert wanted == []
                    continue
                assert wanted[0] == expected.escape[0]
                if shape.torus:
                    assert route.late == expected.escape[1]
                if shape.routing == "adaptive":
                    assert sorted(expected.adaptive) == wanted
                    assert route.free == to % 2
                    best = [p for p in wanted if all(_before(shape, route.farther, p, q) for q in wanted if q != p)]
                    assert best == [expected.adaptive[0]]

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


def _before(shape: RouterShape, farther: int, p: int, q: int) -> bool:
    """Does port p come before port q, by the bits of ``farther``?"""
    pairs = [(a, b) for a in range(shape.dimensions) for b in range(a + 1, shape.dimensions)]
    a, b = p // 2, q // 2
    bit = farther >> pairs.index((min(a, b), max(a, b))) & 1
    return bool(bit) == (a > b)
