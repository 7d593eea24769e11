"""What the page on COP in C shows can be done: its command runs, its program compiles with its compiler's line."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cop_in_c.md").read_text()


def pointsman(*arguments: str) -> str:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_of_the_page_writes_the_files_that_it_lists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (line,) = re.findall(r"^    pointsman (.*)$", PAGE, re.MULTILINE)
    arguments = shlex.split(line)
    arguments[arguments.index("-o") + 1] = str(tmp_path)
    monkeypatch.chdir(ROOT)
    pointsman(*arguments)
    for name in re.findall(r"^\| `([\w.]+)`(?:, `([\w.]+)`)?(?:, …)? \|", PAGE, re.MULTILINE):
        assert all((tmp_path / one).is_file() for one in name if one.endswith((".c", ".h")))


def test_the_program_of_the_page_compiles_with_the_line_of_the_page(tmp_path: Path):
    (program,) = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
    source = tmp_path / "ring.c"
    source.write_text(program)
    pointsman("compile", str(source), "--mesh", "2x2", "--emit", "c", "-o", str(tmp_path))
    (line,) = re.findall(r"^    zig (cc .*?)-c pm\.c", PAGE, re.MULTILINE | re.DOTALL)
    flags = shlex.split(line.replace("\\\n", " "))
    folders = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "ZIG_LOCAL_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", *flags, "-c", "ring.c"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", **folders},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
