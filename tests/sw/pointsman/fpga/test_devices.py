"""FPGAs that can be synthesised for."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.fpga.devices import DEVICES, device_of


def test_devices_that_are_not_made_are_refused() -> None:
    with pytest.raises(
        PointsmanError, match=r"^a device must be one of ecp5-12k, ecp5-25k, ecp5-45k, ecp5-85k, not 'ice40'$"
    ):
        device_of("ice40", 8)
    with pytest.raises(PointsmanError, match=r"^the speed grade of an ECP5 must be 6, 7, 8, not 5$"):
        device_of("ecp5-25k", 5)
    assert device_of("ecp5-25k", 6) is DEVICES["ecp5-25k"]
