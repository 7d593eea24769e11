"""The PLL's dividers, within its limits."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.fpga.pll import pll_dividers


@pytest.mark.parametrize("mhz", [25, 50, 75, 100, 125, 150, 200, 400])
def test_the_pll_makes_the_clock_within_its_limits(mhz: int) -> None:
    into, back, out = pll_dividers(25, mhz)
    assert 25 * back == mhz * into
    assert 400 <= mhz * out <= 800
    assert 25 / into >= 10


@pytest.mark.parametrize("mhz", [0, 1, 101, 420, 2000])
def test_a_clock_that_the_pll_cannot_make_is_refused(mhz: int) -> None:
    with pytest.raises(PointsmanError, match=rf"^the PLL cannot make {mhz} MHz from 25\n  hint: "):
        pll_dividers(25, mhz)
