"""FPGAs that can be synthesised for."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.fpga.devices import DEVICES, device_of


def test_devices_that_are_not_made_are_refused() -> None:
    known = "ecp5-12k, ecp5-25k, ecp5-45k, ecp5-85k, gw1nr-9, gw2ar-18"
    with pytest.raises(PointsmanError, match=rf"^a device must be one of {known}, not 'ice40'$"):
        device_of("ice40", 8)
    with pytest.raises(PointsmanError, match=r"^the speed grade of ecp5-25k must be 6, 7, 8, not 5$"):
        device_of("ecp5-25k", 5)
    with pytest.raises(PointsmanError, match=r"^the speed grade of gw1nr-9 must be 6, not 8$"):
        device_of("gw1nr-9", 8)
    assert device_of("ecp5-25k", 6) == (DEVICES["ecp5-25k"], 6)


def test_the_fastest_grade_is_taken_if_none_is_given() -> None:
    assert {name: device_of(name)[1] for name in ("ecp5-85k", "gw1nr-9", "gw2ar-18")} == {
        "ecp5-85k": 8,
        "gw1nr-9": 6,
        "gw2ar-18": 8,
    }
