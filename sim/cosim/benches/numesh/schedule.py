"""Bench of the schedule stage: pointer commands, writes and resets at any time."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from numesh.shape import NodeShape

from .catalogue import BENCHES, schedule_contents
from .models.schedule import ScheduleModel

INPUTS = ("rst", "set_pointer", "add_pointer", "pointer", "second", "w_enable", "w_address", "w_entry")
OUTPUTS = ("running", "entry")


class ScheduleDriver:
    """Commands and writes at rates that change; every input has another value in the first half of the cycle.

    Nothing is written until all power-up contents have been read.
    """

    def __init__(self, covered: CoveredSchedule, random: Random) -> None:
        self.covered, self.model = covered, covered.model
        self.random = random
        self.resets = 3
        self.rate = 0.5

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 64 == 0:
            self.rate = random.choice((0.02, 0.2, 0.8))
        if self.resets:
            self.resets -= 1
        elif random.random() < 0.01:
            self.resets = random.randint(1, 3)
        return self._values() | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self._values()

    def _values(self) -> dict[str, int]:
        random, depth = self.random, self.model.shape.schedule_depth
        # The first address after reset can only be set: there is no entry yet to add to.
        commands = ("set", "add") if self.model.out[1] is not None else ("set",)
        command = random.choice(commands) if random.random() < self.rate else ""
        address = self.model.address if random.random() < 0.3 else random.randrange(depth)
        return {
            "set_pointer": int(command == "set"),
            "add_pointer": int(command == "add"),
            "pointer": random.randrange(depth),
            "second": random.randrange(depth),
            "w_enable": int(self.covered.all_read and random.random() < self.rate),
            "w_address": address,
            "w_entry": random.getrandbits(sum(self.model.layout.values())),
        }


class CoveredSchedule(CoveredModel[ScheduleModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = ScheduleModel(shape, schedule_contents(shape))
        self.coverage = coverage
        self.written: set[int] = set()
        self.reset_since: set[int] = set()
        coverage.group("power-up contents", [f"entry {address}" for address in range(shape.schedule_depth)])
        coverage.group("address", ["first", "ahead", "set", "add", "add beyond the end"])
        coverage.group("write", ["none", "other address", "address that is read", "in reset"])
        coverage.group("command", ["none", "one", "straight after another", "lost in reset"])
        coverage.group("entry read", ["as at power-up", "written before", "written before a reset"])

    @property
    def all_read(self) -> bool:
        """All power-up contents have been read."""
        return not self.coverage.groups["power-up contents"].missing

    def clock(self, inputs: Values) -> None:
        hit = self.coverage.hit
        depth = self.model.shape.schedule_depth
        reason, address = self.model.reason, self.model.address
        beyond = reason == "add" and self.model.ahead + self.model.pending[0][1] >= depth
        hit("address", "add beyond the end" if beyond else reason)
        if not inputs["w_enable"]:
            hit("write", "none")
        elif inputs["rst"]:
            hit("write", "in reset")
        else:
            hit("write", "address that is read" if inputs["w_address"] == address else "other address")
        commanded = inputs["set_pointer"] or inputs["add_pointer"]
        if not commanded:
            hit("command", "none")
        elif inputs["rst"]:
            hit("command", "lost in reset")
        else:
            hit("command", "straight after another" if self.model.pending else "one")
        if not self.all_read and not inputs["rst"]:
            hit("power-up contents", f"entry {address}")
        if self.model.started:
            known = "written before" if address in self.written else "as at power-up"
            hit("entry read", "written before a reset" if address in self.reset_since else known)
        if inputs["rst"]:
            self.reset_since |= self.written
        if inputs["w_enable"]:
            self.written.add(inputs["w_address"])
            self.reset_since.discard(inputs["w_address"])
        self.model.clock(inputs)


@cocotb.test()
async def schedule(dut: Any) -> None:
    """The schedule stage does what its model does."""
    task = Task.given()
    coverage = Coverage()
    model = CoveredSchedule(task.among(BENCHES).shape, coverage)
    driver = ScheduleDriver(model, task.random("driver"))
    await run(dut, driver, model, coverage, BenchPlan(INPUTS, OUTPUTS, OUTPUTS, least=3000, most=12000))
