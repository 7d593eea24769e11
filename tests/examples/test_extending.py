"""The example of an operator and an implementation of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.cop import compile_file
from pointsman.network import mesh

FOLDER = Path(__file__).parents[2] / "examples" / "extending"
STAR = str(FOLDER / "star_broadcast.py")


def test_the_operator_of_the_program_is_made_of_streams() -> None:
    program = compile_file(FOLDER / "halo.cop", topology=mesh(3, 2), parameters={"words": 5})
    found = {o.label: (o.kind, o.m, len(o.instances)) for o in program.operators()}
    assert found == {
        "east": ("stream", 5, 4),
        "west": ("stream", 5, 4),
        "north": ("stream", 5, 3),
        "south": ("stream", 5, 3),
        "go": ("broadcast", 5, 1),
    }


@pytest.mark.parametrize("size", ["2x2", "1x2"])
def test_the_application_runs_with_the_implementation(size: str) -> None:
    arguments = ["run", str(FOLDER / "halo.py"), "--mesh", size, "--engine", "model", "--period", "16"]
    result = CliRunner().invoke(main, [*arguments, "--words", "6", "--implementations", STAR])
    assert result.exit_code == 0, result.output
    assert "star_bcast" in result.output
    assert "equal numpy's after 3 sweeps" in result.output


def test_without_the_file_the_program_says_what_it_lacks() -> None:
    result = CliRunner().invoke(main, ["compile", str(FOLDER / "halo.cop"), "--mesh", "2x2"])
    assert result.exit_code == 2
    assert "operator 'go' asks for implementation star_bcast, which broadcast does not have" in result.output


def test_the_file_must_be_right(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("def (:\n")
    arguments = ["compile", str(FOLDER / "halo.cop"), "--mesh", "2x2", "--implementations", str(path)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert f"{path}:1: invalid syntax" in result.output
