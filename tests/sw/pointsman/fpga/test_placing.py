"""Placements from one seed after the other."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.fpga.placing import Placement, place_until_met


def _report(*clocks: float) -> dict:
    fmax = {f"clock {k}": {"achieved": mhz} for k, mhz in enumerate(clocks)}
    return {"fmax": fmax, "utilization": {"LUT": {"used": 3}, "PLL": {"used": 0}}}


def test_the_first_seed_whose_slowest_clock_is_fast_enough_is_taken():
    reports = {1: _report(90, 40), 2: _report(70, 50), 3: _report(99, 99)}
    assert place_until_met(reports.__getitem__, 50, 3) == Placement(2, 50, 0.0, {"LUT": 3})
    assert place_until_met(reports.__getitem__, 50, 1, first=3).seed == 3


def test_a_clock_that_no_placement_meets_is_refused_with_the_best():
    reports = {1: _report(40), 2: _report(45.5), 3: _report(44)}
    with pytest.raises(PointsmanError, match=r"clock of 50 MHz is not met: 45.5 MHz at best in 3 placements"):
        place_until_met(reports.__getitem__, 50, 3)
