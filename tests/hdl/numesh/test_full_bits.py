"""Full bits: filled, emptied, looked up at random against a list; emptied by reset."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from numesh.full_bits import FullBits
from numesh.shape import NodeShape


def _run(bits: Any, bench: Any) -> None:
    simulator = Simulator(bits)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("vfsms", [2, 8, 32])
def test_a_look_up_tells_what_the_last_event_did(vfsms: int) -> None:
    random = Random(vfsms)
    bits = FullBits(shape=NodeShape(vfsms=vfsms), lookups=2)
    found: set[tuple[bool, bool]] = set()

    async def bench(context: Any) -> None:
        full = [False] * vfsms
        asked: list[list[tuple[int, bool]]] = []
        indices = [0, 0]
        for cycle in range(600):
            if len(asked) > 2:
                for k, (index, then) in enumerate(asked[-1]):
                    assert context.get(getattr(bits, f"full_{k}")) == then, f"cycle {cycle}, buffer {index}"
            put, got = random.randrange(vfsms), random.randrange(vfsms)
            fill, keep = random.random() < 0.3, random.random() < 0.2
            clear = random.random() < 0.5 and cycle > 0 and not ((fill or keep) and put == got)
            inputs = {"fill": fill, "keep": keep, "put": put, "clear": clear, "got": got}
            for name, value in inputs.items():
                context.set(getattr(bits, name), int(value))
            asked.append([(index, full[index]) for index in indices])
            indices = [random.randrange(vfsms) for _ in range(2)]
            for k, index in enumerate(indices):
                context.set(getattr(bits, f"index_{k}"), index)
            found.add((full[put], fill or keep))
            if clear:
                full[got] = False
            if fill or keep:
                full[put] = True
            await context.tick()

    _run(bits, bench)
    assert len(found) == 4


@pytest.mark.parametrize("vfsms", [2, 16])
def test_a_reset_of_as_many_cycles_as_buffers_empties_all(vfsms: int) -> None:
    shape = NodeShape(vfsms=vfsms)
    bits = FullBits(shape=shape, lookups=1)
    reset = Signal()

    async def bench(context: Any) -> None:
        await context.tick()
        for v in range(vfsms):
            context.set(bits.fill, 1)
            context.set(bits.put, v)
            await context.tick()
        context.set(bits.fill, 0)
        await context.tick()
        for expected in (1, 0):
            for v in range(vfsms):
                context.set(bits.index_0, v)
                await context.tick()
                await context.tick()
                assert context.get(bits.full_0) == expected, f"buffer {v}"
            context.set(reset, 1)
            for _ in range(shape.reset_cycles):
                await context.tick()
            context.set(reset, 0)
            await context.tick()

    _run(ResetInserter(reset)(bits), bench)
