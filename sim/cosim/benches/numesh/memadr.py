"""Bench of the command assemblers: all kinds of commands in several words, with gaps and resets between them."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from numesh.codes import Codes, CommandKind
from numesh.shape import NodeShape

from .catalogue import BENCHES
from .models.memadr import AssemblerModel

INPUTS = ("rst", "valid", "word")
OUTPUTS = (
    *("w_annotation_0", "vfsm_0", "annotation_0", "w_annotation_1", "vfsm_1", "annotation_1"),
    *("w_schedule_0", "address_0", "entry_0", "set_pointer_0", "add_pointer_0", "pointer_0", "second_0"),
)
KINDS = range(8)


class AssemblerDriver:
    """Random words; of the first halves of cycles nothing may be seen after the clock."""

    def __init__(self, shape: NodeShape, random: Random) -> None:
        self.shape = shape
        self.random = random
        self.resets = 3
        self.rate = 0.5

    def early(self, cycle: int) -> Values:
        if cycle % 64 == 0:
            self.rate = self.random.choice((0.2, 0.7, 1.0))
        if self.resets:
            self.resets -= 1
        elif self.random.random() < 0.02:
            self.resets = self.random.randint(1, 2)
        return self._values() | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self._values()

    def _values(self) -> dict[str, int]:
        return {
            "valid": int(self.random.random() < self.rate),
            "word": self.random.getrandbits(self.shape.width),
        }


class CoveredAssembler(CoveredModel[AssemblerModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = AssemblerModel(shape)
        self.coverage = coverage
        self.gaps = 0
        self.resumed = False
        names = {int(kind): kind.name for kind in CommandKind}
        self.names = [names.get(kind, f"unknown kind {kind}") for kind in KINDS]
        coverage.group("command", [f"{name}, {how}" for name in self.names for how in ("at once", "with gaps")])
        partial = [
            f"after {n} of {self.model.codes.command_words} words" for n in range(self.model.codes.command_words)
        ]
        coverage.group("reset", partial)
        coverage.group("first command after a reset", ["nothing was lost", "part of a command was lost"])
        self.lost: bool | None = None

    def clock(self, inputs: Values) -> None:
        hit = self.coverage.hit
        if self.model.command(inputs) is not None:
            hit("command", f"{self.names[self.model.kind(inputs)]}, {'with gaps' if self.gaps else 'at once'}")
            if self.lost is not None and not inputs["rst"]:
                hit("first command after a reset", f"{'part of a command' if self.lost else 'nothing'} was lost")
                self.lost = None
        if inputs["rst"]:
            hit("reset", f"after {len(self.model.words)} of {self.model.codes.command_words} words")
            self.lost = bool(self.model.words) or bool(self.lost)
        self.gaps = self.gaps + (not inputs["valid"]) if self.model.words else 0
        self.model.clock(inputs)


def bench_shape(task: Task) -> NodeShape:
    """The bench's shape, after checking that the bench can show its property on it."""
    shape = task.among(BENCHES).shape
    assert Codes(shape).command_words > 1, "a command must take several words"
    return shape


@cocotb.test()
async def memadr(dut: Any) -> None:
    """The command assemblers do what their model does."""
    task = Task.given()
    coverage = Coverage()
    shape = bench_shape(task)
    model = CoveredAssembler(shape, coverage)
    driver = AssemblerDriver(shape, task.random("driver"))
    await run(dut, driver, model, coverage, BenchPlan(INPUTS, OUTPUTS, (), least=3000, most=12000))
