"""Commands on the pages of bridges and of boards do what the pages say; bitstreams slowly."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from host.shape import HostShape
from host.system_rdl import system_rdl
from pointsman.cli import main

ROOT = Path(__file__).parents[2]


def commands(page: str, tool: str) -> list[str]:
    """What the page has a tool do, line by line."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^    {tool} (.+)$", text, re.MULTILINE)


def pointsman(command: str) -> None:
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code == 0, done.output


def test_commands_of_the_page_of_bridges_write_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.cop").write_text("(stream 'word 0 1 :m 1)\n")
    pointsman("compile program.cop --mesh 2 -o program.image")
    lines = commands("host.md", "pointsman")
    assert len(lines) == 3
    for line in lines:
        pointsman(line)
        output = Path(shlex.split(line)[-1])
        assert "module " in output.read_text()
        assert output.with_suffix(".core").is_file()


def test_generators_of_the_page_of_bridges_write_their_files(tmp_path: Path):
    (tmp_path / "bridge.rdl").write_text(system_rdl(HostShape()))
    lines = commands("host.md", "peakrdl")
    assert len(lines) == 3
    for line in lines:
        command = [Path(sys.executable).parent / "peakrdl", *shlex.split(line)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / command[-1]).exists()


@pytest.mark.parametrize("command", commands("boards.md", "make"))
def test_targets_of_the_page_of_boards_run_scripts_that_are_there(command: str):
    done = subprocess.run(["make", "-n", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (script,) = re.findall(r"python (examples/\S+\.py)", done.stdout)
    assert (ROOT / script).is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["soc/ulx3s.py matmul", "soc/ulx3s.py halo --simulate", "fpga/board.py --board tang-nano-20k"]
)
def test_scripts_of_the_page_of_boards_end_well(words: str, tmp_path: Path):
    script, *rest = words.split()
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / script, *rest, "--folder", tmp_path],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", commands("boards.md", "pointsman"))
def test_blocks_of_the_page_of_boards_are_measured(command: str):
    pointsman(command)
