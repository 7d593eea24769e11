"""Bench of the whole switch: processors that write, read and command at random, into full queues and from empty buffers too."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from cosim.tdm.station_model import StationsModel
from tdm_switch.codes import Registers
from tdm_switch.shape import SwitchShape
from tdm_switch.station import patience

from .catalogue import BENCHES
from .scheduler import random_command

NAMES = ("p_address", "p_write", "p_read", "p_write_data")


class SwitchDriver:
    """Each processor makes an access in most cycles. Its inputs have other values in the first half of a cycle."""

    def __init__(self, shape: SwitchShape, random: Random) -> None:
        self.shape = shape
        self.random = random
        self.registers = Registers(shape)
        self.resets = 3
        self.rates = (0.5, 0.5)
        self.hot: list[int] = [0]
        self.commands = 0.02

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 200 == 0:
            self.rates = (random.choice((0.1, 0.6, 1.0)), random.choice((0.3, 0.6, 0.9)))
            self.hot = random.sample(range(self.shape.ports), random.randint(1, self.shape.ports))
            self.commands = random.choice((0.0, 0.01, 0.1))
        if self.resets:
            self.resets -= 1
        elif random.random() < 0.0005:
            self.resets = 2
        return self._values() | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self._values()

    def _values(self) -> dict[str, int]:
        random, shape, registers = self.random, self.shape, self.registers
        values: dict[str, int] = {}
        for i in range(shape.ports):
            busy, reading = self.rates
            active = random.random() < busy
            reads = random.random() < reading
            word = random.getrandbits(shape.width)
            if random.random() < self.commands:
                address, reads, word = registers.command, False, random_command(random, shape)
            elif random.random() < 0.03:
                address = random.randrange(1 << (shape.registers - 1).bit_length())
                if address == registers.command:
                    word = random_command(random, shape)
            elif reads:
                address = registers.answer if random.random() < 0.1 else registers.buffer(random.choice(self.hot))
            else:
                address = registers.queue(random.choice(self.hot))
            values |= {
                f"p_address_{i}": address,
                f"p_write_{i}": int(active and not reads),
                f"p_read_{i}": int(active and reads),
                f"p_write_data_{i}": word,
            }
        return values


class CoveredSwitch(CoveredModel[StationsModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: SwitchShape, coverage: Coverage) -> None:
        self.coverage = coverage
        self.words = 0
        self.model = StationsModel(shape, patience(shape))
        coverage.group(
            "processor",
            [
                "writes a full queue",
                "reads an empty buffer",
                "writes a full command register",
                "reads no answer",
                "no such register",
                "reads an answer",
                "all sent",
            ],
        )
        coverage.group("sent", [f"{u} to {v}" for u in range(shape.ports) for v in range(shape.ports)])
        coverage.group("grant", ["nothing to send", "no room at the receiver", "all ports at once"])

    def clock(self, inputs: Values) -> None:
        hit, n, nics = self.coverage.hit, self.model.switch.shape.ports, self.model.nics
        if not inputs["rst"]:
            for i, nic in enumerate(nics):
                address, full = inputs[f"p_address_{i}"], nic.full
                if inputs[f"p_write_{i}"]:
                    if address < n and full >> address & 1:
                        hit("processor", "writes a full queue")
                    if address == 2 * n and full >> address & 1:
                        hit("processor", "writes a full command register")
                if inputs[f"p_read_{i}"]:
                    if n <= address < 2 * n and not full >> address & 1:
                        hit("processor", "reads an empty buffer")
                    if address == 2 * n + 1:
                        hit("processor", "reads an answer" if full >> address & 1 else "reads no answer")
                if address >= self.model.switch.shape.registers:
                    hit("processor", "no such register")
                if not full >> (2 * n + 2) & 1:
                    hit("processor", "all sent")
            for u, v in self.model.switch.scheduler.grant:
                if not nics[u].queues[v]:
                    hit("grant", "nothing to send")
                elif len(nics[v].buffers[u]) >= self.model.switch.shape.buffer_depth - 1:
                    hit("grant", "no room at the receiver")
        self.model.clock(inputs)
        self.words += len(self.model.switch.moved)
        for u, v in self.model.switch.moved:
            hit("sent", f"{u} to {v}")
        if len(self.model.switch.moved) == n:
            hit("grant", "all ports at once")


@cocotb.test()
async def tdm_switch(dut: Any) -> None:
    """The switch does what its model does."""
    task = Task.given()
    coverage = Coverage()
    shape: SwitchShape = task.among(BENCHES).shape
    model = CoveredSwitch(shape, coverage)
    ports = range(shape.ports)
    outputs = [f"{name}_{i}" for name in ("p_full", "p_read_data") for i in ports]
    plan = BenchPlan(
        inputs=("rst", *(f"{name}_{i}" for name in NAMES for i in ports)),
        outputs=outputs,
        settled=outputs,
        least=2500,
        most=30000,
    )
    await run(dut, SwitchDriver(shape, task.random("driver")), model, coverage, plan)
