"""The nodes of the benches: words that are written, go on when they may, and are taken."""

from __future__ import annotations

from amaranth.sim import Simulator

from cosim.benches.host.rig import Rig
from host.axi_lite import AxiLiteBridge
from host.shape import HostShape


def test_a_word_goes_from_an_even_register_to_the_odd_one_when_it_may() -> None:
    rig = Rig(AxiLiteBridge, HostShape(nodes=1, registers=2))
    bridge = rig.bridge
    seen: list[int] = []

    async def bench(ctx):  # type: ignore[no-untyped-def]
        ctx.set(rig.s_axil_awvalid, 1)
        ctx.set(rig.s_axil_wvalid, 1)
        ctx.set(rig.s_axil_wdata, 77)
        ctx.set(rig.s_axil_wstrb, 15)
        await ctx.tick()
        ctx.set(rig.s_axil_awvalid, 0)
        ctx.set(rig.s_axil_wvalid, 0)
        for cycle in range(12):
            ctx.set(rig.move_0, int(cycle > 6))
            seen.append(ctx.get(bridge.p_full_0))
            await ctx.tick()

    simulator = Simulator(rig)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert sorted(set(seen)) == [0, 1, 2]
    assert seen == sorted(seen)
