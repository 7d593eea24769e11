"""Commands that may take long say what they do, on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.api import progress
from pointsman.cli import main

CONNECTIONS = {"network": {"kind": "torus", "size": [4, 4]}, "connections": [[0, 9], [0, 1], [3, 7]]}
EXAMPLES = Path(__file__).parents[4] / "examples"
THREADS = f"""[[sweep]]
application = "{EXAMPLES / "tam" / "program.py"}"
network = ["1x1"]
target = "logp"
arguments.file = "matmul.fun"
arguments.values = ["2"]
"""
STREAMS = {"topology": {"kind": "torus", "size": [4, 4]}, "streams": [{"source": 0, "destinations": [5]}]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "two.cop", "--mesh", "2x2", "--decision"], "planning two"),
        (["route", "streams.json"], "routing streams.json"),
        (["configure", "connections.json"], "dividing the connections into configurations"),
        (["check", "two.image"], "proving two.image"),
        (["arrays", "sums.f90", "--procs", "2x2"], "deriving the communications of sums.f90"),
        (["arrays", "sums.f90", "--procs", "2x2"], "placing the communications of sums.f90 in phases"),
        (["arrays", "sums.f90", "--procs", "2x2", "--count"], "counting what sums.f90 sends"),
        (["sweep", "threads.toml"], "running the cases of threads.toml"),
    ],
    ids=["explain", "route", "configure", "check", "derive", "phases", "count", "sweep"],
)
def test_a_line_is_told_now_and_then(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.f90").write_text((EXAMPLES / "arrays" / "livermore18.f90").read_text())
    Path("threads.toml").write_text(THREADS)
    Path("two.cop").write_text("(cshift 'a 1 :m 9)")
    Path("streams.json").write_text(json.dumps(STREAMS))
    Path("connections.json").write_text(json.dumps(CONNECTIONS))
    if arguments[0] == "check":
        done = CliRunner().invoke(main, ["compile", "two.cop", "--mesh", "2x2", "-o", "two.image"])
        assert done.exit_code == 0, done.output
    monkeypatch.setattr(progress, "PAUSES", (0.0, 0.001))
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert f"{progress.MARK}{said}" in done.stderr
    assert said not in done.stdout
