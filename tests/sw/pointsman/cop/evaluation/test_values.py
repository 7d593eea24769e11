"""Scopes, parameters and equality of values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from pointsman.cop.evaluation.values import Complaint, Parameters, check_count, equal
from pointsman.cop.text.reader import FALSE, Symbol


class Counted:
    steps = 0

    def charge(self, steps: int) -> None:
        self.steps += steps

    def list_of(self, items: Sequence[object]) -> tuple[object, ...]:
        return tuple(items)


def test_optional_parameters_are_nil_and_the_rest_is_a_list() -> None:
    parameters = Parameters(("a", "b", "c"), needed=1, rest=True)
    assert parameters.bind(Counted(), "f", [1]) == {"a": 1, "b": FALSE, "c": ()}
    assert parameters.bind(Counted(), "f", [1, 2, 3, 4]) == {"a": 1, "b": 2, "c": (3, 4)}


@pytest.mark.parametrize(
    ("least", "most", "count", "said"),
    [
        (1, 1, 2, "f takes 1 argument, not 2"),
        (2, None, 1, "f takes at least 2 arguments, not 1"),
        (1, 3, 4, "f takes 1 to 3 arguments, not 4"),
    ],
)
def test_wrong_numbers_of_arguments(least: int, most: int | None, count: int, said: str) -> None:
    with pytest.raises(Complaint) as found:
        check_count("f", least, most, count)
    assert found.value.message == said


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((1, (2, 3)), (1, (2, 3)), True),
        ((1, (2, 3)), (1, (2, 4)), False),
        ((1, 2), (1, 2, 3), False),
        (Symbol("a"), "a", False),
        (Fraction(1, 2), Fraction(2, 4), True),
        (1, Fraction(1), False),
    ],
)
def test_values_are_equal_if_they_are_written_alike(one: object, other: object, same: bool) -> None:
    assert equal(Counted(), one, other) is same


def test_deep_lists_cost_no_stack_and_are_counted() -> None:
    one: object = ()
    other: object = ()
    for _ in range(50_000):
        one, other = (one,), (other,)
    counter = Counted()
    assert equal(counter, one, other)
    assert counter.steps >= 49_999
