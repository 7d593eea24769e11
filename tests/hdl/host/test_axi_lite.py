"""What AXI4-Lite demands within a cycle, and how many cycles accesses take; the rest is in benches and proofs."""

from __future__ import annotations

import random

import pytest
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from host.axi_lite import OKAY, SLVERR, AxiLiteBridge, bus_members
from host.shape import HostShape


def simulate(bridge: AxiLiteBridge, bench) -> None:
    simulator = Simulator(bridge)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("blocked", ["stall", "error"])
def test_no_way_leads_from_inputs_of_the_bus_to_its_outputs_within_a_cycle(blocked) -> None:
    """AMBA AXI, A3.1.1: "there must be no combinatorial paths between input and output signals"."""
    bridge = AxiLiteBridge(shape=HostShape(nodes=2, registers=3, blocked=blocked))
    members = bus_members(bridge.shape)
    draw = random.Random(3)
    states = set()

    async def bench(ctx) -> None:
        for _ in range(400):
            for node in range(2):
                ctx.set(getattr(bridge, f"p_full_{node}"), draw.getrandbits(3))
            seen = set()
            for _ in range(4):
                for name, member in members.items():
                    if member.flow == In:
                        port = getattr(bridge, name)
                        ctx.set(port, draw.choice((0, draw.getrandbits(len(port)))))
                seen.add(tuple(ctx.get(getattr(bridge, name)) for name, m in members.items() if m.flow == Out))
            assert len(seen) == 1
            states.update(seen)
            await ctx.tick()

    simulate(bridge, bench)
    assert len(states) > 10


@pytest.mark.parametrize(("address_after", "data_after"), [(0, 0), (0, 4), (4, 0), (1, 0)])
def test_address_and_data_come_in_any_order_and_each_is_taken_at_once(address_after, data_after) -> None:
    bridge = AxiLiteBridge(shape=HostShape(nodes=1, registers=2))

    async def bench(ctx) -> None:
        ctx.set(bridge.s_axil_awaddr, bridge.shape.register(0, 1))
        ctx.set(bridge.s_axil_wdata, 77)
        ctx.set(bridge.s_axil_wstrb, 15)
        ctx.set(bridge.s_axil_bready, 1)
        writes = []
        for cycle in range(12):
            ctx.set(bridge.s_axil_awvalid, cycle == address_after)
            ctx.set(bridge.s_axil_wvalid, cycle == data_after)
            if cycle == address_after:
                assert ctx.get(bridge.s_axil_awready)
            if cycle == data_after:
                assert ctx.get(bridge.s_axil_wready)
            if ctx.get(bridge.p_write_0):
                writes.append((cycle, ctx.get(bridge.p_address_0), ctx.get(bridge.p_write_data_0)))
            assert ctx.get(bridge.s_axil_bvalid) == (cycle == max(address_after, data_after) + 2)
            await ctx.tick()
        assert writes == [(max(address_after, data_after) + 1, 1, 77)]

    simulate(bridge, bench)


def test_accesses_take_the_cycles_that_the_documentation_says() -> None:
    """docs/host.md: three for a write, four for a read of a register, three of another word; the first and last counted."""
    shape = HostShape(nodes=1, registers=2)
    bridge = AxiLiteBridge(shape=shape)

    async def cycles(ctx, kind: str, address: int, answer: int) -> int:
        """From *valid* to the answer that is taken."""
        channels, answers = (("aw", "w"), "b") if kind == "write" else (("ar",), "r")
        ctx.set(getattr(bridge, f"s_axil_{channels[0]}addr"), address)
        ctx.set(getattr(bridge, f"s_axil_{answers}ready"), 1)
        for count in range(1, 12):
            for channel in channels:
                ctx.set(getattr(bridge, f"s_axil_{channel}valid"), count == 1)
            done = ctx.get(getattr(bridge, f"s_axil_{answers}valid"))
            if done:
                assert ctx.get(getattr(bridge, f"s_axil_{answers}resp")) == answer
            await ctx.tick()
            if done:
                return count
        raise AssertionError("there is no answer")

    async def bench(ctx) -> None:
        ctx.set(bridge.s_axil_wstrb, 15)
        ctx.set(bridge.p_full_0, 0b10)
        assert await cycles(ctx, "write", shape.register(0, 0), OKAY) == 3
        assert await cycles(ctx, "write", shape.register(0, 0) + 1, SLVERR) == 3
        assert await cycles(ctx, "read", shape.register(0, 1), OKAY) == 4
        assert await cycles(ctx, "read", shape.control("VERSION"), OKAY) == 3

    simulate(bridge, bench)
