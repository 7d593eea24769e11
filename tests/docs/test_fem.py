"""Commands on the page of meshes do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

PAGE = Path(__file__).parents[2] / "docs/fem.md"
COMMANDS = re.findall(r"^    pointsman (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_all_but_the_one_with_a_file_of_the_readers_are_run():
    assert [one for one in COMMANDS if "mesh.msh" in one] == COMMANDS[2:]


@pytest.mark.parametrize("command", COMMANDS[:2])
def test_commands_of_the_page_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    done = CliRunner().invoke(main, command.split())
    assert done.exit_code == 0, done.output
