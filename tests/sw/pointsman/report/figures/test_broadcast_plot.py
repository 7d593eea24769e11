"""Plots and table of broadcasts."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.report.figures.broadcast_plot import (
    broadcast_table,
    crossing,
    curves,
    plot_broadcasts,
    plot_online,
    replace_broadcasts,
)

ROWS = [
    {"implementation": "str_bcast", "mesh": "2x2", "nodes": 4, "latency": 7.5, "cycles_per_word": 1.5},
    {"implementation": "str_bcast_linear", "mesh": "4x4", "nodes": 16, "latency": 20, "cycles_per_word": 2.25},
    {"implementation": "str_bcast_linear", "mesh": "2x2", "nodes": 4, "latency": 8, "cycles_per_word": 2.25},
    {"implementation": "str_bcast_dense", "mesh": "4x4", "nodes": 16, "refused": "no registers"},
]


def test_curves_go_by_nodes_and_leave_out_what_was_refused():
    assert curves(ROWS, "latency") == {"str_bcast": [(4, 7.5)], "str_bcast_linear": [(4, 8.0), (16, 20.0)]}


def test_a_crossing_is_measured_or_extrapolated_or_there_is_none():
    linear = [(4, 8.0), (16, 20.0), (36, 40.0)]
    assert crossing(linear, [(4, 12.0), (16, 19.0)]) == (16.0, True)
    # n + 4 = 6·√n + 11 at √n = 7.
    found = crossing(linear, [(4, 23.0), (16, 35.0), (36, 47.0)])
    assert found is not None
    assert found[0] == pytest.approx(49.0)
    assert not found[1]
    assert crossing([(4, 8.0), (16, 8.0)], [(4, 23.0), (16, 35.0)]) is None
    assert crossing(linear, []) is None


def test_the_table_has_a_dash_where_nothing_was_measured():
    lines = broadcast_table(ROWS).splitlines()
    assert lines[0] == "| | 2x2 | 4x4 |"
    assert lines[2] == "| `str_bcast`: latency | 8 | – |"
    assert lines[5] == "| `str_bcast_linear`: cycles a word | 2.25 | 2.25 |"
    with pytest.raises(PointsmanError):
        replace_broadcasts("a page without marks", ROWS)


def test_plots_are_written_and_the_same_each_time(tmp_path):
    online = [
        {"job": "broadcast, 1 word", "nodes": n, "online": {"cycles": n}, "packet": {"cycles": 2 * n}} for n in (4, 16)
    ]
    drawn = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        paths = [*plot_broadcasts(ROWS, folder), plot_online(online, folder)]
        drawn.append([path.read_bytes() for path in paths])
        assert all(b"<svg" in data for data in drawn[-1])
    assert drawn[0] == drawn[1]
    with pytest.raises(PointsmanError, match="no broadcast of one word"):
        plot_online([], tmp_path)
