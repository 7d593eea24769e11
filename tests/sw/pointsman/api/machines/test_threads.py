"""``pointsman tam``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.api.machines.threads import run_tam
from pointsman.cli import main
from pointsman.errors import PointsmanError

EXAMPLES = Path(__file__).parents[5] / "examples/tam"


def test_the_command_prints_the_answer_and_writes_counts(tmp_path: Path) -> None:
    out = tmp_path / "counts.json"
    arguments = ["tam", str(EXAMPLES / "fib.tam"), "8", "--nodes", "6", "--costs", "hybrid", "--json", str(out)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "the program gave 21" in done.output
    values = json.loads(out.read_text())
    assert values["result"] == [21]
    assert values["machine"] == "hybrid"
    assert set(values["instructions"]) == {"alu", "control", "messages"}


def test_what_cannot_be_run_is_a_line_and_status_2(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.tam"
    wrong.write_text("codeblock main\n thread go\n  jump\n")
    for arguments, said in (
        ([str(tmp_path / "none.tam")], "there is no TAM program"),
        ([str(wrong)], f"{wrong}:3: there is no instruction 'jump'"),
        ([str(EXAMPLES / "fib.tam"), "x"], "an argument of a TAM program must be a number, not 'x'"),
        ([str(EXAMPLES / "fib.tam"), "3", "--logp", "cm7"], "a LogP machine cannot be 'cm7'"),
    ):
        done = CliRunner().invoke(main, ["tam", *arguments])
        assert done.exit_code == 2
        assert said in done.output
    wrong.write_bytes(b"\xff")
    with pytest.raises(PointsmanError, match="is no text"):
        run_tam(wrong)
