"""``pointsman compare`` of two results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main


def test_a_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2]")
    done = CliRunner().invoke(main, ["compare", str(path), str(path)])
    assert done.exit_code == 2
    assert done.output.startswith("pointsman: ")


def test_a_program_is_compared_on_all_targets(tmp_path: Path) -> None:
    path, out = tmp_path / "p.cop", tmp_path / "out.json"
    path.write_text("(parameter words 4)\n(cshift 'c 1 :m words)\n")
    options = ["--topology", "torus:2x2", "--set", "words=6", "--json", str(out)]
    done = CliRunner().invoke(main, ["compare", str(path), *options])
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.output.splitlines()[2:6]] == ["numesh", "tdm", "packet", "optical"]
    assert {row["target"] for row in json.loads(out.read_text())} == {"numesh", "tdm", "packet", "optical"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.json"], "there is one result: a second is missing"),
        (["a.json", "a.json", "--mesh", "2x2"], "a network and --set are for a program"),
        (["p.cop"], "the size of the network is missing"),
    ],
)
def test_wrong_calls_are_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "p.cop").write_text("(barrier 'b)")
    (tmp_path / "a.json").write_text("{}")
    named = [str(tmp_path / one) if one.endswith(("json", "cop")) else one for one in arguments]
    done = CliRunner().invoke(main, ["compare", *named])
    assert done.exit_code == 2
    assert said in done.output
