"""``compile --target optical``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pointsman.api.targets import optical
from pointsman.cli import main


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.cop"
    path.write_text("(sequential (cshift 'a 1 :m 8) (broadcast 'b 0 :m 4))\n")
    return path


def _cli(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_phases_become_configurations_beside_those_of_a_crossbar(program, tmp_path):
    out = tmp_path / "p.json"
    done = _cli("compile", program, "--topology", "torus:4x4", "--target", "optical", "-o", out)
    assert done.exit_code == 0, done.output
    assert "on an optical 4x4 torus" in done.output
    made = json.loads(out.read_text())
    assert {label for phase in made["phases"] for label in phase["operators"]} == {"a", "b"}
    assert made["degree"] == max(one["degree"] for one in made["sets"])
    assert all(one["degree"] >= max(one["bound"], one["crossbar"]) for one in made["sets"])
    emitted = _cli("compile", program, "--topology", "torus:4x4", "--target", "optical", "--emit", "tables")
    assert json.loads(emitted.stdout) == made


def test_every_set_is_judged(program, monkeypatch):
    seen = []
    monkeypatch.setattr(optical, "judge_configurations", seen.append)
    assert _cli("compile", program, "--mesh", "2x2", "--target", "optical").exit_code == 0
    assert seen
    assert all(one.degree for one in seen)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mesh", "2x2", "--emit", "routes"], "--emit routes is a stage of target numesh"),
        (["--mesh", "2x2", "--period", "8"], "--period is for the mesh of scheduled routers, not for target optical"),
        (["--mesh", "2x2", "--slots", "2"], "--slots are for the switch, not for target optical"),
        (["--mesh", "2x2", "-P", "3"], "--addresses is for --target packet"),
    ],
)
def test_options_of_other_targets_are_refused(program, options, message):
    done = _cli("compile", program, "--target", "optical", *options)
    assert done.exit_code == 2
    assert message in done.output


def test_it_runs_on_a_switch_with_its_configurations(tmp_path):
    """Every port of the switch makes, slot by slot, the connections of the torus; the answer is right."""
    out = tmp_path / "run.json"
    line = ["run", "examples/matmul/matmul.py", "--topology", "torus:2x2", "--target", "optical", "--json", out]
    done = _cli(*line, "--engine", "model", "--", "--size", "4")
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["correct"] is True


def test_what_is_too_large_for_the_switch_is_not_run(monkeypatch):
    monkeypatch.setattr(optical, "switch_tables", lambda *given, **options: None)
    done = _cli("run", "examples/matmul/matmul.py", "--mesh", "2x2", "--target", "optical", "--", "--size", "4")
    assert done.exit_code == 2
    assert "needs more configurations at a time, or more ports, than the switch has" in done.output
