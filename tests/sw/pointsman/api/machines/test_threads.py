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


def test_a_functional_program_is_compiled_either_way_and_its_assembler_runs(tmp_path: Path) -> None:
    out, text = tmp_path / "counts.json", tmp_path / "compiled.tam"
    found = []
    for threads in ("operations", "partitions"):
        arguments = ["tam", str(EXAMPLES / "quicksort.fun"), "6", "2", "--nodes", "2", "--threads", threads]
        done = CliRunner().invoke(main, [*arguments, "--json", str(out), "--assembler", str(text)])
        assert done.exit_code == 0, done.output
        assert "the program gave 5" in done.output
        found.append(json.loads(out.read_text())["instructions"]["control"])
        again = run_tam(text, [6, 2], 2)
        assert again.values["result"] == [5]
        assert again.values["instructions"]["control"] == found[-1]
    assert found[1] < found[0]


def test_an_error_of_a_functional_program_has_its_place(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.fun"
    wrong.write_text("(define (main n)\n  (+ n m))\n")
    done = CliRunner().invoke(main, ["tam", str(wrong), "1", "--assembler", str(tmp_path / "none.tam")])
    assert done.exit_code == 2
    assert f"{wrong}:2:8: there is no name 'm' here\n  (+ n m))\n       ^" in done.output
    assert not (tmp_path / "none.tam").exists()
