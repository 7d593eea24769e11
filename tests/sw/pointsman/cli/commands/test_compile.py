"""``pointsman compile``: what it prints, what it leaves, what it refuses before it compiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pointsman.cli import main
from pointsman.cop import compile_text
from pointsman.network import mesh

TEXT = "(parameter n 3)\n(loop 'l 2 (cshift 'c 1 :m n))\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "p.cop"
    path.write_text(TEXT)
    return path


def run(*arguments: object, status: int = 0) -> Result:
    result = CliRunner().invoke(main, ["compile", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result


def test_the_emitted_program_means_the_same(source: Path) -> None:
    text = run(source, "--mesh", "3", "--set", "n=5", "--emit", "program").output
    assert compile_text(text, topology=mesh(3)) == compile_text(TEXT, topology=mesh(3), parameters={"n": 5})


def test_what_is_emitted_goes_into_the_file_alone(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.py"
    assert run(source, "--mesh", "3", "--emit", "python", "-o", out).output == ""
    compile(out.read_text(), str(out), "exec")
    assert out.read_text().rstrip("\n") == run(source, "--mesh", "3", "--emit", "python").output.rstrip("\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "the size of the network is missing"),
        (("--mesh", "3", "--ports", "4"), "--ports"),
        (("--mesh", "3", "-o", "/nowhere/x"), "cannot write /nowhere/x"),
        (("--mesh", "3", "--vfsms", "3"), "vfsms must be a power of two from 2 to 1024, not 3"),
        (("--mesh", "3", "--emit", "tables"), "--emit tables is a stage of target tdm"),
        (("--mesh", "3", "--target", "nothing"), "nothing"),
    ],
)
def test_what_cannot_be_is_refused(options: tuple[str, ...], said: str, source: Path) -> None:
    result = run(source, *options, status=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_what_does_not_fit_is_refused_and_fits_with_what_the_hint_says(source: Path, tmp_path: Path) -> None:
    image = tmp_path / "p.image"
    small = ("--mesh", "3", "--registers", "3", "-o", image)
    result = run(source, *small, status=2)
    first, hint = result.stderr.splitlines()[-2:]
    assert first.startswith("pointsman: p needs ")
    assert " interface registers a node and is given 3: " in first
    assert result.stdout == ""
    assert not image.exists()
    run(source, *small, *hint.removeprefix("  hint: it fits with ").split())
    assert image.exists()
