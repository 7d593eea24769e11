"""``pointsman fmt`` lays out files in place."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

UGLY = "(broadcast   'a\n 0 )\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "a.cop"
    path.write_text(UGLY)
    return path


def test_check_changes_nothing_and_says_so_by_its_status(program: Path) -> None:
    done = CliRunner().invoke(main, ["fmt", "--check", str(program)])
    assert done.exit_code == 1
    assert "would change" in done.output
    assert program.read_text() == UGLY


def test_twice_is_once_and_modes_stay(program: Path) -> None:
    program.chmod(0o640)
    assert CliRunner().invoke(main, ["fmt", str(program)]).exit_code == 0
    once = program.read_text()
    assert once != UGLY
    assert program.stat().st_mode & 0o777 == 0o640
    assert CliRunner().invoke(main, ["fmt", "--check", str(program)]).exit_code == 0
    assert program.read_text() == once


def test_if_one_file_is_wrong_none_is_written(program: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "b.cop"
    wrong.write_text("(broadcast 'a")
    assert CliRunner().invoke(main, ["fmt", str(program), str(wrong)]).exit_code == 2
    assert program.read_text() == UGLY


def test_standard_input_is_printed() -> None:
    done = CliRunner().invoke(main, ["fmt", "-"], input="(barrier   'b)")
    assert done.output == "(barrier 'b)\n"
