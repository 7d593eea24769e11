"""The command as tests call it, and what it is called with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from pointsman.cli import main

ROOT = Path(__file__).resolve().parents[2]
MATMUL = ROOT / "examples" / "matmul" / "matmul.py"
COP = MATMUL.with_suffix(".cop")
COMMAND = Path(sys.executable).with_name("pointsman")

MODEL = ("--engine", "model")
SMALL = ("--mesh", "2x2", *MODEL)

SHIFT_COP = "(parameter words 4)\n(defaults :m words)\n(cshift 'c 1)\n"

HEAD = """\
import numpy as np
from pointsman.runtime import Application, WrongAnswer

class Shift(Application):
    program = "shift.cop"
"""


SHIFT_MAIN = """
    async def main(self, node):
        await node.cop.c_load()
        return await node.cop.c_func(np.arange(4, dtype=np.int32))
"""


def call(*arguments: object, status: int = 0) -> Result:
    """Run a command in this process and check its exit status, and that no fault of ours came out."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    assert result.exit_code == status, result.output
    if status == 2:
        assert result.stdout == ""
        assert result.stderr.strip()
    return result


def call_process(*arguments: object, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    result = subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in result.stdout + result.stderr
    assert result.returncode == status, result.stdout + result.stderr
    return result


def save(path: Path, matrix: np.ndarray) -> Path:
    np.save(path, matrix)
    return path


def shift_application(folder: Path, body: str) -> Path:
    """An application of one ring shift over all nodes; ``body`` are its methods."""
    (folder / "shift.cop").write_text(SHIFT_COP)
    path = folder / "shift.py"
    path.write_text(HEAD + body)
    return path
