"""Programs in microseconds: how the table reckons, that the page has today's clocks, and that the exchanges are what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pointsman import run
from pointsman.errors import PointsmanError
from pointsman.report.figures.comparison import read_clocks
from pointsman.report.figures.page import put_between

ROOT = Path(__file__).parents[2]
EXCHANGES = ROOT / "benchmarks" / "evaluation" / "exchanges.py"


@pytest.fixture(scope="module")
def benchmark(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("programs_in_time.py")


def test_times_are_cycles_over_clocks(benchmark):
    row = {
        "program": "matmul",
        "mesh": "2x2",
        "packet": {"total": 1000, "communicating": 282.0},
        "scheduled": {"total": 2000, "communicating": 400.0},
    }
    text = benchmark.table([row], {benchmark.SCHEDULED: 200.0, benchmark.PACKET: 94.0})
    cells = [cell.strip() for cell in text.splitlines()[2].strip("|").split("|")]
    assert cells[1:] == ["2×2", "1,000 / 2,000", "282 / 400", "3.00", "2.00", "2.00", "1.50; 1.00", "1.06; 0.71"]


def test_a_clock_that_is_not_there_is_told(benchmark):
    with pytest.raises(PointsmanError, match="no clock is known of packets, e-cube"):
        benchmark.table([], {benchmark.SCHEDULED: 200.0})


def test_the_page_has_the_results_and_clocks_of_today(benchmark):
    results = ROOT / "benchmarks" / "results"
    rows = json.loads((results / "programs_in_time.json").read_text())["rows"]
    expected = [(name, mesh) for name, program in benchmark.PROGRAMS.items() for mesh in program.meshes]
    assert [(row["program"], row["mesh"]) for row in rows] == expected
    page = (ROOT / "docs" / "comparison.md").read_text()
    assert put_between(page, benchmark.BEGIN, benchmark.END, benchmark.table(rows, read_clocks(results))) == page


@pytest.mark.parametrize("kind", ["bit-reversal", "all-to-all"])
def test_exchanges_bring_every_message_to_its_node(kind):
    result = run(EXCHANGES, "4x2", target="packet", engine="model", arguments={"kind": kind, "words": 3})
    assert result.correct
    messages = 1 if kind == "bit-reversal" else 7
    assert f"{messages} messages of 3 words" in result.values["answer"]


def test_exchanges_say_which_meshes_they_take():
    with pytest.raises(PointsmanError, match="2, 4, 8 … nodes, not 6"):
        run(EXCHANGES, "3x2", target="packet", engine="model", arguments={"kind": "all-to-all"})
