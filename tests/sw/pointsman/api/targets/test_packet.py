"""``compile --target packet`` and ``verilog packet-router``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pointsman.cli import main


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.cop"
    path.write_text("(stream 'A 1 3) (stream 'B 1 3) (stream 'C 3 2) (stream 'D 2 3)\n")
    return path


def _cli(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_compile_prints_addresses_and_writes_them(program, tmp_path):
    out = tmp_path / "p.json"
    result = _cli("compile", program, "--mesh", "2x2", "--target", "packet", "-o", out)
    assert result.exit_code == 0, result.output
    assert "dyn_stream" in result.output
    operators = json.loads(out.read_text())["operators"]
    assert [operators[label]["addresses"][0]["address"] for label in "ABCD"] == [1, 1, 1, 1]


@pytest.mark.parametrize("emit", ["routes", "images"])
def test_stages_that_packets_do_not_have_are_refused(program, emit):
    result = _cli("compile", program, "--mesh", "2x2", "--target", "packet", "--emit", emit)
    assert result.exit_code == 2
    assert f"--emit {emit} is for scheduled routers" in result.output


def test_too_large_a_mesh_is_refused(program):
    result = _cli("compile", program, "--mesh", "65x60", "--target", "packet")
    assert result.exit_code == 2
    assert "coordinates must fit 12 bits" in result.output
    result = _cli("compile", program, "--topology", "diamond:5", "--target", "packet")
    assert result.exit_code == 2
    assert (
        "packet routers go up-down on a diamond of 165 nodes, by tables for at most 64 nodes, not 165" in result.output
    )


def test_verilog_is_the_same_every_time_and_holds_the_node_once(tmp_path):
    texts = []
    for name in ("a.v", "b.v"):
        result = _cli("verilog", "packet-router", "--mesh", "2x2", "-o", tmp_path / name)
        assert result.exit_code == 0, result.output
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert texts[0].count("\nmodule packet_node(") == 1
    assert "module packet_mesh(" in texts[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("packet-router", "--channels", 3), "channels must be 1 for e-cube on a mesh, not 3"),
        (("packet-router", "--buffer", 5), "buffer must be a power of two from 2 to 64, not 5"),
        (("packet-router", "--vfsms", 8), "the block packet-router has no option --vfsms"),
        (("numesh", "--torus"), "the block numesh has no option --torus"),
    ],
)
def test_sizes_that_cannot_be_are_refused(tmp_path, arguments, message):
    result = _cli("verilog", *arguments, "--mesh", "2x2", "-o", tmp_path / "x.v")
    assert result.exit_code == 2
    assert message in result.output
