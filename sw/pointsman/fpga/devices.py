"""FPGAs that can be synthesised for."""

from __future__ import annotations

from dataclasses import dataclass

from pointsman.errors import PointsmanError

SPEEDS = (6, 7, 8)
"""Speed grades of the ECP5; 8 is the fastest."""
PACKAGE = "CABGA381"
"""A package that every size comes in. Pins do not count here."""


@dataclass(frozen=True)
class Device:
    """An FPGA: its name with nextpnr, and what it holds."""

    name: str
    option: str
    luts: int
    """Look-up tables of four inputs, with a flip-flop each. A sixteenth of what they hold may be memory, see `rams`."""
    ebr: int
    """Block memories of 18 kbit."""

    @property
    def rams(self) -> int:
        """Memories of 16 words of 4 bits; each takes the place of four look-up tables."""
        return self.luts // 8


DEVICES = {
    device.name: device
    for device in (
        Device("ecp5-12k", "--12k", 24288, 56),  # the die of the 25k
        Device("ecp5-25k", "--25k", 24288, 56),
        Device("ecp5-45k", "--45k", 43848, 108),
        Device("ecp5-85k", "--85k", 83640, 208),
    )
}


def device_of(name: str, speed: int) -> Device:
    """The device of this name.

    Raises
    ------
    PointsmanError
        If there is none, or it is not made in this speed grade.
    """
    if name not in DEVICES:
        raise PointsmanError(f"a device must be one of {', '.join(DEVICES)}, not {name!r}")
    if speed not in SPEEDS:
        raise PointsmanError(f"the speed grade of an ECP5 must be {', '.join(map(str, SPEEDS))}, not {speed}")
    return DEVICES[name]
