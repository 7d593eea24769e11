"""Applications on the RTL of packet routers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

MATMUL = Path(__file__).parents[4] / "examples" / "matmul" / "matmul.py"

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")


def _run(*arguments: str):
    return CliRunner().invoke(main, ["run", str(MATMUL), "--target", "packet", *arguments])


@needs_compiler
@pytest.mark.parametrize("mesh", ["2x2", pytest.param("4x4", marks=pytest.mark.slow)])
@pytest.mark.parametrize("addresses", ["16", "2"])
@pytest.mark.parametrize("engine", ["verilated", "model"])
def test_matrix_multiplication_runs_unchanged(tmp_path, mesh, addresses, engine):
    path = tmp_path / "run.json"
    result = _run("--mesh", mesh, "--size", "12", "-P", addresses, "--engine", engine, "--json", str(path))
    assert result.exit_code == 0, result.output
    plain = json.loads(path.read_text())
    assert plain["correct"]
    assert plain["target"] == "packet"
    assert plain["engine"] == engine
    assert plain["operators"]["b"]["implementation"] == "dyn_bcast_dense"
    assert plain["categories"]["cpu"] > 0
    assert plain["categories"]["psync"] == plain["categories"]["router"] == plain["categories"]["reprog"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--engine", "amaranth"), "packet routers run on the engines verilated and model, not on amaranth"),
        (("--preload",), "--preload is for scheduled routers, not for --target packet"),
        (("--vfsms", "16"), "--vfsms is for scheduled routers, not for --target packet"),
        (("-P", "1"), "interface addresses must be 2 to 16, not 1"),
    ],
)
def test_what_packet_routers_do_not_have_is_refused(arguments, message):
    result = _run("--mesh", "2x2", "--size", "4", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_addresses_are_for_packet_routers():
    result = CliRunner().invoke(main, ["run", str(MATMUL), "--mesh", "2x2", "--size", "4", "-P", "4"])
    assert result.exit_code == 2
    assert "--addresses is for --target packet" in result.output
