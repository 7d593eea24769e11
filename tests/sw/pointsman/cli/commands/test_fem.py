"""``pointsman fem`` as a user calls it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pointsman.cli import main


def call(*words):
    return CliRunner().invoke(main, ["fem", *map(str, words)])


def test_a_mesh_becomes_parts_phases_and_a_program(tmp_path):
    out, text = tmp_path / "out.json", tmp_path / "halo.cop"
    done = call("random:120:1", "--parts", 8, "--mesh", "3x3", "--channels", 6, "--json", out, "--cop", text)
    assert done.exit_code == 0, done.output
    assert "8 parts of " in done.output
    content = json.loads(out.read_text())
    connections = [row for phase in content["exchange"]["phases"] for row in phase["connections"]]
    assert len({row["connection"] for row in connections}) == len(connections)
    assert content["placement"]["after"] <= content["placement"]["before"]
    assert text.read_text().count("(stream ") == len(connections)
    again = CliRunner().invoke(main, ["explain", str(text), "--mesh", "3x3"])
    assert again.exit_code == 0, again.output


def test_a_mesh_is_solved_on_the_machine_with_logical_channels(tmp_path):
    out = tmp_path / "out.json"
    done = call("plate:8x8", "--parts", 5, "--topology", "torus:3x2", "--run", "--target", "iwarp", "--json", out)
    assert done.exit_code == 0, done.output
    assert "solution equal to SciPy's" in done.output
    assert json.loads(out.read_text())["runs"]["iwarp"]["correct"]


def test_a_wrong_solution_ends_with_status_1():
    done = call("plate:8x8", "--parts", 4, "--mesh", "2x2", "--run", "--target", "iwarp", "--rounds", 1)
    assert done.exit_code == 1
    assert "the solution differs from SciPy's" in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plate:4x4", "--parts", "9", "--mesh", "2x2"], "9 parts do not fit on 4 nodes of the 2x2 mesh, one each"),
        (["plate:1x1", "--parts", "3", "--mesh", "2x2"], "a mesh of 2 elements can have 1 to 2 parts, not 3"),
        (["plate:4x4", "--parts", "0", "--mesh", "2x2"], "can have 1 to 32 parts, not 0"),
        (["none.msh", "--parts", "2", "--mesh", "2x2"], "there is no mesh file none.msh"),
        (["plate:4x4", "--parts", "2", "--mesh", "2x2", "--target", "iwarp"], "--target and --rounds say how to run"),
        (["plate:4x4", "--parts", "2", "--mesh", "2x2", "--run", "--target", "cray"], "there is no machine 'cray'"),
        (
            ["plate:4x4", "--parts", "2", "--mesh", "2x2", "--run", "--rounds", "0"],
            "there must be 1 to 100000 rounds, not 0",
        ),
        (["plate:4x4", "--parts", "2", "--mesh", "2x2", "--partition", "knife"], "there is no partitioner 'knife'"),
        (["plate:4x4", "--parts", "2", "--mesh", "2x2", "--channels", "0"], "channels: a node must have 1 to 1024"),
        (["plate:4x4", "--parts", "2", "--mesh", "2x2", "--plot", "x.txt"], "a plot must end in .png, .svg, .pdf"),
        (["plate:4x4", "--parts", "2"], "the size of the network is missing"),
        (["plate:1x2", "--parts", "2", "--mesh", "2x2", "--run"], "all nodes of the mesh are on its border"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(words, message):
    done = call(*words)
    assert done.exit_code == 2, done.output
    assert message in done.output
