"""Figures of array programs: those that have to be as printed, and the tables on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/arrays.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def results() -> Any:
    return json.loads((ROOT / "benchmarks/results/arrays.json").read_text())


def _between(name: str) -> str:
    return PAGE.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0]


def test_the_tables_are_made_of_the_results(results: Any) -> None:
    for kind, row in results["optimisation"].items():
        cells = [
            " → ".join(f"{value:,}" for value in row[d][f])
            for f in ("elements", "messages")
            for d in ("cyclic", "block")
        ]
        assert f"| {row['program']} | {kind} | {' | '.join(cells)} |" in _between("counts")
    for row in results["cycles"]:
        pair = [row[which] for which in ("derived", "by_hand")]
        cells = [f"{one['cycles']:,}" for one in pair] + [f"{one['communication']:,.0f}" for one in pair]
        assert f"| {row['program']} | {' | '.join(cells)} |" in _between("cycles")
    for kind, row in results["torus"].items():
        slots = dict(row["slots"])
        own = slots.pop("compiled, degrees of their own")
        del slots["messages"]
        least = min(slots.values())
        ratios = [own, *(slots[name] for name in slots if name != "compiled")]
        cells = [f"{slots['compiled']:,}", *(f"{value / least:.1f}" for value in ratios)]
        assert f"| {row['program']} | {kind} | {' | '.join(cells)} |" in _between("slots")
        if "visits" in row:
            pair = [f"{row[f'{what}_actual']:g} of {row[f'{what}_compiled']:g}" for what in ("connections", "channels")]
            line = next(one for one in _between("precision").splitlines() if f"| {kind} |" in one)
            assert [line.split(" | ")[at] for at in (2, 4)] == pair
    assert f"an assignment in {results['long']['seconds']:.1f} s" in PAGE


def test_every_program_is_right_on_every_target() -> None:
    found = json.loads((ROOT / "benchmarks/results/arrays_on_targets.json").read_text())
    assert set(found) == {path.stem for path in (ROOT / "examples/arrays").glob("*.f90")}
    for name, row in found.items():
        assert set(row["runs"]) == {"numesh", "packet", "tdm", "optical"}
        assert all(run["correct"] and run["engine"] == "verilated" for run in row["runs"].values())
        cells = [f"{row['runs'][target]['cycles']:,}" for target in ("numesh", "tdm", "packet", "optical")]
        assert f"| {name} | {row['processors']} | {' | '.join(cells)} |" in _between("targets")


def test_livermore_18_is_as_printed(results: Any) -> None:
    found = results["optimisation"]["L18"]
    assert found["cyclic"] == {"elements": [13800, 9600], "messages": [368, 96]}
    assert found["block"] == {"elements": [3261, 2571], "messages": [330, 90]}


def test_the_marks(results: Any) -> None:
    """Derived programs within 15 % of those by hand; a thousand statements in two seconds; never more used than compiled."""
    assert {row["program"] for row in results["cycles"]} == {"jacobi", "matmul"}
    for row in results["cycles"]:
        for figure in ("cycles", "communication"):
            assert row["derived"][figure] <= 1.15 * row["by_hand"][figure]
    assert results["long"]["seconds"] <= 2
    benchmarks = [row for row in results["torus"].values() if "visits" in row]
    assert len(benchmarks) == 13
    for row in benchmarks:
        assert row["connections_actual"] <= row["connections_compiled"]
        assert row["channels_actual"] <= row["channels_compiled"] <= 10


def test_degrees_of_their_own_never_cost_more(results: Any) -> None:
    assert len(results["torus"]) == 19
    for name, row in results["torus"].items():
        slots = row["slots"]
        assert slots["compiled, degrees of their own"] <= 1.01 * slots["compiled"], name
