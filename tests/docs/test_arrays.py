"""The commands on the page of array programs work, the way from a loop to words included."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/arrays.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    pointsman (arrays .*)$", PAGE, re.MULTILINE)


def test_there_are_commands() -> None:
    assert [word for word in COMMANDS if word.endswith("--run")]
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in shlex.split(command)]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [*words, *(["--engine", "model"] if "--run" in words else [])])
    assert done.exit_code == 0, done.output
    if "--run" in words:
        assert "equal those of the sequential meaning" in done.output
