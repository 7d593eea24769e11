"""The commands and programs of the page on active messages do what it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pointsman
from pointsman.cli import main
from pointsman.network import mesh
from pointsman.runtime.tam import TamApplication, assemble
from pointsman.runtime.tam.functional import compile_functional

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/active_messages.md").read_text()
COMMANDS = re.findall(r"^    (pointsman (?:run|tam|show) .*)$", PAGE, re.MULTILINE)
INLINE = re.findall(r"`((?:pointsman sweep|python benchmarks/one_sided\.py) [^`]*)`", PAGE)


def test_the_page_has_commands_for_each_kind_of_program() -> None:
    assert len(COMMANDS) >= 8
    assert {command.split()[1] for command in INLINE} == {"sweep", "benchmarks/one_sided.py"}
    for name in (
        "splitc/sort",
        "splitc/matmul",
        "splitc/em3d",
        "tam/fib",
        "tam/matmul",
        "tam/quicksort",
        "tam/radicals",
        *(f"tam/{one.name.removesuffix('.fun')}" for one in (ROOT / "examples/tam").glob("*.fun")),
    ):
        assert any(f"examples/{name}." in command for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_and_its_answer_is_right(command: str, tmp_path: Path) -> None:
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in shlex.split(command)[1:]]
    words = [str(tmp_path / word) if word.endswith(".html") else word for word in words]
    if "--target" in words and "logp" not in words and "--engine" not in words:
        words += ["--engine", "model"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    if words[0] == "show":
        assert "keys in order" in (tmp_path / "sort.html").read_text() or "wrote" in done.output
    else:
        assert "answer: " in done.output or "the program gave" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("command", [*COMMANDS, *INLINE])
def test_a_command_runs_from_a_shell_as_it_stands(command: str, tmp_path: Path) -> None:
    """On compiled RTL where the page says no engine, in a folder that has copies of the examples and nothing else."""
    for name in ("examples", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name)
    found = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PATH": found},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "WRONG" not in done.stdout
    assert "Traceback" not in done.stdout
    if "--target" in command and "logp" not in command and "--engine" not in command and "pointsman run" in command:
        assert "engine verilated" in done.stdout
    for page in re.findall(r"\S+\.html", command):
        assert (tmp_path / page).stat().st_size > 10_000


def test_the_program_in_split_c_counts() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(code, "page", "exec"), names)
    assert pointsman.run(names["Count"], mesh(2, 2), target="logp").finished.record.results == [50] * 4


def test_the_functional_program_sums_squares() -> None:
    text = re.findall(r"```scheme\n(.*?)```", PAGE, re.DOTALL)[0]
    application = TamApplication(assemble(compile_functional(text)), [5], mesh(2))
    application.expected = [30]
    assert pointsman.run(application, target="logp").correct


def test_the_program_in_tam_squares() -> None:
    text = re.findall(r"^```\n(codeblock.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[0]
    application = TamApplication(assemble(text), [12], mesh(2))
    application.expected = [144]
    assert pointsman.run(application, target="logp").correct
