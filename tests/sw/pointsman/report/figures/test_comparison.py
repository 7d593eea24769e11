"""The table of the comparison: best packets, clocks from files, and which figures the RTL gave."""

from __future__ import annotations

import json

import pytest

from pointsman.errors import PointsmanError
from pointsman.report.figures.comparison import (
    BEGIN,
    END,
    OPEN_ROUTER_MHZ,
    RTL,
    best_cycles,
    clock_of,
    comparison_table,
    plot_comparison,
    read_clocks,
    replace_table,
    series,
)

CLOCKS = {"open packet router": 141.0, "packets, e-cube": 90.0, "scheduled, 2 pipelines": 200.0}


def results():
    rows = [
        {"router": "e-cube", "words": 8, "header": "beside", "cycles": 300, "engine": "model"},
        {"router": "e-cube", "words": 32, "header": "beside", "cycles": 282, "rtl_cycles": 282, "engine": "verilated"},
        {"router": "e-cube", "words": 8, "header": "among", "cycles": 250, "engine": "model"},
        {"router": "scheduled", "pipelines": 2, "cycles": 200, "measured": 210, "engine": "verilated"},
        {"router": "scheduled", "pipelines": 3, "cycles": 150, "measured": 400, "engine": "model"},
    ]
    case = {"pattern": "transpose", "size": "4x4", "nodes": 16, "rows": rows}
    return {"words": 512, "clocks": CLOCKS, "cases": [case]}


def test_packets_count_with_their_header_and_their_best_length():
    assert best_cycles(results()["cases"][0]) == {
        "packets, e-cube": 282,
        "scheduled, 2 pipelines": 200,
        "scheduled, 3 pipelines": 150,
    }


def test_packets_get_the_faster_of_our_router_and_the_open_one():
    assert clock_of("packets, adaptive", CLOCKS) == 141.0
    assert clock_of("packets, adaptive", CLOCKS | {"packets, e-cube": 150.0}) == 150.0
    assert clock_of("scheduled, 2 pipelines", CLOCKS) == 200.0
    assert clock_of("scheduled, 3 pipelines", CLOCKS) is None


def test_table_marks_what_the_rtl_gave():
    table = comparison_table(results())
    row = next(line for line in table.splitlines() if line.startswith("| transpose 4x4"))
    assert f"282{RTL} (2.0 µs)" in row
    assert "200 (1.0 µs)" in row
    assert f"210{RTL} / 400" in row
    plain = results()
    plain["cases"][0]["rows"][1]["rtl_cycles"] = 283
    assert f"282{RTL}" not in comparison_table(plain)


def test_page_keeps_all_but_the_table():
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    made = replace_table(page, results())
    assert made.startswith(f"before\n{BEGIN}\n")
    assert made.endswith(f"{END}\nafter\n")
    assert "old" not in made
    with pytest.raises(PointsmanError, match="once, in this order"):
        replace_table("nothing", results())


def test_clocks_come_from_the_files_of_results(tmp_path):
    assert read_clocks(tmp_path) == {"open packet router": OPEN_ROUTER_MHZ}
    shape = {"pipelines": 2}
    rows = [
        {"shape": shape, "mhz": {"median": 211.0}},
        {"shape": {"pipelines": 3}, "varied": {"pipelines": 3}, "mhz": {"median": 190.0}},
        {"shape": shape, "varied": {"width": 64}, "mhz": {"median": 99.0}},
    ]
    (tmp_path / "fpga.json").write_text(json.dumps({"rows": rows}))
    (tmp_path / "packet_fpga.json").write_text(
        json.dumps({"rows": [{"name": "packets, e-cube", "mhz": {"median": 88.0}}]})
    )
    assert read_clocks(tmp_path) == {
        "open packet router": OPEN_ROUTER_MHZ,
        "scheduled, 2 pipelines": 211.0,
        "scheduled, 3 pipelines": 190.0,
        "packets, e-cube": 88.0,
    }


def test_series_are_cycles_or_cycles_over_the_clock(tmp_path):
    assert series(results(), "transpose", 2, wall_clock=False)["scheduled, 3 pipelines"] == [(16, 150.0)]
    timed = series(results(), "transpose", 2, wall_clock=True)
    assert timed["scheduled, 2 pipelines"] == [(16, 1.0)]
    assert "scheduled, 3 pipelines" not in timed
    assert series(results(), "transpose", 3, wall_clock=False) == {}
    (path,) = plot_comparison(results(), tmp_path)
    assert path.read_text().startswith("<?xml")
