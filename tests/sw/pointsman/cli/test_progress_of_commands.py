"""Commands that may take long say what they do, on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.api import progress
from pointsman.cli import main

CONNECTIONS = {"network": {"kind": "torus", "size": [4, 4]}, "connections": [[0, 9], [0, 1], [3, 7]]}
STREAMS = {"topology": {"kind": "torus", "size": [4, 4]}, "streams": [{"source": 0, "destinations": [5]}]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "two.cop", "--mesh", "2x2", "--decision"], "planning two"),
        (["route", "streams.json"], "routing streams.json"),
        (["configure", "connections.json"], "dividing the connections into configurations"),
        (["check", "two.image"], "proving two.image"),
    ],
    ids=["explain", "route", "configure", "check"],
)
def test_a_line_is_told_now_and_then(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
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
