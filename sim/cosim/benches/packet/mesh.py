"""Bench of a packet network: random messages between all nodes, stalls on both sides, everything that comes is checked."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from cosim.benches.coverage import Coverage
from cosim.benches.harness import Task, report
from cosim.packet.messages import Messages, WrongMessageError
from packet_router.interface import port_members
from packet_router.shape import RouterShape

from .catalogue import BENCHES

ROUNDS = 6
"""Each with new messages, and with processors of another patience."""
LIMIT = 20_000
"""Cycles after which a round must be over."""


@cocotb.test()
async def packet(dut: Any) -> None:
    """Every message arrives once, whole, and in order where that is promised."""
    task = Task.given()
    shape: RouterShape = task.among(BENCHES).shape
    random = task.random("messages")
    coverage = Coverage()
    sides = [{name: getattr(dut, f"{name}_{node}") for name in port_members(shape)} for node in range(shape.nodes)]
    for side in sides:
        for name in ("send", "send_data", "send_last", "take", "take_address"):
            side[name].value = 0
    dut.rst.value = 1
    Clock(dut.clk, 2, unit="step").start(start_high=False)
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    cycles = compared = 0
    found: dict[str, int] = {}
    try:
        for number in range(ROUNDS):
            patience = random.choice((0.02, 0.2, 1.0))
            messages = Messages(shape, random, count=12, longest=6 * shape.buffer, patience=patience)
            words = messages.left
            cycles += await _round(dut, shape, sides, messages, number)
            compared += words
            for what, count in messages.seen.items():
                found[what] = found.get(what, 0) + count
        hard = {} if shape.routing == "adaptive" else {"overtaken": "dimension order keeps messages in order"}
        if shape.routing == "adaptive" and all(extent < 2 for extent in shape.size[1:]):
            hard = {"overtaken": "there is one way only"}
        coverage.group("messages", found, hard)
        for what, count in found.items():
            if count and what not in hard:
                coverage.hit("messages", what)
        missing = [what for what, count in found.items() if not count and what not in hard]
        assert not missing, f"never seen: {', '.join(missing)}"
    finally:
        if coverage.groups:
            report(task, cycles, compared, coverage)


async def _round(dut: Any, shape: RouterShape, sides: list[dict[str, Any]], messages: Messages, number: int) -> int:
    for cycle in range(LIMIT):
        await RisingEdge(dut.clk)
        await ReadOnly()
        for node, side in enumerate(sides):
            messages.check(node, int(side["take_data"].value) if messages.taking[node] is not None else 0)
        state = [(bool(int(side["send_ready"].value)), int(side["full"].value)) for side in sides]
        # Inputs answer the present outputs; ready depends on the word too, so it is read again below.
        await FallingEdge(dut.clk)
        for node, side in enumerate(sides):
            for name, value in messages.drive(node, *state[node]).items():
                side[name].value = value
        await ReadOnly()
        for node, side in enumerate(sides):
            if bool(int(side["send_ready"].value)) != state[node][0]:
                raise WrongMessageError(f"node {node}: send_ready follows what is sent")
        if messages.finished:
            await RisingEdge(dut.clk)
            for side in sides:
                side["send"].value = 0
                side["take"].value = 0
            return cycle + 1
    raise WrongMessageError(f"round {number}: {messages.left} words have not come after {LIMIT} cycles")
