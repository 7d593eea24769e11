"""``pointsman configure`` as a user calls it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pointsman.cli import main

CONNECTIONS = {"network": {"kind": "torus", "size": [4, 4]}, "connections": [[0, 5], [0, 6], [3, 2]]}
DEMAND = {"network": {"kind": "crossbar", "size": 2}, "demand": [[1, 2], [2, 1]], "delta": 1}


@pytest.fixture
def call(tmp_path):
    path = tmp_path / "connections.json"

    def run(content, *options):
        path.write_text(json.dumps(content))
        return CliRunner().invoke(main, ["configure", str(path), *map(str, options)])

    return run


def test_connections_go_in_and_configurations_come_out(call, tmp_path):
    out = tmp_path / "out.json"
    done = call(CONNECTIONS, "--json", out)
    assert done.exit_code == 0, done.output
    assert "3 connections in 2 configurations (best)" in done.output
    assert "bound: 2 (load): the sender of node 0 has 2 connections" in done.output
    answer = json.loads(out.read_text())
    assert answer["degree"] == 2
    assert sorted(pair for part in answer["configurations"] for pair in part) == CONNECTIONS["connections"]


def test_a_demand_gives_durations(call, tmp_path):
    out = tmp_path / "out.json"
    done = call(DEMAND, "--json", out, "--algorithm", "birkhoff")
    assert done.exit_code == 0, done.output
    assert "2 configurations (birkhoff), 5 in all, set-up included" in done.output
    assert [part["duration"] for part in json.loads(out.read_text())["configurations"]] == [2, 1]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (CONNECTIONS, ["--degree", "1"], "1 slots are too few, 2 are needed at least"),
        (CONNECTIONS, ["--degree", "0"], "a degree must be at least 1, not 0"),
        (CONNECTIONS, ["--algorithm", "koenig"], "is for crossbars"),
        (CONNECTIONS, ["--algorithm", "birkhoff"], "there is no algorithm 'birkhoff'"),
        (CONNECTIONS, ["--seed", "-1"], "-1 is not in the range"),
        (CONNECTIONS, ["--effort", "-1"], "effort must be positive"),
        (CONNECTIONS, ["--json", "/nowhere/out.json"], "there is no folder /nowhere"),
        (DEMAND, ["--degree", "3"], "--degree is for connections"),
        (DEMAND, ["--algorithm", "greedy"], "there is no decomposition 'greedy'"),
        ({**DEMAND, "demand": [[1, 2]]}, [], "there must be a row for each of the 2 ports"),
    ],
)
def test_bad_input_is_refused_with_exit_status_2(call, content, options, message):
    done = call(content, *options)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_missing_file_is_refused(tmp_path):
    done = CliRunner().invoke(main, ["configure", str(tmp_path / "none.json")])
    assert done.exit_code == 2
    assert "cannot read the connections file" in done.output
