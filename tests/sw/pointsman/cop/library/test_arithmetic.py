"""Numbers in COP are exact: integers of any size, and ratios."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from pointsman.cop.evaluation.values import Builtin, Complaint
from pointsman.cop.library.arithmetic import NUMBERS
from pointsman.cop.text.reader import FALSE, TRUE

COUNTED = SimpleNamespace(
    number=lambda value: value, charge=lambda steps: None, check_bits=lambda bits: None, limits=None
)


def call(name: str, *arguments: Any) -> Any:
    function = NUMBERS[name]
    assert isinstance(function, Builtin)
    return function.function(COUNTED, list(arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("+", (1, 2, 3), 6),
        ("-", (5,), -5),
        ("*", (Fraction(1, 2), 4), 2),
        ("/", (1, 3), Fraction(1, 3)),
        ("<", (1, 2, 3), TRUE),
        ("<", (1, 3, 2), FALSE),
        ("max", (2, 9, 4), 9),
    ],
)
def test_numbers_are_exact(name: str, arguments: tuple[Any, ...], value: object) -> None:
    assert call(name, *arguments) == value


def test_division_by_zero_is_complained_about() -> None:
    with pytest.raises(Complaint):
        call("/", 1, 0)


def test_words_are_no_numbers() -> None:
    with pytest.raises(Complaint) as found:
        call("+", 1, "two")
    assert found.value.argument == 1
