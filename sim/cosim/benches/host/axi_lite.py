"""Bench of the AXI4-Lite bridge: cocotbext-axi's master writes and reads, and everything that comes is checked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import cocotb
from amaranth.lib.wiring import In
from cocotb.clock import Clock
from cocotb.triggers import Combine, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from cosim.benches.coverage import Coverage
from cosim.benches.harness import Task, report
from host.axi_lite import bus_members
from host.shape import VERSION, HostShape

from .catalogue import BENCHES

WORDS = 60
"""Words through each pair of registers in a round."""
LIMIT = 2_000_000
"""Steps of the simulator, two a cycle, after which the bench must be over."""
BINS = (
    "write waits",
    "read waits",
    "write refused",
    "read refused",
    "strange address",
    "part of a word",
    "between words",
    "flags",
    "interrupt",
    "done",
    "cycles",
    "reset with accesses under way",
)


class AxiHost:
    """The master and what is known of the words under way."""

    def __init__(self, dut: Any, shape: HostShape, random: Random, coverage: Coverage) -> None:
        self.dut, self.shape, self.random, self.coverage = dut, shape, random, coverage
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        self.compared = 0
        self.stalls = 0.5

    def hit(self, name: str) -> None:
        self.coverage.hit("accesses", name)

    async def write(self, address: int, word: int) -> AxiResp:
        done = await self.master.write(address, word.to_bytes(self.shape.bytes, "little"))
        return done.resp if done is not None else AxiResp.SLVERR  # broken off by a reset

    async def read(self, address: int) -> tuple[int, AxiResp]:
        done = await self.master.read(address, self.shape.bytes)
        return (int.from_bytes(done.data, "little"), done.resp) if done is not None else (0, AxiResp.SLVERR)

    async def same(self, address: int, wanted: int) -> None:
        found, answer = await self.read(address)
        assert answer == AxiResp.OKAY, f"address {address:#x} answers {answer}"
        assert found == wanted, f"address {address:#x} holds {found:#x} and not {wanted:#x}"
        self.compared += 1

    def pauses(self) -> Iterator[bool]:
        while True:
            yield self.random.random() < self.stalls

    async def move(self) -> None:
        """Let words go on in some of the cycles."""
        while True:
            await RisingEdge(self.dut.clk)
            for node in range(self.shape.nodes):
                getattr(self.dut, f"move_{node}").value = (
                    self.random.getrandbits(self.shape.registers) if self.random.random() > self.stalls else 0
                )

    async def send(self, node: int, register: int, words: list[int]) -> None:
        for word in words:
            while await self.write(self.shape.register(node, register), word) != AxiResp.OKAY:
                self.hit("write refused")
            self.hit("write waits")

    async def receive(self, node: int, register: int, words: list[int]) -> None:
        for word in words:
            while True:
                found, answer = await self.read(self.shape.register(node, register))
                if answer == AxiResp.OKAY:
                    break
                self.hit("read refused")
            assert found == word, f"node {node}, register {register}: {found:#x} and not {word:#x}"
            self.compared += 1
            self.hit("read waits")

    async def control(self) -> None:
        """The bridge's own words."""
        shape = self.shape
        await self.same(shape.control("VERSION"), VERSION)
        first, _ = await self.read(shape.control("CYCLES_LOW"))
        for _ in range(20):
            await RisingEdge(self.dut.clk)
        second, _ = await self.read(shape.control("CYCLES_LOW"))
        assert 20 <= second - first < 200, f"{second - first} cycles for 20 and two accesses"
        self.hit("cycles")
        await self.write(shape.control("DONE"), 1)
        await self.same(shape.control("DONE"), 1)
        assert int(self.dut.done.value) == 1
        self.hit("done")
        await self.write(shape.control("DONE"), 0)
        for strange in (shape.full(0), shape.control("VERSION"), (shape.nodes * shape.page + 15) * shape.bytes):
            assert await self.write(strange, 1) == AxiResp.SLVERR
        beyond = (shape.nodes * shape.page + 9) * shape.bytes
        assert (await self.read(beyond))[1] == AxiResp.SLVERR
        if shape.registers < shape.room:
            assert (await self.read(shape.register(0, shape.registers)))[1] == AxiResp.SLVERR
        self.hit("strange address")
        found, _ = await self.read(shape.control("ERRORS"))
        assert found & 4
        await self.write(shape.control("ERRORS"), 7)
        await self.same(shape.control("ERRORS"), 0)
        half = await self.master.write(shape.control("DONE"), b"\1")
        assert half.resp == AxiResp.SLVERR
        await self.same(shape.control("DONE"), 0)
        self.hit("part of a word")

    async def interrupt(self) -> None:
        """A word that comes interrupts the host, if it wants that, until it is taken."""
        shape, node = self.shape, self.shape.nodes - 1
        assert not int(self.dut.irq.value)
        await self.write(shape.control("ERRORS"), 7)
        await self.write(shape.mask(node), 0b10)
        await self.write(shape.control("ENABLE"), 0b001)
        await self.write(shape.register(node, 0), 77)
        for _ in range(1000):
            await RisingEdge(self.dut.clk)
            if int(self.dut.irq.value):
                break
        assert int(self.dut.irq.value)
        await self.same(shape.control("PENDING"), 1)
        await self.same(shape.full(node), 0b10)
        self.hit("flags")
        await self.same(shape.register(node, 1), 77)
        await RisingEdge(self.dut.clk)
        await RisingEdge(self.dut.clk)
        assert not int(self.dut.irq.value)
        await self.write(shape.mask(node), 0)
        self.hit("interrupt")


