"""The functions have types: mypy passes right programs and finds wrong ones before they run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[5]

RIGHT = """
import networkx
import numpy as np
from pointsman import cop
from pointsman.network import mesh

def program(net: cop.Network, block: int = 2) -> cop.Parts:
    net.schedlen = 64
    return [
        cop.defaults(m=block, b=False),
        cop.permute("p", np.roll(np.arange(net.nodes), 1), type="float32*"),
        cop.reduce("r", "add", destination=cop.runtime(values=range(2)), c=0.5),
        cop.subset(net.make_1d("x"), lambda row: cop.gather("g", row.nodes - 1), None),
        cop.doall(lambda i, j: cop.stream(f"s{i}", i, j), range(2), [3]),
    ]

done: cop.Program = cop.compile_program(program, topology=networkx.path_graph(4))
"""
WRONG = [
    'cop.broadcast("b", "zero")',
    'cop.broadcast("b")',
    'cop.broadcast("b", 0, m="3")',
    'cop.broadcast("b", 0, size=3)',
    'cop.reduce("r", "add", 0)',
    'cop.spread("s", cop.runtime())',
    "cop.runtime(value=[1])",
    "cop.sequential(3)",
    'cop.loop(10, cop.barrier("w"))',
]


@pytest.mark.slow
def test_mypy_passes_right_programs_and_finds_wrong_ones(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text("from pointsman import cop\n" + "\n".join(WRONG) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", right, wrong],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert not [line for line in lines if "right.py" in line], done.stdout
    assert {int(line.split(":")[1]) for line in lines if "wrong.py" in line} == set(range(2, 2 + len(WRONG))), (
        done.stdout
    )
