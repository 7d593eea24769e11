"""Small experiments behind claims, and the space of assumptions of the switch's evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CHEAP = "C035,C041,C043,C191,C193"


@pytest.mark.long
def test_examples_find_what_stands_in_the_results_and_keep_the_others(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    kept.write_text(json.dumps({"examples": {"C030": {"maps": {"4x4": 7}}}}))
    command = [sys.executable, str(BENCHMARKS / "worked_examples.py"), "--only", CHEAP, "--into", str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(kept.read_text())["examples"]
    assert found.pop("C030") == {"maps": {"4x4": 7}}
    saved = json.loads((BENCHMARKS / "results/worked_examples.json").read_text())["examples"]
    assert len(found) == CHEAP.count(",") + 1
    for name, row in found.items():
        assert {**row, "seconds": 0} == {**saved[name], "seconds": 0}, name
    refused = subprocess.run([*command[:3], "C999"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "C999" in refused.stderr


def test_points_that_are_known_are_not_measured_again() -> None:
    code = f"""
import sys; sys.path.insert(0, {str(BENCHMARKS)!r})
from dataclasses import asdict
from evaluation import space
measured = []
space.measure = lambda point: measured.append(point) or asdict(point)
known = [asdict(point) | {{"figure_4": []}} for point in space.POINTS[:30]]
rows = list(space.rows(space.POINTS, known))
assert measured == space.POINTS[30:] and rows[:30] == known and len(set(space.POINTS)) == len(rows) == 36
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
