"""Operators side by side: verdicts follow the figures, and the page and plots are made of them."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.report.figures.side_by_side import BEGIN, END, Figures, plot_side_by_side, put_side_by_side, verdicts

NODES = (4, 16, 64, 144, 256)


def results(**factors: float):
    """Figures of Metcalf's form; ``factors`` slow implementations down."""

    def row(impl, nodes, m, cycles):
        side = {4: "2x2", 16: "4x4", 64: "8x8", 144: "12x12", 256: "16x16"}[nodes]
        router = "packet" if impl.startswith("dyn_") else "scheduled"
        plain = {"implementation": impl, "router": router, "mesh": side, "nodes": nodes, "m": m, "engine": "verilated"}
        return plain | {"cycles": cycles * factors.get(impl, 1.0)}

    rows = []
    for nodes in NODES:
        side = nodes**0.5
        rows.append(row("str_prefix", nodes, 1, 20 * side))
        rows.append(row("dyn_prefix", nodes, 1, 20 * side * (1.04 + 0.01 * side)))
        for impl, one, word in (
            ("str_bcast", 4 * side, 2.0),
            ("str_bcast_linear", 1.2 * nodes, 4.0),
            ("str_bcast_dense", 12 * side, 4.4),
            ("dyn_bcast_dense", 10 * side, 4.4),
            ("dyn_bcast_tree", 12 * side, 5.0),
            ("dyn_bcast", 2.0 * nodes, 1.1 * nodes),
        ):
            rows.append(row(impl, nodes, 1, one))
            rows.append(row(impl, nodes, 1024, one + 1024 * word))
    for m in (4, 64):
        rows.append(row("str_prefix", 64, m, 100 * m + 60))
        rows.append(row("dyn_prefix", 64, m, 100 * m + 70))
    clocks = {"open packet router": 100.0, "scheduled, 2 pipelines": 200.0}
    return {"clocks": clocks, "rows": [*rows, {"implementation": "str_prefix", "refused": "too long"}]}


def told(**factors: float) -> dict[str, str]:
    found = verdicts(results(**factors))
    names = ("prefix", "length", "constant", "run time", "linear", "tree", "str_bcast", "str_bcast_linear", "long")
    assert len(found) == len(names)
    return {name: verdict.verdict for name, verdict in zip(names, found, strict=True)}


def test_figures_like_the_thesis_reproduce_it():
    assert set(told().values()) == {"reproduced"}


@pytest.mark.parametrize(
    ("factors", "name", "verdict"),
    [
        ({"dyn_prefix": 0.5}, "prefix", "contradicted"),
        ({"dyn_prefix": 1.5}, "prefix", "better"),
        ({"str_prefix": 1.1}, "length", "contradicted"),
        ({"str_bcast": 2.0}, "constant", "reproduced in part"),
        ({"str_bcast": 5.0}, "constant", "contradicted"),
        ({"str_bcast_linear": 30.0, "str_bcast_dense": 3.0}, "run time", "contradicted in part"),
        ({"str_bcast_linear": 0.1}, "linear", "contradicted"),
        ({"dyn_bcast_tree": 0.8}, "tree", "contradicted"),
        ({"str_bcast": 0.5}, "str_bcast", "better"),
        ({"str_bcast_linear": 1.5}, "str_bcast_linear", "contradicted"),
        ({"str_bcast_dense": 0.5}, "long", "better"),
    ],
)
def test_other_figures_make_other_verdicts(factors, name, verdict):
    assert told(**factors)[name] == verdict


def test_statements_without_figures_are_left_out():
    plain = results()
    plain["rows"] = [row for row in plain["rows"] if row["implementation"] in ("str_prefix", "dyn_prefix")]
    assert len(verdicts(plain)) == 2
    assert verdicts({"clocks": {}, "rows": []}) == []


def test_what_lies_beyond_the_largest_mesh_is_not_judged():
    plain = results()
    plain["rows"] = [row for row in plain["rows"] if row.get("nodes", 0) <= 64]
    assert "reproduced below 60 nodes; not measured from 100" in [verdict.verdict for verdict in verdicts(plain)]


def test_times_are_cycles_over_the_clock_of_each():
    figures = Figures(results())
    assert figures.microseconds("str_prefix", 4, 1) == pytest.approx(40 / 200)
    assert figures.microseconds("dyn_bcast", 4, 1) == pytest.approx(8 / 100)
    assert figures.cycles("str_prefix", 5, 1) is None
    assert figures.points(("str_bcast",), m=1)["str_bcast"] == [(n, 4 * n**0.5) for n in NODES]


def test_page_and_plots_have_every_implementation(tmp_path):
    made = put_side_by_side(f"a\n{BEGIN}\nold\n{END}\nb\n", results())
    assert "old" not in made
    for impl in ("str_prefix", "dyn_prefix", "str_bcast_linear", "dyn_bcast_tree"):
        assert f"| `{impl}` |" in made
    assert "packet on verilated; scheduled on verilated" in made
    assert len(plot_side_by_side(results(), tmp_path)) == 2
    with pytest.raises(PointsmanError, match="once, in this order"):
        put_side_by_side("nothing", results())
