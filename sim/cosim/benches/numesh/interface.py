"""Bench of the interface registers: processor and pipelines crowd on a few registers."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from numesh.codes import bits_for
from numesh.shape import NodeShape

from .catalogue import BENCHES
from .models.interface import InterfaceModel

PROCESSOR = ("p_address", "p_write", "p_read", "p_write_data")


class InterfaceDriver:
    """A pipeline reads or writes, never both in a cycle; registers are few, so that all meet.

    Processor inputs have other values in the first half of a cycle; the full bits must not depend on them.
    """

    def __init__(self, shape: NodeShape, random: Random) -> None:
        self.shape = shape
        self.random = random
        self.resets = 3
        self.hot: list[int] = [0]
        self.rates = (0.5, 0.5)

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 50 == 0:
            self.hot = random.sample(range(self.shape.registers), random.randint(1, self.shape.registers))
            self.rates = (random.choice((0.2, 0.6, 1.0)), random.choice((0.2, 0.5, 0.8)))
        if self.resets:
            self.resets -= 1
        elif random.random() < 0.01:
            self.resets = random.randint(1, 3)
        return self._values() | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self._values()

    def _values(self) -> dict[str, int]:
        random, shape = self.random, self.shape
        busy, reading = self.rates
        values = {
            "p_address": random.choice(self.hot),
            "p_write_data": random.getrandbits(shape.width),
            "p_read": 0,
            "p_write": 0,
        }
        if random.random() < busy:
            values["p_read" if random.random() < reading else "p_write"] = 1
        if random.random() < 0.05:
            values["p_address"] = random.randrange(1 << bits_for(shape.registers))
        for p in range(shape.pipelines):
            reads = random.random() < reading
            active = random.random() < busy
            values |= {
                f"read_{p}__request": int(active and reads),
                f"read_{p}__number": random.choice(self.hot),
                f"read_{p}__keep": int(random.random() < 0.3),
                f"write_{p}__request": int(active and not reads),
                f"write_{p}__number": random.choice(self.hot),
                f"write_{p}__blind": int(random.random() < 0.3),
                f"write_{p}__data": random.getrandbits(shape.width),
            }
        return values


class CoveredInterface(CoveredModel[InterfaceModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = InterfaceModel(shape)
        self.coverage = coverage
        coverage.group(
            "processor",
            ["idle"]
            + [f"{what} {which}" for what in ("reads", "writes") for which in ("a full register", "an empty register")]
            + [f"{what} where there is no register" for what in ("reads", "writes")],
        )
        first = "there is no lower pipeline"
        for p in range(shape.pipelines):
            coverage.group(
                f"read of pipeline {p}",
                [f"{how}, {why}" for how in ("take", "copy") for why in ("taken", "empty", "processor", "lower")],
                {f"{how}, lower": first for how in ("take", "copy")} if p == 0 else None,
            )
            coverage.group(
                f"write of pipeline {p}",
                [f"{how}, {why}" for how in ("move", "blind") for why in ("into empty", "processor", "lower")]
                + ["move, full", "blind, overwrites"],
                {f"{how}, lower": first for how in ("move", "blind")} if p == 0 else None,
            )
        coverage.group(
            "in one register at once",
            [
                "a pipeline takes, another overwrites",
                "a pipeline copies, another overwrites",
                "the processor reads, a pipeline overwrites",
                "a full register is refused to a writer while a pipeline takes it",
                "a full register is refused to a writer while the processor reads it",
                "all pipelines want to take",
                "all pipelines want to write",
                "the processor writes a full register, a pipeline overwrites",
            ],
        )
        coverage.group("reset", ["while registers are full", "while a pipeline writes", "while the processor writes"])

    def clock(self, inputs: Values) -> None:
        self._cover_processor(inputs)
        taken, written = self.model.taken(inputs), self.model.written(inputs)
        self._cover_pipelines(inputs, taken, written)
        self._cover_meetings(inputs, taken, written)
        if inputs["rst"]:
            for name, happens in (
                ("while registers are full", any(self.model.full)),
                ("while a pipeline writes", any(r is not None for r in written)),
                ("while the processor writes", self.model.processor_writes(inputs) is not None),
            ):
                if happens:
                    self.coverage.hit("reset", name)
        self.model.clock(inputs)

    def _cover_processor(self, inputs: Values) -> None:
        what = "reads" if inputs["p_read"] else "writes" if inputs["p_write"] else ""
        r = inputs["p_address"]
        if not what:
            self.coverage.hit("processor", "idle")
        elif r >= self.model.shape.registers:
            self.coverage.hit("processor", f"{what} where there is no register")
        else:
            self.coverage.hit("processor", f"{what} {'a full' if self.model.full[r] else 'an empty'} register")

    def _cover_pipelines(self, inputs: Values, taken: list[int | None], written: list[int | None]) -> None:
        for p in range(self.model.shape.pipelines):
            if inputs[f"read_{p}__request"]:
                r = self.model.numbers[0][f"read_{p}"]
                how = "copy" if inputs[f"read_{p}__keep"] else "take"
                if taken[p] is not None:
                    why = "taken"
                elif not self.model.full[r]:
                    why = "empty"
                else:
                    why = "processor" if self.model.processor_reads(inputs) == r else "lower"
                self.coverage.hit(f"read of pipeline {p}", f"{how}, {why}")
            if inputs[f"write_{p}__request"]:
                r = self.model.numbers[0][f"write_{p}"]
                how = "blind" if inputs[f"write_{p}__blind"] else "move"
                if written[p] is not None:
                    why = "overwrites" if self.model.full[r] else "into empty"
                elif self.model.full[r] and how == "move":
                    why = "full"
                else:
                    why = "processor" if self.model.processor_writes(inputs) == r else "lower"
                self.coverage.hit(f"write of pipeline {p}", f"{how}, {why}")

    def _cover_meetings(self, inputs: Values, taken: list[int | None], written: list[int | None]) -> None:
        pipelines = range(self.model.shape.pipelines)
        takes = {taken[p] for p in pipelines if not inputs[f"read_{p}__keep"]} - {None}
        copies = {taken[p] for p in pipelines if inputs[f"read_{p}__keep"]} - {None}
        overwrites = {r for r in written if r is not None and self.model.full[r]}
        refused = {
            self.model.numbers[0][f"write_{p}"]
            for p in pipelines
            if inputs[f"write_{p}__request"] and written[p] is None
        }
        refused = {r for r in refused if self.model.full[r]}
        reads = {self.model.processor_reads(inputs)} - {None}
        vain = {inputs["p_address"]} if inputs["p_write"] and self.model.processor_writes(inputs) is None else set()
        asked = [self.model.numbers[0][f"read_{p}"] for p in pipelines if inputs[f"read_{p}__request"]]
        given = [self.model.numbers[0][f"write_{p}"] for p in pipelines if inputs[f"write_{p}__request"]]
        for name, happens in (
            ("a pipeline takes, another overwrites", takes & overwrites),
            ("a pipeline copies, another overwrites", copies & overwrites),
            ("the processor reads, a pipeline overwrites", reads & overwrites),
            ("a full register is refused to a writer while a pipeline takes it", takes & refused),
            ("a full register is refused to a writer while the processor reads it", reads & refused),
            ("all pipelines want to take", len(asked) == len(pipelines) and len(set(asked)) == 1),
            ("all pipelines want to write", len(given) == len(pipelines) and len(set(given)) == 1),
            ("the processor writes a full register, a pipeline overwrites", vain & overwrites),
        ):
            if happens:
                self.coverage.hit("in one register at once", name)


@cocotb.test()
async def interface(dut: Any) -> None:
    """The interface registers do what their model does."""
    task = Task.given()
    coverage = Coverage()
    shape = task.among(BENCHES).shape
    pipelines = range(shape.pipelines)
    requests = [f"read_{p}__{name}" for p in pipelines for name in ("request", "number", "keep")]
    requests += [f"write_{p}__{name}" for p in pipelines for name in ("request", "number", "blind", "data")]
    answers = [f"read_{p}__{name}" for p in pipelines for name in ("taken", "data")]
    answers += [f"write_{p}__ok" for p in pipelines]
    registered = ("p_full", "p_read_data")
    plan = BenchPlan(
        inputs=("rst", *PROCESSOR, *requests),
        outputs=(*answers, *registered),
        settled=registered,
        least=5000,
        most=20000,
    )
    await run(dut, InterfaceDriver(shape, task.random("driver")), CoveredInterface(shape, coverage), coverage, plan)
