"""The station against its model: withdrawn requests come back in time, and nothing else changes."""

from __future__ import annotations

import random

import pytest
from amaranth.sim import Simulator

from tdm_switch.shape import SwitchShape
from tdm_switch.station import Station, patience

SHAPE = SwitchShape(ports=3, slots=2, queue_depth=4, buffer_depth=4, age_bits=4)


def test_a_window_is_longer_than_any_time_out() -> None:
    for bits in range(17):
        assert patience(SwitchShape(age_bits=bits)) >= 1 << bits
        assert patience(SwitchShape(age_bits=bits)) >= 16


def run(station: Station, script) -> None:
    simulator = Simulator(station)
    simulator.add_clock(1e-6)
    simulator.add_testbench(script)
    simulator.run()


def test_a_request_that_gets_nowhere_is_withdrawn_for_two_windows_and_comes_back() -> None:
    station, window = Station(shape=SHAPE), patience(SHAPE)
    seen = []

    async def script(ctx) -> None:
        ctx.set(station.p_address, 1)
        ctx.set(station.p_write, 1)
        await ctx.tick()
        ctx.set(station.p_write, 0)
        ctx.set(station.grant, 0b010)
        for _ in range(5 * window):
            seen.append(ctx.get(station.request))
            await ctx.tick()

    run(station, script)
    asked = [bool(request & 2) for request in seen]
    first = asked.index(False)
    assert first <= window
    assert asked[first : first + 2 * window] == [False] * (2 * window)
    assert asked[first + 2 * window]


def test_a_word_that_gets_through_brings_the_request_back_at_once() -> None:
    station, window = Station(shape=SHAPE), patience(SHAPE)
    after = []

    async def script(ctx) -> None:
        ctx.set(station.p_address, 2)
        ctx.set(station.p_write, 1)
        await ctx.tick().repeat(3)
        ctx.set(station.p_write, 0)
        ctx.set(station.grant, 0b100)
        while ctx.get(station.request):
            await ctx.tick()
        ctx.set(station.out_ready, 1)
        await ctx.tick()
        after.append(ctx.get(station.request))
        after.append(ctx.get(station.out_valid))

    run(station, script)
    assert after == [0b100, 1]
    assert window == 16


@pytest.mark.parametrize("seed", range(3))
def test_requests_that_move_now_and_then_are_never_withdrawn(seed: int) -> None:
    station = Station(shape=SHAPE)
    chance = random.Random(seed)

    async def script(ctx) -> None:
        for cycle in range(200):
            ctx.set(station.p_address, chance.randrange(3))
            ctx.set(station.p_write, 1)
            ctx.set(station.grant, 1 << cycle % 3)
            ctx.set(station.out_ready, int(cycle // 3 % 3 == 0 or chance.random() < 0.1))
            assert ctx.get(station.request) == ctx.get(station.nic.request)
            await ctx.tick()

    run(station, script)
