"""Routers, interfaces and links together: nothing lost, doubled or mixed up, and to the cycle what the model says."""

from __future__ import annotations

from random import Random

import pytest
from amaranth.sim import Simulator

from cosim.packet.messages import Messages, WrongMessageError
from packet_router.header import pack_header
from packet_router.mesh import Mesh, joints, neighbour
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape

SMALL = {"buffer": 4, "queue": 4, "addresses": 4}
SHAPES = [
    RouterShape(size=(1, 1), **SMALL),
    RouterShape(size=(3,), **SMALL),
    RouterShape(size=(2, 2), **SMALL),
    RouterShape(size=(3,), torus=True, **SMALL),
    RouterShape(size=(2, 2), routing="adaptive", channels=2, **SMALL),
    RouterShape(size=(2, 1, 2), routing="adaptive", channels=3, torus=True, **SMALL),
    RouterShape(size=(5,), routing="up-down", graph=((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)), **SMALL),
]


def run_messages(shape: RouterShape, messages: Messages, limit: int = 3000) -> None:
    dut = Mesh(shape=shape, open_sides=True)

    async def bench(ctx):
        sides = [{n: getattr(dut, f"{n}_{i}") for n in dut.members} for i in range(shape.nodes)]
        for _ in range(limit):
            for node, side in enumerate(sides):
                messages.check(node, ctx.get(side["take_data"]))
                values = messages.drive(node, bool(ctx.get(side["send_ready"])), ctx.get(side["full"]))
                for name, value in values.items():
                    ctx.set(side[name], value)
            if messages.finished:
                return
            await ctx.tick()
        raise AssertionError(f"{messages.left} words have not come")

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.routing}-{'x'.join(map(str, s.size))}{'t' * s.torus}")
def test_every_message_arrives_once_whole_and_in_order(shape):
    messages = Messages(shape, Random(7), count=8, longest=10)
    run_messages(shape, messages)
    assert all(not due for due in messages.underway.values())
    assert messages.seen["longer than a buffer"]


def test_the_judge_notices_lost_swapped_and_foreign_words():
    shape = RouterShape(size=(2,), **SMALL)
    for fault in ("order", "word", "header"):
        messages = Messages(shape, Random(1), count=0)
        for number in range(2):
            messages._add(0, number, 4)
        first, second = messages.sending[0].queue
        for message in (first, second):
            header = pack_header(shape, 1, 2, source=0, tag=message.number)
            message.destination, message.address, message.words = 1, 2, [header, message.number + 50]
        messages.underway[0, 1, 2] = [first, second]
        stream = {"order": second.words, "word": [first.words[0], 9], "header": [first.words[0] ^ 1]}[fault]
        messages.taking[1] = 2
        with pytest.raises(WrongMessageError):
            _check_all(messages, stream)


def _check_all(messages: Messages, stream: list[int]) -> None:
    for word in stream:
        messages.check(1, word)


def test_message_for_a_place_that_does_not_exist_is_lost_and_blocks_nobody():
    shape = RouterShape(size=(3, 1), **SMALL)
    dut = Mesh(shape=shape)

    async def bench(ctx):
        async def send(words):
            for k, word in enumerate(words):
                while ctx.get(dut.p_write_full_0) & 1:
                    await ctx.tick()
                ctx.set(dut.p_write_0, 1)
                ctx.set(dut.p_address_0, LAST if k == len(words) - 1 else WORD)
                ctx.set(dut.p_write_data_0, word)
                await ctx.tick()
                ctx.set(dut.p_write_0, 0)

        await send([3 | 1 << 12, *range(20)])  # x = 3 of 0 to 2
        await send([pack_header(shape, 2, 1), 77])
        for _ in range(60):
            if ctx.get(dut.p_read_full_2) & 2:
                break
            await ctx.tick()
        ctx.set(dut.p_read_2, 1)
        ctx.set(dut.p_address_2, 1)
        await ctx.tick().repeat(2)
        ctx.set(dut.p_read_2, 0)
        assert ctx.get(dut.p_read_data_2) == 77

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.routing}-{'x'.join(map(str, s.size))}{'t' * s.torus}")
def test_every_link_joins_two_ports_once(shape):
    drivers = [driver for node in range(shape.nodes) for driver in joints(shape, node).values() if driver is not None]
    assert len(drivers) == len(set(drivers))
    for node in range(shape.nodes):
        for port in range(shape.links):
            end = neighbour(shape, node, port)
            assert end is None or neighbour(shape, *end) == (node, port)
