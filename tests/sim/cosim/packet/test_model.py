"""The cycle model: equal to the RTL to the cycle, near a published simulator, and hard to mislead."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.sim import Simulator

from cosim.packet.model import Traffic, run_model
from packet_router.header import ADDRESS
from packet_router.mesh import Mesh
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError

BOOKSIM = {(4, 4): {8: 1749, 32: 1605, 512: 1560, 9: 1941}, (8, 8): {8: 4069, 32: 3733, 512: 3628, 9: 4517}}
"""Cycles of bit reversal, 512 words from every node, e-cube, by words of a packet; corrected BookSim 2."""


PETERSEN_AND_A_RING = RouterShape(
    size=(16,),
    routing="up-down",
    graph=(
        *((n, (n + 1) % 5) for n in range(5)),
        *((n, n + 5) for n in range(5)),
        *((n + 5, (n + 2) % 5 + 5) for n in range(5)),
        *((n, n + 1) for n in range(9, 15)),
        (15, 0),
    ),
)


def reversal(nodes: int) -> tuple[int, ...]:
    bits = nodes.bit_length() - 1
    return tuple(int(format(node, f"0{bits}b")[::-1], 2) for node in range(nodes))


@pytest.mark.parametrize("size", BOOKSIM)
def test_dimension_order_is_that_of_a_published_simulator(size):
    shape = RouterShape(size=size)
    for words, reference in BOOKSIM[size].items():
        packets = 64 if words == 9 else 512 // words
        delivery = run_model(shape, Traffic(reversal(shape.nodes), words, packets))
        assert abs(delivery.cycles / reference - 1) < 0.05


def test_adaptive_is_near_the_best_of_a_published_simulator():
    for size, reference in (((4, 4), 738), ((8, 8), 1910), ((4, 4, 4), 1210)):
        shape = RouterShape(size=size, routing="adaptive")
        cycles = [run_model(shape, Traffic(reversal(shape.nodes), words, 512 // words)).cycles for words in (8, 16, 32)]
        assert min(cycles) < 1.1 * reference


@pytest.mark.parametrize(
    "shape",
    [
        RouterShape(size=(2, 2)),
        RouterShape(size=(3,), torus=True, queue=2, addresses=4),
        RouterShape(size=(2, 2), routing="adaptive", channels=3, buffer=4, addresses=2),
        RouterShape(
            size=(5,), routing="up-down", graph=((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)), buffer=4, addresses=2
        ),
    ],
    ids=["e-cube", "torus", "adaptive", "graph"],
)
def test_rtl_agrees_to_the_cycle(shape):
    chance = np.random.default_rng(3)
    cases = [
        Traffic(tuple(int(end) for end in chance.permutation(shape.nodes)), words, packets)
        for words, packets in ((1, 3), (5, 3))
    ]
    told = [run_model(shape, traffic) for traffic in cases]
    found = _simulated(shape, [(traffic, expected.cycles + 20) for traffic, expected in zip(cases, told, strict=True)])
    for traffic, expected, (last, sums) in zip(cases, told, found, strict=True):
        assert last == expected.last.tolist()
        assert sums == expected.sums.tolist() == [traffic.checksum(shape, node) for node in range(shape.nodes)]


def _simulated(shape: RouterShape, cases: list[tuple[Traffic, int]]) -> list[tuple[list[int], list[int]]]:
    """Last cycle and checksum of each node for each traffic, in so many cycles; each begins with a reset."""
    dut = Mesh(shape=shape, open_sides=True)
    found: list[tuple[list[int], list[int]]] = []

    async def bench(ctx):
        traffic, cycles = cases[len(found)]
        last, sums = [-1] * shape.nodes, [0] * shape.nodes
        sides = [{n: getattr(dut, f"{n}_{i}") for n in dut.members} for i in range(shape.nodes)]
        sent = [traffic.packets * traffic.words if traffic.ends[n] == n else 0 for n in range(shape.nodes)]
        took = [False] * shape.nodes
        for time in range(cycles):
            for node, side in enumerate(sides):
                if took[node]:
                    sums[node] = (sums[node] + ctx.get(side["take_data"])) % (1 << 32)
                packet, word = divmod(sent[node], traffic.words)
                sends = packet < traffic.packets
                data = (
                    traffic.header(shape, node) | traffic.address(shape, packet) << ADDRESS if word == 0 else sent[node]
                )
                ctx.set(side["send"], sends)
                ctx.set(side["send_data"], data)
                ctx.set(side["send_last"], word == traffic.words - 1)
                sent[node] += sends and ctx.get(side["send_ready"])
                full = ctx.get(side["full"])
                took[node] = full != 0
                ctx.set(side["take"], took[node])
                ctx.set(side["take_address"], (full & -full).bit_length() - 1 if full else 0)
                if full:
                    last[node] = time
            await ctx.tick()
        found.append((last, sums))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    for _ in cases[1:]:
        simulator.run()
        simulator.reset()
    simulator.run()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("routing", ["e-cube", "adaptive", "up-down"])
def test_compiled_rtl_agrees_to_the_cycle(routing):
    from cosim.packet.traffic import run_traffic

    shape = RouterShape(size=(4, 4), routing=routing) if routing != "up-down" else PETERSEN_AND_A_RING
    for words in (8, 32, 512):
        traffic = Traffic(reversal(16), words, 512 // words)
        expected, found = run_model(shape, traffic), run_traffic(shape, traffic)
        assert np.array_equal(expected.last, found.last)
        assert np.array_equal(expected.sums, found.sums)


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        (Traffic((0, 1, 2), 8, 1), "ends must be given for 4 nodes, not 3"),
        (Traffic((0, 1, 2, 2), 8, 1), "ends must be a permutation of the nodes"),
        (Traffic((3, 2, 1, 0), 0, 1), "words of a packet must be 1 to 1048576, not 0"),
        (Traffic((3, 2, 1, 0), 1, -3), "packets must be 1 to 1048576, not -3"),
    ],
)
def test_traffic_that_makes_no_sense_is_refused(traffic, message):
    with pytest.raises(PointsmanError) as error:
        run_model(RouterShape(size=(2, 2)), traffic)
    assert error.value.message == message


def test_words_that_do_not_come_in_time_are_told():
    with pytest.raises(PointsmanError, match=r"^32 words are on their way after 3 cycles$"):
        run_model(RouterShape(size=(2, 2)), Traffic((1, 0, 3, 2), 8, 1), max_cycles=3)
