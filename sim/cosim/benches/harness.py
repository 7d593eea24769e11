"""Parts shared by all benches inside the simulator: the cycle, the monitor, the checker, the report.

A cycle runs from a rising edge to the next. Just after the edge the driver sets inputs; at the falling edge it may
change some of them, in answer to outputs or to show that outputs do not follow; when signals have settled the monitor
samples inputs and outputs, the checker compares, and the model's cycle ends.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from .coverage import Coverage
from .task import Task

Values = Mapping[str, int]
Expected = Mapping[str, int | None]

_KEPT = 6
"""Cycles of history in the report of a mismatch."""


class Driver(Protocol):
    """Sets the inputs of a block."""

    def early(self, cycle: int) -> Values:
        """Inputs from the rising edge on. All of them in cycle 0."""
        ...

    def late(self, settled: Values) -> Values:
        """Inputs to change at the falling edge, when the outputs of the first half are ``settled``."""
        ...


class Model(Protocol):
    """Model of a block: its outputs for given inputs, cycle by cycle."""

    def outputs(self, inputs: Values) -> Expected:
        """Every output in this cycle; None for an output that is not valid."""
        ...

    def clock(self, inputs: Values) -> None:
        """The cycle ends."""
        ...


Counted = TypeVar("Counted", bound=Model)


class CoveredModel(ABC, Generic[Counted]):
    """A model that also counts its events in coverage bins."""

    model: Counted

    def outputs(self, inputs: Values) -> Expected:
        return self.model.outputs(inputs)

    @abstractmethod
    def clock(self, inputs: Values) -> None:
        """Count the cycle's events and end the model's cycle."""


class Monitor:
    """Looks at signals. A name may lead through instances: ``node_0.out_valid_1``."""

    def __init__(self, dut: Any, names: Collection[str]) -> None:
        self._handles = [(name, _handle(dut, name)) for name in names]

    def sample(self) -> dict[str, int]:
        return {name: int(handle.value) for name, handle in self._handles}


class MismatchError(AssertionError):
    """An output of the block differs from the model's."""


class Checker:
    """Compares outputs with the model's, cycle by cycle, and keeps a few cycles for the report."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.cycle = 0
        self.compared = 0
        self._history: deque[str] = deque(maxlen=_KEPT)

    def check(self, inputs: Values, outputs: Values) -> None:
        """Compare the outputs of a cycle with the model's.

        Raises
        ------
        MismatchError
            With the last cycles, if an output differs.
        """
        expected = self.model.outputs(inputs)
        if set(expected) != set(outputs):
            raise ValueError(f"model and block differ in their outputs: {set(expected) ^ set(outputs)}")
        self._history.append(f"cycle {self.cycle}: {_text(inputs)} | {_text(outputs)}")
        wrong = [name for name, value in expected.items() if value is not None and value != outputs[name]]
        if wrong:
            told = "; ".join(f"{name} is {outputs[name]:#x} and must be {expected[name]:#x}" for name in wrong)
            raise MismatchError("\n  ".join([f"cycle {self.cycle}: {told}", *self._history]))
        self.compared += sum(value is not None for value in expected.values())
        self.cycle += 1

    def check_settled(self, early: Values, outputs: Values, names: Collection[str]) -> None:
        """Check that outputs ``names`` are the same as in the first half of the cycle, when inputs had other values."""
        wrong = [name for name in names if early[name] != outputs[name]]
        if wrong:
            told = "; ".join(f"{name} went from {early[name]:#x} to {outputs[name]:#x}" for name in wrong)
            raise MismatchError(f"cycle {self.cycle}: outputs follow inputs within a cycle: {told}")


@dataclass(frozen=True)
class BenchPlan:
    """Length of a bench's run, and the ports that it compares.

    Parameters
    ----------
    inputs, outputs : sequence of str
        Ports.
    settled : collection of str
        Outputs that inputs must not change within a cycle.
    least, most : int
        Cycles. The run ends after ``least`` when every bin has been hit, and at ``most``.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    settled: Collection[str]
    least: int
    most: int


async def run(dut: Any, driver: Driver, model: Model, coverage: Coverage, plan: BenchPlan) -> None:
    """Run a bench to its end and leave the report.

    Raises
    ------
    AssertionError
        If an output differs, or a bin is empty.
    """
    task = Task.given()
    checker = Checker(model)
    inputs = Monitor(dut, plan.inputs)
    outputs = Monitor(dut, plan.outputs)
    first = Monitor(dut, sorted(set(plan.settled)))
    pins = {name: _handle(dut, name) for name in plan.inputs}
    for name, pin in pins.items():
        pin.value = int(name == "rst")  # the edge before cycle 0 resets
    Clock(dut.clk, 2, unit="step").start(start_high=False)
    try:
        while checker.cycle < plan.most and not (coverage.full and checker.cycle >= plan.least):
            await RisingEdge(dut.clk)
            for name, value in driver.early(checker.cycle).items():
                pins[name].value = value
            await FallingEdge(dut.clk)
            early = first.sample()
            for name, value in driver.late(early).items():
                pins[name].value = value
            await ReadOnly()
            received = inputs.sample()
            given = outputs.sample()
            checker.check_settled(early, given, plan.settled)
            checker.check(received, given)
            model.clock(received)
        missing = [f"{group.name}: {name}" for group in coverage.groups.values() for name in group.missing]
        assert not missing, f"{len(missing)} bins are empty: {', '.join(missing[:20])}"
    finally:
        report(task, checker.cycle, checker.compared, coverage)


def report(task: Task, cycles: int, compared: int, coverage: Coverage, facts: Sequence[str] = ()) -> None:
    """Leave the report of a run."""
    outcome = {"cycles": cycles, "compared": compared, "coverage": coverage.as_dict(), "facts": list(facts)}
    Path(task.outcome).write_text(json.dumps(outcome))


def _handle(dut: Any, name: str) -> Any:
    handle = dut
    for part in name.split("."):
        handle = getattr(handle, part)
    return handle


def _text(values: Values) -> str:
    """Values that are not 0."""
    return " ".join(f"{name}={value:x}" for name, value in values.items() if value) or "all 0"