@cocotb.test(timeout_time=LIMIT, timeout_unit="step")
async def axi_lite(dut: Any) -> None:
    """No word is lost, doubled or out of order; errors are answered; the bridge's own words do what they say."""
    task = Task.given()
    shape: HostShape = task.among(BENCHES).shape
    random = task.random("words")
    coverage = Coverage()
    hard: dict[str, str] = {}
    if shape.blocked == "stall":
        hard = dict.fromkeys(("write refused", "read refused"), "accesses wait")
    coverage.group("accesses", BINS, hard)
    for node in range(shape.nodes):
        getattr(dut, f"move_{node}").value = 0
    dut.rst.value = 1
    Clock(dut.clk, 2, unit="step").start()
    await _between_words(dut, shape)
    coverage.hit("accesses", "between words")
    bench = AxiHost(dut, shape, random, coverage)
    try:
        await bench.control()
        cocotb.start_soon(bench.move())
        for channel in (bench.master.write_if, bench.master.read_if):
            for side in ("aw_channel", "w_channel", "b_channel", "ar_channel", "r_channel"):
                if hasattr(channel, side):
                    getattr(channel, side).set_pause_generator(bench.pauses())
        for stalls in (0.0, 0.5, 0.9):
            bench.stalls = stalls
            pairs = [(node, r) for node in range(shape.nodes) for r in range(0, min(shape.registers - 1, 6), 2)]
            tasks = []
            for node, register in pairs:
                words = [random.getrandbits(shape.width) for _ in range(WORDS)]
                if shape.blocked == "stall":
                    # With a write and a read under way at a time, a pair whose words are all sent first would be stuck.
                    await Combine(
                        cocotb.start_soon(bench.send(node, register, words)),
                        cocotb.start_soon(bench.receive(node, register + 1, words)),
                    )
                else:
                    tasks += [
                        cocotb.start_soon(bench.send(node, register, words)),
                        cocotb.start_soon(bench.receive(node, register + 1, words)),
                    ]
            if tasks:
                await Combine(*tasks)
        bench.stalls = 0.3
        await bench.interrupt()
        await _reset(bench)
        missing = coverage.groups["accesses"].missing
        assert not missing, f"never seen: {', '.join(missing)}"
    finally:
        report(task, int(get_sim_time("step")) // 2, bench.compared, coverage)


async def _between_words(dut: Any, shape: HostShape) -> None:
    """Accesses at addresses between words, which the master never makes, end with errors; then a reset."""
    inputs = [name for name, member in bus_members(shape).items() if member.flow == In]
    for name in inputs:
        getattr(dut, name).value = 0
    dut.s_axil_awaddr.value = dut.s_axil_araddr.value = shape.control("DONE") + 2
    dut.s_axil_wdata.value = 1
    dut.s_axil_wstrb.value = 2**shape.bytes - 1
    await _reset_for(dut, 4)
    for answer, asked in (("r", ("arvalid",)), ("b", ("awvalid", "wvalid"))):
        for name in asked:
            getattr(dut, f"s_axil_{name}").value = 1
        await RisingEdge(dut.clk)
        for name in asked:
            getattr(dut, f"s_axil_{name}").value = 0
        for _ in range(8):
            await RisingEdge(dut.clk)
        assert int(getattr(dut, f"s_axil_{answer}valid").value), "there is no answer"
        assert int(getattr(dut, f"s_axil_{answer}resp").value) == AxiResp.SLVERR
    assert not int(dut.done.value)
    await _reset_for(dut, 2)


async def _reset_for(dut: Any, cycles: int) -> None:
    dut.rst.value = 1
    for _ in range(cycles):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


async def _reset(bench: AxiHost) -> None:
    """A reset in the middle of accesses leaves the bridge ready for new ones."""
    dut, shape = bench.dut, bench.shape
    for _ in range(10):
        under_way = [
            cocotb.start_soon(bench.write(shape.register(0, 0), 1)),
            cocotb.start_soon(bench.read(shape.register(0, 1))),
        ]
        for _ in range(bench.random.randrange(1, 12)):
            await RisingEdge(dut.clk)
        await _reset_for(dut, 2)
        for one in under_way:
            one.cancel()
        await bench.same(shape.control("VERSION"), VERSION)
        await bench.same(shape.control("ERRORS"), 0)
    bench.hit("reset with accesses under way")
