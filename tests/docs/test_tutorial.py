"""The tutorial: every file is as it stands on the page, and every command works in its order."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]+) -->\n)?^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
BLOCKS = [match.groupdict() for match in BLOCK.finditer(TEXT)]


def files() -> dict[str, str]:
    return {
        one["mark"].removeprefix("file: "): one["text"] for one in BLOCKS if (one["mark"] or "").startswith("file: ")
    }


def commands(*, long: bool) -> list[str]:
    """Commands of the page; those marked as long, or the others."""
    return [
        line
        for one in BLOCKS
        if one["language"] == "console" and (one["mark"] == "long") == long
        for line in one["text"].splitlines()
        if line.startswith("pointsman ")
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, command: str, expected: int = 0) -> str:
    words = shlex.split(command)[1:]
    with contextlib.chdir(folder):
        done = CliRunner().invoke(main, words)
    assert done.exit_code == expected, f"{command}\n{done.output}"
    assert "Traceback" not in done.output
    return done.output


def test_page_has_its_files_and_commands() -> None:
    assert set(files()) == {"ring.cop", "ring.py", "heat.cop", "heat.py", "shifts.cop", "shifts.py"}
    assert len(commands(long=False)) >= 6
    assert len(commands(long=True)) >= 2


def test_quick_commands_succeed_in_their_order(folder: Path) -> None:
    for command in commands(long=False):
        run(folder, command)
    made = {Path(word).name for command in commands(long=False) for word in shlex.split(command) if "." in word}
    assert {name for name in made if not (folder / name).exists()} == set()


def test_writing_before_reading_is_the_deadlock_that_the_page_tells_of(folder: Path) -> None:
    """The variant of the page: all borders are written before one is read."""
    path = folder / "heat.py"
    text = path.read_text()
    reading = "            if self.is_inside(node, axis, -step):\n"
    changed = text.replace(reading, "        for label, axis, step in WAYS:\n" + reading)
    assert changed != text
    path.write_text(changed)
    assert "in a circle: node" in run(folder, "pointsman run heat.py --mesh 2x2 --engine model", expected=2)


@pytest.mark.slow
def test_long_commands_succeed_and_shifts_are_at_least_as_much_quicker_as_the_page_says(folder: Path) -> None:
    cycles = {}
    for command in commands(long=True):
        said = run(folder, command)
        if "--target" not in command:
            row = next(line for line in said.splitlines() if line.startswith("this run"))
            cycles[shlex.split(command)[2]] = int(row.split()[-1].replace(",", ""))
    claimed = re.search(r"([\d.]+) times quicker", TEXT)
    assert claimed is not None
    assert cycles["heat.py"] / cycles["shifts.py"] >= float(claimed[1]) - 0.06
