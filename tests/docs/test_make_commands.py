"""The page of commands is that of the commands as they are."""

from __future__ import annotations

from pathlib import Path

from loading import module_at
from pointsman.cli import main

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_commands.py"


def test_page_of_commands_is_not_stale() -> None:
    module = module_at(SCRIPT)
    page = module.PAGE.read_text(encoding="utf-8")
    assert page == module.page(), "run docs/make_commands.py"
    for name, command in main.commands.items():
        assert f"\n## {name}\n" in page
        assert all(
            f"`{option}" in page or f", {option}" in page
            for one in command.params
            for option in one.opts
            if "-" in option[:1]
        )
