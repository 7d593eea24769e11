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
        (["--slots", "0"], "x>=1"),
        (["--network", "ring"], "--network is torus, mesh or crossbar, perhaps with a size"),
        (["--network", "torus:2x3"], "shift has 4 processors, so a torus of that many nodes in two dimensions"),
        (["--network", "torus:4"], "so a torus of that many nodes in two dimensions"),
        (["--network", "crossbar:2x2"], "so a crossbar of that many ports"),
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
    assert f"{program}:2:5: this is no Fortran statement" in done.output
    assert "  x = = 1\n      ^" in done.output
    program.write_text("program p\nreal a(4), s\n!hpf$ processors q(2)\ns = 0\na = a / (1 - a)\nend\n")
    assert "with all values 1, p cannot be carried out" in _call(program, "--count").output


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
    assert "shift on a mesh of 2 nodes" in done.output


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("scd", "initial: {program}:10:3: b(i-1) -> t(i)\n"),
        ("communications", "scheduled: {program}:9:1: b(i-1) -> t(i), i = 2:8:1\n"),
        ("patterns", '"pairs"'),
        ("phases", '"degree": 1'),
        ("traffic", '"traffic": {{"phases": [[[0, 1, 1], [1, 2, 1], [2, 3, 1]]]}}'),
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
        (["--load", "3"], "--load is for phases that are made for a run"),
        (["--dry", "--degrees", "quickest"], "--degrees is for phases, not for runs"),
        (["--emit", "traffic", "--network", "crossbar"], "traffic is for an optical mesh or torus"),
        (["--emit", "cop", "--save", "o.npz"], "--save is for runs"),
        (["--emit", "cop", "--run"], "give one of them"),
        (["--run", "--mesh", "3"], "shift has 4 processors"),
        (["--dry", "--data", "/nowhere.npz"], "cannot read /nowhere.npz"),
    ],
)
def test_what_is_refused_of_runs(words: list[str], said: str, tmp_path: Path) -> None:
    program = tmp_path / "shift.f90"
    program.write_text(SHIFT.replace("a(1) = b(idx(1))", ""))
    done = _call(program, *words)
    assert done.exit_code == 2, done.output
    assert said in done.output
    assert "Traceback" not in done.output


def test_degrees_for_a_run(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = _call(LIVERMORE.with_name("jacobi.f90"), "--degrees", "quickest", "--load", "2", "--json", out)
    assert done.exit_code == 0, done.output
    answer = json.loads(out.read_text())
    assert [phase["degree"] for phase in answer["phases"]] == [1] * 4
    assert answer["slots"] == 4 * 4 * (2 + 2)
    assert "communication of a run: 64 slots\n" in done.output
    for phase in answer["phases"]:
        assert sorted(pair for slot in phase["configurations"] for pair in slot) == phase["connections"]


def test_all_that_a_run_sends_is_traffic_for_an_optical_network(tmp_path: Path) -> None:
    spec, out = tmp_path / "traffic.json", tmp_path / "out.json"
    line = ["--set", "n=6", "--network", "torus:4x2", "--emit", "traffic"]
    spec.write_text(_call(LIVERMORE.with_name("gauss_seidel.f90"), *line).stdout)
    assert json.loads(spec.read_text())["network"] == {"kind": "torus", "size": [4, 2]}
    done = CliRunner().invoke(main, ["optical", str(spec), "--mode", "compiled", "--json", str(out)])
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["compiled"]["delivered"] > 0


BAD = (
    "program bad\nreal a(8), b(8,8)\n!hpf$ processors q(2)\n!hpf$ template t(8)\n!hpf$ align a(i) with t({})\n"
    "{}!hpf$ distribute t(block)\n"
)


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        (8, BAD.format("i", "") + "a = 0\na(1) = = 2\nend\n", "this is no Fortran statement"),
        (6, BAD.format("i", "!hpf$ frobnicate a\n") + "a = 0\nend\n", "there is no directive frobnicate"),
        (7, BAD.format("i", "") + "a(1,2) = 0\nend\n", "a has 1 dimensions and is given 2 subscripts"),
        (7, BAD.format("i", "") + "a = b\nend\n", "arrays of one assignment have one rank"),
        (5, BAD.format("2*i", "") + "a = 0\nend\n", "elements would have no owner"),
        (
            10,
            BAD.format("i", "") + "call f\ncontains\nsubroutine f\ncall f\nend subroutine\nend program\n",
            "recursion: f calls f",
        ),
    ],
)
def test_bad_programs(place: int, text: str, said: str, tmp_path: Path) -> None:
    """Message, place, the line with a caret; exit status 2."""
    program = tmp_path / "bad.f90"
    program.write_text(text)
    done = _call(program, "--json", tmp_path / "out.json")
    assert done.exit_code == 2, done.output
    assert said in done.output
    assert f"{program}:{place}:" in done.output
    assert text.splitlines()[place - 1] in done.output
    assert "  ^" in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "out.json").exists()


def test_arrays_larger_than_the_nodes_hold(tmp_path: Path) -> None:
    program = tmp_path / "large.f90"
    program.write_text("program p\nreal a(3000000)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\na(1) = 0\nend\n")
    done = _call(program, "--dry")
    assert done.exit_code == 2, done.output
    said = "large.f90:2:6: the arrays of p take 3000000 words, most of them a(1:3000000); a node has 1048576"
    assert said in done.output
    assert "hint: " in done.output
