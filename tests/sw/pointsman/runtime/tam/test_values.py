"""Values of TAM: what they hold, and their bytes in messages."""

from __future__ import annotations

import math

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.tam.values import MOST, check_value, packed, unpacked, whole


def test_values_of_messages_are_64_bits_whole_or_not() -> None:
    values = [1, -(2**63), 2.5, 2**63 - 1, -0.0]
    assert unpacked(*packed(values)) == values  # type: ignore[arg-type]
    with pytest.raises(PointsmanError, match="64 bits at most"):
        packed([2**63])


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, math.inf, -math.inf, math.nan])
def test_a_number_that_no_processor_holds_is_refused(value: float) -> None:
    with pytest.raises(PointsmanError, match="a number has 64 bits, and is not infinite"):
        check_value(value)
    assert (check_value(MOST), check_value(-0.5)) == (MOST, -0.5)


def test_a_fraction_is_no_place() -> None:
    assert whole(7, "a node") == 7
    with pytest.raises(PointsmanError, match=r"^a node must be a whole number, not 7\.0$"):
        whole(7.0, "a node")
