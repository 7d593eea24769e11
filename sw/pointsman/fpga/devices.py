"""FPGAs that can be synthesised for."""

from __future__ import annotations

from dataclasses import dataclass

from pointsman.errors import PointsmanError


@dataclass(frozen=True)
class Device:
    """An FPGA, and what it holds.

    ``options`` are those that nextpnr needs, but for the speed grade, which is one of ``speeds``, the slowest first; "%d" in
    an option stands for it.
    """

    name: str
    family: str
    options: tuple[str, ...]
    speeds: tuple[int, ...]
    luts: int
    """Look-up tables of four inputs."""
    ffs: int
    rams: int
    """Memories of 16 words of 4 bits; each takes the place of four look-up tables."""
    ebr: int
    """Block memories of 18 kbit."""


def _ecp5(name: str, die: str, luts: int, ebr: int) -> Device:
    """A look-up table has a flip-flop; every second one may be part of a memory. The package is one that all sizes come in:
    pins do not count here. The placer minds timing more than it does by itself (25 in place of 10): with its own weight long
    wires of a node cost a twentieth of the clock; with more, placements of one netlist differ more. The router takes up wires
    that are in the way of slow paths, which is worth four hundredths of a node's clock and twice the time of routing."""
    options = (
        *(f"--{die}", "--package", "CABGA381", "--speed", "%d", "--lpf-allow-unconstrained"),
        *("--placer-heap-timingweight", "25", "--tmg-ripup"),
    )
    return Device(name, "ecp5", options, (6, 7, 8), luts, luts, luts // 8, ebr)


def _gowin(name: str, part: str, die: str, grade: int, luts: int, ffs: int, rams: int, ebr: int) -> Device:
    """The part of a board; its speed grade is in the part's name."""
    return Device(name, "gowin", ("--device", part, "--vopt", f"family={die}"), (grade,), luts, ffs, rams, ebr)


DEVICES = {
    device.name: device
    for device in (
        _ecp5("ecp5-12k", "12k", 24288, 56),  # the die of the 25k
        _ecp5("ecp5-25k", "25k", 24288, 56),
        _ecp5("ecp5-45k", "45k", 43848, 108),
        _ecp5("ecp5-85k", "85k", 83640, 208),
        _gowin("gw1nr-9", "GW1NR-LV9QN88PC6/I5", "GW1N-9C", 6, 8640, 6480, 270, 26),  # Tang Nano 9K
        _gowin("gw2ar-18", "GW2AR-LV18QN88C8/I7", "GW2A-18C", 8, 20736, 15552, 648, 46),  # Tang Nano 20K
    )
}


def device_of(name: str, speed: int | None = None) -> tuple[Device, int]:
    """The device of this name, and its speed grade: the fastest if none is given.

    Raises
    ------
    PointsmanError
        If there is none, or it is not made in this speed grade.
    """
    if name not in DEVICES:
        raise PointsmanError(f"a device must be one of {', '.join(DEVICES)}, not {name!r}")
    device = DEVICES[name]
    if speed is None:
        speed = device.speeds[-1]
    if speed not in device.speeds:
        raise PointsmanError(f"the speed grade of {name} must be {', '.join(map(str, device.speeds))}, not {speed}")
    return device, speed
