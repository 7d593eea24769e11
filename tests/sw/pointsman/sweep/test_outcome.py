"""The table and the plot of records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.sweep.outcome import absent, column, differing, plot, table_text


def record(network: str, size: int, cycles: int | None) -> dict[str, Any]:
    case = {"application": "a", "network": network, "arguments": {"size": size}}
    if cycles is None:
        return {"case": case, "status": "error", "error": "no"}
    return {"case": case, "status": "right", "values": {"total_cycles": cycles, "categories": {"cpu": cycles / 2}}}


RECORDS = [record("2x2", 8, 1000), record("4x4", 8, 1234567), record("4x4", 16, None)]


def test_columns_are_options_and_values() -> None:
    assert [column(one, "arguments.size") for one in RECORDS] == [8, 8, 16]
    assert [column(one, "categories.cpu") for one in RECORDS] == [500.0, 617283.5, None]
    assert column(RECORDS[0], "categories.cpu.x") is None
    assert differing(RECORDS) == ["network", "arguments.size"]


def test_the_table_has_what_differs_and_what_was_measured() -> None:
    lines = table_text(RECORDS, ["total_cycles", "categories.cpu"]).splitlines()
    assert lines[0].split() == ["network", "arguments.size", "status", "total_cycles", "categories.cpu"]
    assert lines[3].split() == ["4x4", "8", "right", "1,234,567", "617,284"]
    assert lines[4].split() == ["4x4", "16", "error", "–", "–"]


def test_columns_that_no_case_has_are_told() -> None:
    assert absent(RECORDS, ["total_cycles", "cycles", "categories.cpu", "categories.cpus"]) == [
        "cycles",
        "categories.cpus",
    ]
    assert absent([record("4x4", 16, None)], ["total_cycles"]) == []


@pytest.mark.parametrize(
    "axes", [{"x": "network", "y": "total_cycles"}, {"x": "arguments.size", "y": "total_cycles", "by": "network"}]
)
def test_a_plot_is_drawn(tmp_path: Path, axes: dict[str, str]) -> None:
    plot(RECORDS, axes, tmp_path / "p.svg")
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_a_plot_of_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match="no case has both network and a number as cycles"):
        plot(RECORDS, {"x": "network", "y": "cycles"}, tmp_path / "p.svg")
    with pytest.raises(PointsmanError, match=r"a plot must end in \.png"):
        plot(RECORDS, {"x": "network", "y": "total_cycles"}, tmp_path / "p.gif")
