"""The soak sees what it is to see: crashes, hangs, too much memory, and a clean run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def test_a_short_soak_is_clean_and_says_what_came_out() -> None:
    command = [sys.executable, str(FOLDER / "cop_soak.py"), "--inputs", "80", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    assert (summary["inputs"], summary["crashes"], summary["hangs"]) == (80, 0, 0)
    assert sum(summary["outcomes"].values()) == 80
    assert summary["largest memory, MB"] > 10


@pytest.mark.parametrize(
    ("fault", "count", "said"),
    [
        ("raise KeyError(text)", "CRASH", "KeyError"),
        ("exec('while True: pass')", "HANG", "Hang"),
        ("bytearray(3 << 30)", "CRASH", "MemoryError"),
        ("return check(text, topology)", "CRASH", "RecursionError"),
    ],
)
def test_faults_are_counted_and_kept(tmp_path: Path, fault: str, count: str, said: str) -> None:
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(FOLDER)!r})
import cop_soak
def check(text, topology):
    {fault}
cop_soak.check = check
cop_soak.HANG = 0.2
cop_soak.work(1, 0, 3, Path({str(tmp_path)!r}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout)["counts"] == {count: 3}
    reports = sorted(tmp_path.glob("fault-1-*.txt"))
    assert len(reports) == 3
    assert said in reports[0].read_text(encoding="utf-8")
