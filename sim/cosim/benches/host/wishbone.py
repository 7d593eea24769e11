"""Bench of the Wishbone bridge: cocotbext-wishbone's master writes and reads, and everything that comes is checked."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.wishbone.driver import WBOp, WishboneMaster

from cosim.benches.coverage import Coverage
from cosim.benches.harness import Task, report
from host.shape import VERSION, HostShape

from .catalogue import BENCHES

ACCESSES = 1200
"""Accesses of registers, and as many words at most."""
LIMIT = 60_000
"""Steps of the simulator, two a cycle, after which the bench must be over."""
ACK, ERR = 1, 2
BINS = ("write", "read", "write refused", "read refused", "strange address", "part of a word", "between words")
SIGNALS = {
    "cyc": "wbs_cyc",
    "stb": "wbs_stb",
    "we": "wbs_we",
    "adr": "wbs_adr",
    "datwr": "wbs_dat_w",
    "datrd": "wbs_dat_r",
    "ack": "wbs_ack",
    "sel": "wbs_sel",
    "err": "wbs_err",
}


@cocotb.test(timeout_time=LIMIT, timeout_unit="step")
async def wishbone(dut: Any) -> None:
    """No word is lost, doubled or out of order, and errors are answered."""
    task = Task.given()
    shape: HostShape = task.among(BENCHES).shape
    random = task.random("words")
    coverage = Coverage()
    hard = {} if shape.blocked == "error" else dict.fromkeys(("write refused", "read refused"), "accesses wait")
    coverage.group("accesses", BINS, hard)
    for node in range(shape.nodes):
        getattr(dut, f"move_{node}").value = 0
    for name in ("cyc", "stb", "we", "adr", "datwr", "sel"):
        getattr(dut, SIGNALS[name]).value = 0
    dut.rst.value = 1
    Clock(dut.clk, 2, unit="step").start()
    await RisingEdge(dut.clk)
    master = WishboneMaster(dut, None, dut.clk, width=shape.width, timeout=5000, signals_dict=SIGNALS)
    await RisingEdge(dut.clk)
    # In Icarus what the master sets at once does not reach the ports.
    for name in ("cyc", "stb", "we", "adr", "datwr"):
        getattr(dut, SIGNALS[name]).value = 0
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    compared = 0

    async def access(address: int, word: int | None = None, select: int | None = None) -> tuple[int, int]:
        whole = 2**shape.bytes - 1
        (done,) = await master.send_cycle([WBOp(address, word, sel=whole if select is None else select)])
        return done.ack, 0 if done.ack == ERR or word is not None else int(done.datrd)

    cocotb.start_soon(_move(dut, shape, random))
    try:
        assert await access(shape.control("VERSION")) == (ACK, VERSION)
        for address, bin_ in (
            (shape.control("VERSION"), "strange address"),
            (shape.control("DONE") + 1, "between words"),
        ):
            assert (await access(address, 1))[0] == ERR
            coverage.hit("accesses", bin_)
        assert (await access(shape.control("DONE"), 1, select=1))[0] == ERR
        assert await access(shape.control("DONE")) == (ACK, 0)
        coverage.hit("accesses", "part of a word")
        under_way: dict[tuple[int, int], deque[int]] = {}
        pairs = [(node, r) for node in range(shape.nodes) for r in range(0, min(shape.registers - 1, 6), 2)]
        for _ in range(ACCESSES):
            pair = random.choice(pairs)
            words = under_way.setdefault(pair, deque())
            # Where accesses wait, one that could wait for the master itself is not made: the pair holds two words.
            write = random.random() < 0.5 if shape.blocked == "error" else len(words) < (random.random() < 0.5) + 1
            if write:
                word = random.getrandbits(shape.width)
                answer, _ = await access(shape.register(*pair), word)
                coverage.hit("accesses", "write" if answer == ACK else "write refused")
                if answer == ACK:
                    words.append(word)
            else:
                node, register = pair
                answer, word = await access(shape.register(node, register + 1))
                coverage.hit("accesses", "read" if answer == ACK else "read refused")
                if answer == ACK:
                    wanted = words.popleft()
                    assert word == wanted, f"node {node}, register {register + 1}: {word:#x} and not {wanted:#x}"
                    compared += 1
        missing = coverage.groups["accesses"].missing
        assert not missing, f"never seen: {', '.join(missing)}"
    finally:
        report(task, int(get_sim_time("step")) // 2, compared, coverage)


async def _move(dut: Any, shape: HostShape, random: Random) -> None:
    """Let words go on in some of the cycles."""
    while True:
        await RisingEdge(dut.clk)
        for node in range(shape.nodes):
            getattr(dut, f"move_{node}").value = random.getrandbits(shape.registers) if random.random() < 0.3 else 0
