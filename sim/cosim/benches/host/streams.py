"""Bench of the streams at interface registers: cocotbext-axi's sources and sinks pause at random, and every word is checked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Combine, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from cosim.benches.coverage import Coverage
from cosim.benches.harness import Task, report
from host.shape import HostShape

from .catalogue import BENCHES, pairs

WORDS = 60
"""Words through each pair of registers in a round."""
LIMIT = 120_000
"""Steps of the simulator, two a cycle, after which the bench must be over."""
ROUNDS = {"never stalled": 0.0, "sometimes stalled": 0.3, "mostly stalled": 0.8}


@cocotb.test(timeout_time=LIMIT, timeout_unit="step")
async def streams(dut: Any) -> None:
    """No word is lost, doubled, changed or out of order, whoever stalls, and a reset leaves nothing behind."""
    task = Task.given()
    shape: HostShape = task.among(BENCHES).shape
    random = task.random("words")
    coverage = Coverage()
    coverage.group("rounds", (*ROUNDS, "after a reset"))
    for node in range(shape.nodes):
        getattr(dut, f"move_{node}").value = 0
    dut.rst.value = 1
    Clock(dut.clk, 2, unit="step").start()
    # Each word goes from the stream into an even register, on to the odd one, and out of it.
    sources, sinks = {}, {}
    for node, register in pairs(shape):
        into, out = f"s_axis_{node}_{register}", f"m_axis_{node}_{register + 1}"
        sources[node, register] = AxiStreamSource(AxiStreamBus.from_prefix(dut, into), dut.clk, dut.rst, byte_lanes=1)
        sinks[node, register] = AxiStreamSink(AxiStreamBus.from_prefix(dut, out), dut.clk, dut.rst, byte_lanes=1)
    cocotb.start_soon(_move(dut, shape, random))
    await _reset(dut)
    compared = 0

    async def through(pair: tuple[int, int]) -> None:
        nonlocal compared
        words = [random.getrandbits(shape.width) for _ in range(WORDS)]
        for word in words:
            sources[pair].send_nowait(AxiStreamFrame([word]))
        for k, word in enumerate(words):
            got = (await sinks[pair].recv()).tdata[0]
            assert got == word, f"node {pair[0]}, register {pair[1]}, word {k}: {got:#x} and not {word:#x}"
            compared += 1

    try:
        for name, stalls in ROUNDS.items():
            for part in (*sources.values(), *sinks.values()):
                part.set_pause_generator(_pauses(random, stalls))
            await Combine(*(cocotb.start_soon(through(pair)) for pair in sources))
            coverage.hit("rounds", name)
        for pair, source in sources.items():  # words under way when the reset comes
            for _ in range(3):
                source.send_nowait(AxiStreamFrame([pair[0] << 8 | pair[1]]))
        for _ in range(7):
            await RisingEdge(dut.clk)
        await _reset(dut)
        for part in (*sources.values(), *sinks.values()):
            part.clear()
            part.set_pause_generator(_pauses(random, 0.3))
        await Combine(*(cocotb.start_soon(through(pair)) for pair in sources))
        coverage.hit("rounds", "after a reset")
        for _ in range(20):
            await RisingEdge(dut.clk)
        assert all(sink.empty() for sink in sinks.values()), "a word has come twice"
    finally:
        report(task, int(get_sim_time("step")) // 2, compared, coverage)


async def _reset(dut: Any) -> None:
    dut.rst.value = 1
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


def _pauses(random: Random, share: float) -> Iterator[bool]:
    while True:
        yield random.random() < share


async def _move(dut: Any, shape: HostShape, random: Random) -> None:
    """Let words go on in some of the cycles."""
    while True:
        await RisingEdge(dut.clk)
        for node in range(shape.nodes):
            getattr(dut, f"move_{node}").value = random.getrandbits(shape.registers) if random.random() < 0.6 else 0
