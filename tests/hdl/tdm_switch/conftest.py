"""Runs components of the switch cycle by cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from numesh.trace import Sample, record
from tdm_switch.codes import Command, Registers, encode
from tdm_switch.shape import SwitchShape
from tdm_switch.switch import Switch

SMALL: dict[str, Any] = {"queue_depth": 4, "buffer_depth": 4, "slot_cycles": 4, "age_bits": 6, "stored": 2}


class Processors:
    """Processors of a switch, each with a list of accesses: ("write", register, word), ("read", register) or ("wait", cycles).

    An access waits until the full bit lets it. ``read`` has what each processor has read, ``samples`` the ports by cycle.
    """

    def __init__(
        self, shape: SwitchShape, accesses: Mapping[int, Sequence[tuple[Any, ...]]], cycles: int, watch: Any = None
    ) -> None:
        switch = Switch(shape=shape)
        left = {i: list(steps) for i, steps in accesses.items()}
        self.read: dict[int, list[int]] = {i: [] for i in range(shape.ports)}
        self.finished: dict[int, int] = {}
        pause = dict.fromkeys(left, 0)

        def drive(cycle: int, before: Sequence[Sample]) -> dict[str, int]:
            inputs: dict[str, int] = {}
            for i, steps in left.items():
                if pause[i]:
                    pause[i] -= 1
                    continue
                if not steps:
                    self.finished.setdefault(i, cycle)
                    continue
                kind, number, *word = steps[0]
                if kind == "wait":
                    pause[i] = number - 1
                    steps.pop(0)
                    continue
                full = self.full(before[-1], i) if before else 0
                if before and before[-1].get(f"p_write_{i}") and before[-1][f"p_address_{i}"] == number:
                    continue  # what it has just written is not in the full bits yet
                if before and before[-1].get(f"p_read_{i}") and before[-1][f"p_address_{i}"] == number:
                    continue
                if bool(full >> number & 1) == (kind == "read"):
                    inputs |= {f"p_address_{i}": number, f"p_{kind}_{i}": 1}
                    if word:
                        inputs[f"p_write_data_{i}"] = word[0]
                    steps.pop(0)
            return inputs

        self.samples = record(switch, cycles, drive, watch=watch(switch) if watch else None)
        for before, after in zip(self.samples, self.samples[1:], strict=False):
            for i in range(shape.ports):
                if before[f"p_read_{i}"] and before[f"p_full_{i}"] >> before[f"p_address_{i}"] & 1:
                    self.read[i].append(after[f"p_read_data_{i}"])
        self.left = {i: steps for i, steps in left.items() if steps}

    @staticmethod
    def full(sample: Sample, i: int) -> int:
        return sample[f"p_full_{i}"]


@pytest.fixture
def run_switch() -> type[Processors]:
    return Processors


@pytest.fixture
def small() -> Callable[..., SwitchShape]:
    """A small shape; sizes may be given."""
    return lambda **sizes: SwitchShape(**SMALL | {"ports": 3, "slots": 2} | sizes)


@pytest.fixture
def commands() -> Callable[..., list[tuple[Any, ...]]]:
    """Accesses that write commands: (name, x, y, mode) each."""

    def make(shape: SwitchShape, *wanted: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        steps = []
        for name, *operands in wanted:
            x, y, mode = (*operands, 0, 0, 0)[:3]
            steps.append(("write", Registers(shape).command, encode(Command[name], x=x, y=y, mode=mode)))
        return steps

    return make
