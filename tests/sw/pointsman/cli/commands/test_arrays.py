"""``pointsman arrays``, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pointsman.cli import main

LIVERMORE = Path(__file__).parents[5] / "examples/arrays/livermore18.f90"
SHIFT = """program shift
integer, parameter :: n = 8
real, dimension(n) :: a, b
integer idx(n)
!hpf$ processors p(4)
!hpf$ template t(n)
!hpf$ align (i) with t(i) :: a, b
!hpf$ distribute t(block)
do i = 2, n
  a(i) = b(i-1)
end do
a(1) = b(idx(1))
end program
"""


def _call(*words: object) -> Result:
    return CliRunner().invoke(main, ["arrays", *map(str, words)])


def test_livermore_18(tmp_path: Path) -> None:
    done = _call(LIVERMORE, "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    assert "scheduled: 16 communications in 6 messages\n" in done.output
    assert "phase 1: 80 connections in" in done.output
    answer = json.loads((tmp_path / "out.json").read_text())
    assert [len(one["pairs"]) for one in answer["patterns"]] == [16] * 6
    assert answer["steps"]["initial"]["elements"] is None
    assert answer["processors"] == [4, 4]
    assert answer["seconds"] < 0.62  # Table 5.1


def test_processors_parameters_and_counts(tmp_path: Path) -> None:
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT)
    done = _call(program, "--count", "--procs", "3", "--set", "n=9", "--network", "crossbar")
    assert done.exit_code == 0, done.output
    assert "vectorised: 2 communications in 2 messages, 8 elements, 4 messages sent" in done.output
    assert "the subscript idx(1) of b is not affine" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--procs", "4y4"], "--procs is sizes between x"),
        (["--procs", "2x2"], "--procs gives 2 dimensions and p has 1"),
        (["--set", "n"], "--set is NAME=INTEGER"),
        (["--set", "n=0"], "the template t is empty along a dimension"),
        (["--slots", "1"], "needs"),
        (["--slots", "0"], "x>=1"),
        (["--json", "/nowhere/out.json"], "/nowhere"),
    ],
)
def test_what_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT.replace("a(1) = b(idx(1))", "s = b(1)"))
    done = _call(program, *words)
    assert done.exit_code == 2, done.output
    assert said in done.output
    assert "Traceback" not in done.output


def test_no_program(tmp_path: Path) -> None:
    program = tmp_path / "bad.f90"
    program.write_bytes(b"\xff\xfe\x00")
    assert "text in UTF-8" in _call(program).output
    program.write_text("program p\nx = = 1\nend\n")
    done = _call(program)
    assert done.exit_code == 2
    assert f"{program}:2:1: this is no Fortran statement" in done.output
    assert "  x = = 1\n  ^" in done.output
    program.write_text("program p\nreal a(4), s\n!hpf$ processors q(2)\ns = 0\na = a / (1 - a)\nend\n")
    assert "cannot be carried out with all values 1" in _call(program, "--count").output


def test_a_run(tmp_path: Path) -> None:
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT.replace("a(1) = b(idx(1))", ""))
    done = _call(program, "--dry", "--words", "2", "--values", "7", "--save", tmp_path / "out.npz")
    assert done.exit_code == 0, done.output
    assert "right: all 48 elements of 3 arrays equal those of the sequential meaning" in done.output
    done = _call(
        program,
        "--run",
        "--procs",
        "2",
        "--engine",
        "model",
        "--json",
        tmp_path / "out.json",
        "--data",
        tmp_path / "out.npz",
    )
    assert done.exit_code == 0, done.output
    answer = json.loads((tmp_path / "out.json").read_text())
    assert answer["run"]["correct"] is True
    assert [(one["kind"], one["arrays"], one["words"]) for one in answer["operators"]] == [("stream", ["b"], 1)]
    assert "shift on a 2" in done.output


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("scd", "initial: {program}:10:3: b(i-1) -> t(i)\n"),
        ("communications", "scheduled: {program}:9:1: b(i-1) -> t(i), i = 2:8:1\n"),
        ("patterns", '"pairs"'),
        ("phases", '"degree": 1'),
        ("cop", "(eoshift 'b_1 1 :type 'float32*)\n"),
        ("app", "class Program(ArrayApplication):\n"),
    ],
)
def test_stages(stage: str, said: str, tmp_path: Path) -> None:
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT.replace("a(1) = b(idx(1))", ""))
    done = _call(program, "--emit", stage)
    assert done.exit_code == 0, done.output
    assert said.format(program=program) in done.output


def test_a_wrong_answer_has_an_exit_status_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pointsman.runtime import array_programs

    monkeypatch.setattr(array_programs, "_same", lambda one, other: one != one)
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT.replace("a(1) = b(idx(1))", ""))
    done = _call(program, "--dry")
    assert done.exit_code == 1
    assert "by the sequential meaning" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "packet"], "--target is for runs"),
        (["--no-check"], "--check/--no-check is for runs"),
        (["--emit", "cop", "--save", "o.npz"], "--save is for runs"),
        (["--emit", "cop", "--run"], "give one of them"),
        (["--run", "--mesh", "3"], "shift has 4 processors"),
        (["--dry", "--data", "/nowhere.npz"], "cannot read /nowhere.npz"),
        (["--run", "--target", "optical"], "optical"),
    ],
)
def test_what_is_refused_of_runs(words: list[str], said: str, tmp_path: Path) -> None:
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT.replace("a(1) = b(idx(1))", ""))
    done = _call(program, *words)
    assert done.exit_code == 2, done.output
    assert said in done.output
    assert "Traceback" not in done.output
