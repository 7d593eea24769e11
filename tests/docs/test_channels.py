"""Commands on the page of phased connections do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"^    pointsman (.+)$", (ROOT / "docs/channels.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_there_are_commands_on_the_page():
    assert COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_page_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in command.split()]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
