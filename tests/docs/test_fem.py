"""Commands on the page of meshes do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/fem.md"
COMMANDS = re.findall(r"^    pointsman (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


SLOW = ("--mesh 3x3 --run", "--target packet")
"""What takes a minute or more, most of it to build RTL; other tests run such meshes on each target."""


@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=pytest.mark.slow) if any(part in one for part in SLOW) else one for one in COMMANDS],
)
def test_commands_of_the_page_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in command.split()]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    if "--run" in words:
        assert "solution equal to SciPy's" in done.output


def test_the_example_runs_from_its_mesh_file_to_a_solution(tmp_path):
    assert any("examples/fem/plate.msh" in command for command in COMMANDS)
    options = ["--parts", "9", "--mesh", "3x3", "--run", "--target", "iwarp", "--plot", str(tmp_path / "plate.svg")]
    done = CliRunner().invoke(main, ["fem", str(ROOT / "examples/fem/plate.msh"), *options])
    assert done.exit_code == 0, done.output
    assert "solution equal to SciPy's" in done.output
