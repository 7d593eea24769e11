"""How many cycles accesses of the Wishbone bridge take; the rest is in benches."""

from __future__ import annotations

from amaranth.sim import Simulator

from host.shape import HostShape
from host.wishbone import WishboneBridge


def test_accesses_take_the_cycles_that_the_documentation_says() -> None:
    """docs/host.md: two for a write, three for a read of a register, two of another word; the first and last counted."""
    shape = HostShape(nodes=1, registers=2)
    bridge = WishboneBridge(shape=shape)

    async def cycles(ctx, address: int, *, write: bool, error: bool = False) -> int:
        """From the strobe to the answer; the strobe of the next access may come in the cycle after."""
        ctx.set(bridge.wbs_adr, address)
        ctx.set(bridge.wbs_we, write)
        for name in ("cyc", "stb"):
            ctx.set(getattr(bridge, f"wbs_{name}"), 1)
        for count in range(1, 12):
            done = ctx.get(bridge.wbs_ack), ctx.get(bridge.wbs_err)
            await ctx.tick()
            if any(done):
                assert done == (not error, error)
                return count
        raise AssertionError("there is no answer")

    async def bench(ctx) -> None:
        ctx.set(bridge.wbs_sel, 15)
        ctx.set(bridge.p_full_0, 0b10)
        assert await cycles(ctx, shape.register(0, 0), write=True) == 2
        assert await cycles(ctx, shape.register(0, 0) + 1, write=True, error=True) == 2
        assert await cycles(ctx, shape.register(0, 1), write=False) == 3
        assert await cycles(ctx, shape.control("VERSION"), write=False) == 2

    simulator = Simulator(bridge)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
