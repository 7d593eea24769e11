"""The table of all targets on the page of comparisons."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_is_made_of_the_results() -> None:
    results = json.loads((ROOT / "benchmarks/results/targets.json").read_text())
    page = (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    table = page.partition("<!-- targets -->")[2].partition("<!-- /targets -->")[0]
    assert len(results) >= 7
    for name, row in results.items():
        assert list(row) == ["numesh", "tdm", "packet", "optical"]
        assert f"| {name} | " + " | ".join(f"{cycles:,.0f}" for cycles in row.values()) + " |" in table
