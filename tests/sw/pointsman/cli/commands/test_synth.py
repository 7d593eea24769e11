"""``pointsman synth``: its options, and how it prints what was measured."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.cli.commands.synth import _text, synth
from pointsman.fpga.blocks import BLOCKS

PLAIN: dict[str, Any] = {
    "block": "numesh", "device": "ecp5-85k", "speed": 8, "lut4": 10, "ff": 20, "dpr16x4": 3, "ebr": 4, "seeds": 2,
    "mhz": {"median": 50.04, "min": 48.0, "max": 52.0},
    "critical_path": {
        "ns": 19.98, "routing_ns": 9.5, "from": "a", "to": "b", "levels": 3, "seed": 1,
        "steps": [
            {"ns": 0.5, "kind": "logic"},
            {"ns": 1.25, "kind": "routing", "signal": "word", "source": "hdl/x.py:3"},
            {"ns": 2.0, "kind": "routing", "logic_near": "held"},
        ],
    },
}  # fmt: skip


def test_every_size_of_every_block_is_an_option_once() -> None:
    options = [parameter.name for parameter in synth.params]
    assert len(options) == len(set(options))
    for block in BLOCKS.values():
        assert {size.name for size in block.sizes} <= set(options)


def test_the_text_has_the_figures_and_a_line_for_each_step() -> None:
    lines = _text(PLAIN).splitlines()
    assert lines[0] == "numesh on ecp5-85k, speed grade 8"
    assert lines[1].split()[:4] == ["10", "LUT4,", "20", "flip-flops,"]
    assert "50.0 MHz (48.0 to 52.0, 2 seeds)" in lines[2]
    assert lines[4].split() == ["0.50", "logic"]
    assert lines[5].split() == ["1.25", "routing", "word", "hdl/x.py:3"]
    assert lines[6].split() == ["2.00", "routing", "logic", "near", "held"]
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["toaster"], "'toaster' is not one of 'numesh'"),
        (["numesh", "--seeds", "x"], "'x' is not a valid integer"),
        ([], "Missing argument"),
    ],
)
def test_what_is_no_block_or_no_number_is_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["synth", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured() -> None:
    result = CliRunner().invoke(main, ["synth", "numesh", "--json", "/nowhere/x.json"])
    assert (result.exit_code, result.output) == (
        2,
        "pointsman: cannot write /nowhere/x.json: there is no folder /nowhere\n",
    )
