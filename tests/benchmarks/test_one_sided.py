"""Predictions of the sorts by LogP are within 15 % of runs, and accesses have figures on a target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pointsman
from pointsman.network import mesh

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def one_sided(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("one_sided.py")


@pytest.mark.parametrize("algorithm", ["bitonic", "column", "radix", "sample"])
def test_a_run_takes_what_logp_predicts(one_sided: Any, algorithm: str) -> None:
    arguments = {"algorithm": algorithm, "keys": 8 * 500}
    done = pointsman.run(ROOT / "examples/splitc/sort.py", mesh(8), arguments=arguments, target="logp", logp="cm5")
    assert done.correct
    ratio = one_sided.predicted(algorithm, 500, 8) / done.finished.record.total_cycles
    assert 0.85 < ratio < 1.15


def test_accesses_have_figures(one_sided: Any) -> None:
    results = pointsman.run(one_sided.Accesses, mesh(2, 2), target="packet", engine="model").finished.record.results
    assert len(results[0]) == 9
    assert all(cycles > 0 for one in results for cycles in one.values())


def test_permuting_takes_what_its_messages_take_and_scanning_what_the_digits_take(one_sided: Any) -> None:
    few, many = (one_sided.radix_phases(keys, 4) for keys in (1 << 13, 1 << 15))
    for one in (few, many):
        assert one["messages"] < one["microseconds"]["permuting"] < 1.6 * one["messages"]
    assert many["microseconds"]["scanning"] == pytest.approx(few["microseconds"]["scanning"] / 4, rel=0.05)


def test_the_table_of_accesses_is_the_sum_of_messages_but_for_the_counter_of_bulk_stores(one_sided: Any) -> None:
    found = one_sided.micro_benchmarks()
    assert found["read 64-bit"] == {"overhead": 11.2, "latency": 11.2}
    assert found["get 32-bit"] == {"overhead": 3.1, "latency": 11.2}
    assert found["store 64-bit"] == {"overhead": 1.6, "latency": 5.6}
    for what, theirs in (("overhead", 19.5), ("latency", 23.5)):
        assert found["store bulk, counter"][what] == pytest.approx(theirs, rel=0.05)
        assert found["store bulk"][what] < 0.6 * theirs


def test_scanning_is_right_and_takes_longer_on_a_deeper_tree(one_sided: Any) -> None:
    few, many = one_sided.scanning(4), one_sided.scanning(16)
    assert 1.5 * few < many < 3 * few
