"""The benchmark that has the name of a package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_programs_beside_it_still_find_the_package():
    code = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import tdm_switch.shape as s; print(s.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("hdl/tdm_switch/shape.py")
    text = subprocess.run(
        [sys.executable, str(BENCHMARKS / "tdm_switch.py"), "--help"], capture_output=True, text=True, check=True
    )
    assert "--pictures" in text.stdout
