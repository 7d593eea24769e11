"""``pointsman channels`` as a user calls it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pointsman.cli import main

SPEC = {"network": {"kind": "torus", "size": [4, 4]}, "channels": 2, "connections": [[0, 5, 9], [0, 6, 9], [0, 2, 4]]}


@pytest.fixture
def call(tmp_path):
    path = tmp_path / "spec.json"

    def run(content, *options):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return CliRunner().invoke(main, ["channels", str(path), *map(str, options)])

    return run


def test_connections_go_in_and_phases_come_out(call, tmp_path):
    out = tmp_path / "out.json"
    done = call(SPEC, "--json", out)
    assert done.exit_code == 0, done.output
    assert "3 connections in 2 phases (best)" in done.output
    assert "bound: 2 (node): node 0 is an end of 3 connections and has 2 channels" in done.output
    answer = json.loads(out.read_text())
    assert sorted(row["connection"] for phase in answer["phases"] for row in phase["connections"]) == [0, 1, 2]
    assert answer["predicted"]["clocks"] == 2 * 528 + 44 - 22 * (len(answer["phases"]) < 2)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ({**SPEC, "phases": 1}, [], "phases: 1 are too few, 2 are needed at least: node 0 is an end of 3 connections"),
        (SPEC, ["--algorithm", "none"], "there is no algorithm 'none'"),
        (SPEC, ["--json", "/nowhere/out.json"], "there is no folder /nowhere"),
        ({**SPEC, "connections": [[0, 16, 1]]}, [], "connections[0]: a node must be one of 0..15, not 16"),
        ("[", [], "spec.json: Expected `object`, got `array`"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(call, tmp_path, content, options, message):
    done = call(content, *options)
    assert done.exit_code == 2
    assert message in done.output
    assert not (tmp_path / "out.json").exists()
