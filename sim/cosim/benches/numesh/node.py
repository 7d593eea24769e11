"""Bench of a whole node: random programs, loaded through MEMADR and changed while they run, on links that stall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from cosim.benches.numesh.drivers.traffic import RandomProcessor, RandomProgram
from numesh.shape import NodeShape

from .catalogue import BENCHES
from .models.node import NodeModel
from .moves import Goal
from .node_coverage import NodeCoverage


class NodeDriver:
    """Links with words at changing rates, and a processor.

    In the first half of some cycles all inputs but the reset have other values; no output may depend on them.
    """

    def __init__(self, shape: NodeShape, random: Random, goals: Callable[[], Sequence[Goal]]) -> None:
        self.shape = shape
        self.random = random
        self.goals = goals
        self.processor = RandomProcessor(shape, random)
        self.rates = (0.5, 0.5)
        self.resets = 3
        self.links: dict[str, int] = {}

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 100 == 0:
            self.rates = (random.choice((0.1, 0.5, 0.95)), random.choice((0.1, 0.5, 0.95)))
        if self.resets:
            self.resets -= 1
            if not self.resets:
                self.processor.restart(self._program())
        elif self.processor.finished or random.random() < (0.02 if self.processor.fresh else 0.001):
            self.resets = self.shape.reset_cycles + random.randint(0, 2)
        self.links = self._links()
        if random.random() < 0.3:
            other = {name: random.getrandbits(32) & self._mask(name) for name in self.links}
            return other | self.processor.anything() | {"rst": int(self.resets > 0)}
        return self.links | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self.links | self.processor.access(settled["p_full"])

    def _program(self) -> RandomProgram | None:
        """Another program; None: go on with the contents of the memories."""
        if self.random.random() < 0.2:
            return None
        return RandomProgram(self.processor.codes, self.processor.words, self.random, self.goals())

    def _links(self) -> dict[str, int]:
        random, values = self.random, {}
        giving, taking = self.rates
        for d in range(self.shape.neighbours):
            values[f"in_valid_{d}"] = int(random.random() < giving)
            values[f"in_data_{d}"] = self.processor.words.any()
            values[f"out_accept_{d}"] = int(random.random() < taking)
        return values

    def _mask(self, name: str) -> int:
        return self.shape.word_mask if name.startswith("in_data") else 1


class CoveredNode(CoveredModel[NodeModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = NodeModel(shape)
        self.counter = NodeCoverage(coverage, self.model)

    def clock(self, inputs: Values) -> None:
        self.counter.before(inputs)
        self.model.clock(inputs)
        self.counter.after()


@cocotb.test()
async def node(dut: Any) -> None:
    """A node does what its model does."""
    task = Task.given()
    shape = task.among(BENCHES).shape
    coverage = Coverage()
    links = range(shape.neighbours)
    inputs = ["rst", "p_address", "p_write", "p_read", "p_write_data"]
    inputs += [f"{name}_{d}" for d in links for name in ("in_valid", "in_data", "out_accept")]
    outputs = ["p_full", "p_read_data"]
    outputs += [f"{name}_{d}" for d in links for name in ("in_accept", "out_valid", "out_data")]
    plan = BenchPlan(inputs, outputs, outputs, least=10000, most=120000)
    model = CoveredNode(shape, coverage)
    driver = NodeDriver(shape, task.random("driver"), model.counter.moves.goals)
    await run(dut, driver, model, coverage, plan)
