"""The commands for the language: explain, fmt, warnings, and programs that Python makes."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman.cli import main
from pointsman.cop import compile_file, compile_program, compile_text
from pointsman.network import mesh

ROOT = Path(__file__).resolve().parents[3]
COP = ROOT / "examples" / "matmul" / "matmul.cop"
EXAMPLES = sorted((ROOT / "examples").rglob("*.cop"))


def call(*arguments: object, status: int = 0, stdin: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


# explain


def test_explain_prints_the_tree() -> None:
    result = call("explain", COP, "--mesh", "4x4", "--set", "block=100")
    assert "loop 'mul, 4 rounds" in result.stdout
    assert "100 × 1 × 4 = 400 words" in result.stdout
    assert result.stderr == ""


def test_explain_as_json_into_a_file(tmp_path: Path) -> None:
    call("explain", COP, "--mesh", "2x2", "--json", "-o", tmp_path / "x.json")
    plain = json.loads((tmp_path / "x.json").read_text())
    assert (plain["operators"], plain["instances"], plain["parameters"]) == (2, 4, {"block": 225})


@pytest.mark.parametrize("text", ["(" * 100_000 + ")" * 100_000, "(list " * 100_000 + ")" * 100_000, "'" * 100_000])
def test_hostile_text_is_refused_by_explain_without_a_traceback(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.cop").write_text(text)
    result = call("explain", tmp_path / "x.cop", "--mesh", "4x4", status=2)
    assert result.stderr.startswith(f"pointsman: {tmp_path}/x.cop:1:")


# warnings

SUSPECT = "(define spare 3)\n(cshift 'c 4)\n"


@pytest.fixture
def suspect(tmp_path: Path) -> Path:
    path = tmp_path / "s.cop"
    path.write_text(SUSPECT)
    return path


@pytest.mark.parametrize("command", [("explain",), ("compile", "--emit", "program")])
def test_warnings_are_shown_ignored_or_errors(command: tuple[str, ...], suspect: Path) -> None:
    shown = call(*command, suspect, "--mesh", "2x2")
    assert shown.stderr.splitlines() == [
        f"{suspect}:1:9: warning: variable spare is never used [unused]",
        "  (define spare 3)",
        "          ^",
        f"{suspect}:2:1: warning: cshift 'c' moves nothing: a distance of 4 in a subset of 4 nodes "
        "ends where it begins [moves-nothing]",
        "  (cshift 'c 4)",
        "  ^",
    ]
    silent = call(*command, suspect, "--mesh", "2x2", "--warnings", "ignore")
    assert silent.stderr == ""
    assert silent.stdout == shown.stdout
    stopped = call(*command, suspect, "--mesh", "2x2", "--warnings", "error", status=2)
    assert stopped.stdout == ""
    assert "never used" in stopped.stderr
    assert "warnings are errors here" in stopped.stderr
    assert call(*command, suspect, "--mesh", "3x2", "--warnings", "error", status=2)
    call(*command, COP, "--mesh", "2x2", "--warnings", "error")


# fmt

UNTIDY = "(barrier   'w) ; wait\n(  cshift 'c\n1)"
TIDY = "(barrier 'w)  ; wait\n(cshift 'c\n  1)\n"


def test_fmt_lays_out_in_place_and_says_so(tmp_path: Path) -> None:
    path, other = tmp_path / "x.cop", tmp_path / "y.cop"
    path.write_text(UNTIDY)
    other.write_text(TIDY)
    before = other.stat().st_mtime_ns
    assert call("fmt", path, other).stderr == f"laid out {path}\n"
    assert path.read_text() == TIDY
    assert other.stat().st_mtime_ns == before
    assert call("fmt", path, other).stderr == ""


def test_fmt_check_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.cop"
    path.write_text(UNTIDY)
    assert call("fmt", "--check", path, status=1).stdout == f"{path} would change\n"
    assert path.read_text() == UNTIDY
    path.write_text(TIDY)
    assert call("fmt", "--check", path).stdout == ""


def test_fmt_writes_no_file_if_one_is_wrong(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.cop", tmp_path / "b.cop"
    good.write_text(UNTIDY)
    bad.write_text("(barrier 'w")
    result = call("fmt", good, bad, status=2)
    assert "this parenthesis is never closed" in result.stderr
    assert good.read_text() == UNTIDY
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cop", "b.cop"]


def test_fmt_keeps_links_and_modes(tmp_path: Path) -> None:
    real, link = tmp_path / "real.cop", tmp_path / "link.cop"
    real.write_text(UNTIDY)
    real.chmod(0o600)
    link.symlink_to(real)
    call("fmt", link)
    assert link.is_symlink()
    assert real.read_text() == TIDY
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_fmt_keeps_line_ends_within_strings(tmp_path: Path) -> None:
    path = tmp_path / "x.cop"
    path.write_bytes(b'(barrier (intern "a\r\nb"))\r\n')
    call("fmt", path)
    assert path.read_bytes() == b'(barrier (intern "a\r\nb"))\n'


def test_fmt_reads_standard_input() -> None:
    assert call("fmt", "-", stdin=UNTIDY).stdout == TIDY
    assert call("fmt", "-", "--check", stdin=UNTIDY, status=1).stdout == "- would change\n"
    assert "byte 1 is wrong" in call("fmt", "-", stdin=b"(\xff)", status=2).stderr


@pytest.mark.parametrize("text", ["(" * 100_000 + ")" * 100_000, "(" * 100_000])
def test_hostile_text_is_laid_out_or_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.cop"
    path.write_text(text)
    if text.endswith("("):
        assert "never closed" in call("fmt", path, status=2).stderr
    else:
        call("fmt", path)
        assert path.read_text().strip() == text


@pytest.mark.parametrize("missing", ["none.cop", "."])
def test_fmt_of_what_is_no_file(missing: str, tmp_path: Path) -> None:
    assert "cannot read" in call("fmt", tmp_path / missing, status=2).stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_laid_out(path: Path) -> None:
    assert call("fmt", "--check", path).stdout == ""


# compile --emit


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_emitted_text_and_python_mean_the_same(path: Path, tmp_path: Path) -> None:
    program = compile_file(path, topology=mesh(4, 4))
    text = call("compile", path, "--mesh", "4x4", "--emit", "program").stdout
    assert compile_text(text, topology=mesh(4, 4)) == program
    python = call("compile", path, "--mesh", "4x4", "--emit", "python").stdout
    space: dict[str, object] = {}
    exec(python, space)
    assert compile_program(space["program"], topology=mesh(4, 4)) == program  # type: ignore[arg-type]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_is_emitted_is_compiled_again(path: Path, tmp_path: Path) -> None:
    explained = []
    for stage, name in (("program", "again.cop"), ("python", "again.py")):
        call("compile", path, "--mesh", "4x4", "--emit", stage, "-o", tmp_path / name)
        plain = json.loads(call("explain", tmp_path / name, "--mesh", "4x4", "--json").stdout)
        explained.append(re.sub(r'"(position|file)": "[^"]*"', "", json.dumps(plain)))
    assert explained[0] == explained[1]


# Applications with programs of Python


def test_an_application_runs_with_a_program_of_python(ring_application, tmp_path: Path) -> None:
    out = tmp_path / "ring.json"
    result = call(
        "run", ring_application.written(tmp_path, "method"), "--mesh", "2x2", "--engine", "model", "--json", out
    )
    assert "every node has its neighbour's number" in result.stdout
    plain = json.loads(out.read_text())
    assert (plain["correct"], plain["parameters"]) == (True, {"words": 4})


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("file", {"change": ('"ring.cop"', "3")}, "Ring must name its COP file, or be its own program"),
        ("Program", {"change": ("2, 2", "4, 4")}, "the program was made for a 4x4 mesh, not for a 2x2 mesh"),
        ("Program", {"change": ('"words": 4', '"words": 5')}, "other parameters than the application's"),
        ("function", {"distance": "'one'"}, "ring.py:7:12: cshift distance must be an integer, not one"),
        ("function", {"distance": "net.nowhere"}, "'Network' object has no attribute 'nowhere'"),
        ("method", {"distance": "1 // 0"}, "ring.py:7: ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_a_program_of_python_names_the_application(
    ring_application, kind: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    result = call(
        "run", ring_application.written(tmp_path, kind, **options), "--mesh", "2x2", "--engine", "model", status=2
    )
    assert message in result.stderr
    assert "Traceback" not in result.output
