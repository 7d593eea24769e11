"""The checker compares every output of every cycle."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cosim.benches.harness import Checker, CoveredModel, MismatchError


class Doubler:
    """Gives twice the input of the cycle before; nothing is known of the first."""

    def __init__(self) -> None:
        self.last: int | None = None

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        return {"y": None if self.last is None else 2 * self.last}

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.last = inputs["x"]


class Counting(CoveredModel[Doubler]):
    def __init__(self) -> None:
        self.model = Doubler()
        self.cycles = 0

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.cycles += 1
        self.model.clock(inputs)


def test_what_means_nothing_is_not_compared() -> None:
    model = Counting()
    checker = Checker(model)
    for x, y in ((3, 99), (4, 6), (0, 8)):
        checker.check({"x": x}, {"y": y})
        model.clock({"x": x})
    assert (checker.cycle, checker.compared, model.cycles) == (3, 2, 3)


def test_a_wrong_output_is_told_with_cycle_and_values() -> None:
    checker = Checker(model := Doubler())
    model.clock({"x": 5})
    with pytest.raises(MismatchError, match="cycle 0: y is 0xb and must be 0xa"):
        checker.check({"x": 0}, {"y": 11})


def test_outputs_must_not_follow_inputs_within_a_cycle() -> None:
    checker = Checker(Doubler())
    checker.check_settled({"y": 1, "z": 1}, {"y": 1, "z": 2}, ["y"])
    with pytest.raises(MismatchError, match="z went from 0x1 to 0x2"):
        checker.check_settled({"y": 1, "z": 1}, {"y": 1, "z": 2}, ["y", "z"])
