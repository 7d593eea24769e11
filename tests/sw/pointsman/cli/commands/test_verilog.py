"""``pointsman verilog tdm-switch``, and its blocks for ``pointsman synth``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from amaranth._toolchain.yosys import YosysError
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.fpga.blocks import BLOCKS
from pointsman.fpga.chain import block_rtlil
from tdm_switch import emit


def test_verilog_and_address_map_are_written(tmp_path: Path) -> None:
    output = tmp_path / "switch.v"
    done = CliRunner().invoke(main, ["verilog", "tdm-switch", "--ports", "2", "--slots", "1", "-o", str(output)])
    assert done.exit_code == 0, done.output
    text = output.read_text()
    assert "module tdm_switch(" in text
    assert "ports 2, slots 1" in text
    told = json.loads(output.with_suffix(".map.json").read_text())
    assert told["addresses"]["command"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["tdm-switch", "--ports", "129"], "ports must be 1 to 128, not 129"),
        (["tdm-switch", "--slots", "0"], "slots must be 1 to 64, not 0"),
        (["tdm-switch", "--width", "8"], "width must be 24 to 64, not 8"),
        (["tdm-switch", "--full-bits", "memory"], "the block tdm-switch has no option --full-bits"),
        (["tdm-switch", "--mesh", "4x4"], "the block tdm-switch has no option --mesh"),
        (["tdm-switch", "--vfsms", "8"], "the block tdm-switch has no option --vfsms"),
        (["numesh", "--mesh", "2x2", "--slots", "2"], "the block numesh has no option --slots"),
    ],
)
def test_bad_options_are_refused(options: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["verilog", *options, "-o", str(tmp_path / "x.v")])
    assert done.exit_code == 2
    assert done.output.startswith(f"pointsman: {message}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["tdm-array", "tdm-scheduler", "tdm-switch"])
def test_blocks_can_be_made_in_a_small_size(name: str) -> None:
    dut = BLOCKS[name].dut({"ports": 2})
    assert dut.shape["ports"] == 2
    assert "module \\dut" in block_rtlil(dut.component)


def test_blocks_refuse_bad_sizes() -> None:
    with pytest.raises(PointsmanError, match="ports must be 1 to 128, not 0"):
        BLOCKS["tdm-array"].dut({"ports": 0})
    with pytest.raises(PointsmanError, match="the pipelined array starts at"):
        BLOCKS["tdm-array"].dut({"order": "pipelined", "start": "any"})
    with pytest.raises(PointsmanError, match="guard cycles must be 0 to 7"):
        BLOCKS["tdm-switch"].dut({"guard_cycles": 8})
    with pytest.raises(PointsmanError, match="no size vfsms"):
        BLOCKS["tdm-switch"].dut({"vfsms": 8})


def test_an_order_that_the_switch_does_not_have_is_not_offered() -> None:
    done = CliRunner().invoke(main, ["verilog", "tdm-switch", "--order", "pipelined", "-o", "x.v"])
    assert done.exit_code == 2
    assert "'pipelined' is not one of 'plain', 'wrapped'" in done.output


def test_a_yosys_that_fails_is_an_error_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen where the disk was full for its own files."""

    def fail(shape: object) -> str:
        raise YosysError("Traceback (most recent call last):\n  File x\nwasmtime._error.WasmtimeError: File too large")

    monkeypatch.setattr(emit, "switch_verilog", fail)
    done = CliRunner().invoke(main, ["verilog", "tdm-switch", "--ports", "2", "-o", str(tmp_path / "x.v")])
    assert done.exit_code == 2
    assert done.output == "pointsman: Yosys, which writes the Verilog: wasmtime._error.WasmtimeError: File too large\n"
    assert not list(tmp_path.iterdir())


def test_streams_and_loaders_say_why_warnings_of_a_linter_are_off(tmp_path: Path) -> None:
    (tmp_path / "p.cop").write_text("(cshift 'c 1)\n")
    image, streams, loader = (str(tmp_path / name) for name in ("p.image", "s.v", "l.v"))
    for arguments in (
        ["compile", str(tmp_path / "p.cop"), "--mesh", "2x1", "-o", image],
        ["verilog", "host-bridge", "--bus", "axi4-stream", "--streams", "0:2:in", "-o", streams],
        ["verilog", "host-loader", "--image", image, "-o", loader],
    ):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
    for path, title in ((streams, "// AXI4-Streams at 1 NuMesh nodes"), (loader, "// loader of the image p")):
        lines = Path(path).read_text().splitlines()
        assert lines[0] == title
        assert lines[1].startswith("/* verilator lint_off DECLFILENAME */ // ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mesh", "2x2"], "a 2x1 mesh, not a 2x2 mesh"),
        (["--mesh", "2x1", "--vfsms", "16"], "vfsms 32, not 16"),
        (["--mesh", "3x1", "--registers", "8"], "a 2x1 mesh, not a 3x1 mesh; registers 16, not 8"),
    ],
)
def test_an_image_for_other_routers_is_refused_with_what_is_different(
    tmp_path: Path, options: list[str], said: str
) -> None:
    (tmp_path / "p.cop").write_text("(cshift 'c 1)\n")
    image = str(tmp_path / "p.image")
    done = CliRunner().invoke(main, ["compile", str(tmp_path / "p.cop"), "--mesh", "2x1", "-o", image])
    assert done.exit_code == 0, done.output
    output = tmp_path / "mesh.v"
    done = CliRunner().invoke(main, ["verilog", "numesh", *options, "--image", image, "-o", str(output)])
    assert done.exit_code == 2
    assert f"the image {image} is for {said}\n" in done.output
    assert not output.exists()
