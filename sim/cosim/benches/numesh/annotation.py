"""Bench of the annotation stage: reads and writes of any VFSM in any cycle."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from numesh.codes import Codes
from numesh.shape import NodeShape

from .catalogue import BENCHES, annotation_contents
from .models.annotation import AnnotationModel

INPUTS = ("rst", "running", "vfsm", "w_enable", "w_vfsm", "w_annotation")
OUTPUTS = ("active", "decode_vfsm", "annotation")


class AnnotationDriver:
    """Any VFSM is read, any is written, often the same; every input has another value in the first half.

    Nothing is written until all power-up contents have been read.
    """

    def __init__(self, model: CoveredAnnotation, shape: NodeShape, random: Random) -> None:
        self.model = model
        self.shape = shape
        self.random = random
        self.bits = sum(Codes(shape).annotation_layout.values())
        self.resets = 3

    def early(self, cycle: int) -> Values:
        if self.resets:
            self.resets -= 1
        elif self.random.random() < 0.01:
            self.resets = self.random.randint(1, 3)
        return self._values() | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self._values()

    def _values(self) -> dict[str, int]:
        random = self.random
        vfsm = random.randrange(self.shape.vfsms)
        return {
            "running": int(random.random() < 0.9),
            "vfsm": vfsm,
            "w_enable": int(self.model.all_read and random.random() < 0.5),
            "w_vfsm": self.model.model.look_vfsm if random.random() < 0.3 else random.randrange(self.shape.vfsms),
            "w_annotation": random.getrandbits(self.bits),
        }


class CoveredAnnotation(CoveredModel[AnnotationModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = AnnotationModel(annotation_contents(shape))
        self.coverage = coverage
        every = [f"VFSM {v}" for v in range(shape.vfsms)]
        coverage.group("power-up contents", every)
        coverage.group("read", every)
        coverage.group("written", every)
        coverage.group("write", ["none", "of another VFSM", "of the VFSM that is read", "in reset"])
        coverage.group("stage", ["active", "not running", "reset"])

    @property
    def all_read(self) -> bool:
        """All power-up contents have been read."""
        return not self.coverage.groups["power-up contents"].missing

    def clock(self, inputs: Values) -> None:
        hit = self.coverage.hit
        if self.model.active:
            hit("read", f"VFSM {self.model.vfsm}")
            if not self.all_read:
                hit("power-up contents", f"VFSM {self.model.vfsm}")
        if inputs["w_enable"]:
            hit("written", f"VFSM {inputs['w_vfsm']}")
            same = inputs["w_vfsm"] == self.model.look_vfsm
            where = "of the VFSM that is read" if same else "of another VFSM"
            hit("write", "in reset" if inputs["rst"] else where)
        else:
            hit("write", "none")
        self.model.clock(inputs)
        hit("stage", "reset" if inputs["rst"] else "active" if self.model.active else "not running")


@cocotb.test()
async def annotation(dut: Any) -> None:
    """The annotation stage does what its model does."""
    task = Task.given()
    coverage = Coverage()
    shape = task.among(BENCHES).shape
    model = CoveredAnnotation(shape, coverage)
    driver = AnnotationDriver(model, shape, task.random("driver"))
    await run(dut, driver, model, coverage, BenchPlan(INPUTS, OUTPUTS, OUTPUTS, least=2000, most=8000))
