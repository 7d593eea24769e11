"""Standard output that takes nothing: told in a line, whatever the command would have printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words", ["--help", "--version", "run --help", "verilog --help", "compile {program} --mesh 2 --emit program"]
)
def test_a_full_disk_is_told(tmp_path: Path, words: str) -> None:
    program = tmp_path / "shift.cop"
    program.write_text("(cshift 'c 1)\n")
    command = [sys.executable, "-m", "pointsman.cli", *words.format(program=program).split()]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "pointsman: No space left on device\n")
