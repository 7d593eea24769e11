"""The comparison's parts that can be wrong without anybody noticing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pointsman.report.figures.comparison import best_cycles, clock_of, plot_comparison, series

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("scheduled_vs_packet.py")


def test_patterns_are_permutations_and_do_what_they_say(benchmark):
    assert benchmark.bit_reversal((4, 4))[1] == 8
    assert benchmark.transpose((4, 4))[1] == 4
    # (1, 2, 3) goes to (2, 3, 1).
    assert benchmark.transpose((4, 4, 4))[1 + 4 * (2 + 4 * 3)] == 2 + 4 * (3 + 4 * 1)
    for pattern in benchmark.PATTERNS.values():
        assert sorted(pattern((4, 4, 4))) == list(range(64))


def test_words_are_divided_as_chains_take_turns(benchmark):
    assert benchmark.divide(512, [3, 1]) == [384, 128]
    assert benchmark.divide(10, [3, 1]) == [8, 2]
    assert sum(benchmark.divide(512, [2, 5, 1])) == 512


def test_timetable_counts_whole_periods_and_the_way(benchmark):
    # One word each 4 slots, injected in slot 3, two hops over the end of the period: read in slot 6.
    words = [[[None, 3, 0, 0, 2], [0, 0, 1, 0, 2], [1, 2, None, 0, 2]]]
    assert benchmark.timetable(4, [words]) == 511 * 4 + 6 + 1


def test_best_packet_length_counts_and_headers_are_paid_for():
    case = {
        "rows": [
            {"router": "e-cube", "words": 8, "header": "among", "cycles": 10},
            {"router": "e-cube", "words": 8, "header": "beside", "cycles": 14},
            {"router": "e-cube", "words": 32, "header": "beside", "cycles": 12},
            {"router": "scheduled", "pipelines": 2, "cycles": 9},
        ]
    }
    assert best_cycles(case) == {"packets, e-cube": 12, "scheduled, 2 pipelines": 9}


def test_packet_routers_get_the_faster_clock():
    clocks = {"open packet router": 141.0, "packets, e-cube": 90.0, "scheduled, 2 pipelines": 250.0}
    assert clock_of("packets, adaptive", clocks) == 141.0
    assert clock_of("packets, e-cube", clocks | {"packets, e-cube": 200.0}) == 200.0
    assert clock_of("scheduled, 3 pipelines", clocks) is None


def test_plots_are_redrawn_the_same(tmp_path):
    results = json.loads((ROOT / "benchmarks" / "results" / "scheduled_vs_packet.json").read_text())
    assert series(results, "bit reversal", 2, wall_clock=False)
    first = [path.read_bytes() for path in plot_comparison(results, tmp_path / "a")]
    second = [path.read_bytes() for path in plot_comparison(results, tmp_path / "b")]
    assert first == second
