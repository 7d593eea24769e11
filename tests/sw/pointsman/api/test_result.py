"""What a run gives to Python: values, arrays, tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh

HALVES = Path(__file__).parents[4] / "examples/halves/halves.py"


@pytest.fixture(scope="module")
def result() -> pointsman.Result:
    return pointsman.run(HALVES, mesh(2, 1), engine="model", events=True)


def test_tables_agree_with_the_plain_values(result: pointsman.Result) -> None:
    nodes = result.table("nodes")
    assert nodes.dtype.names is not None
    assert len(nodes) == 2
    for name, cycles in result.values["per_node"].items():
        assert nodes[name].tolist() == cycles
    operators = result.table("operators")
    assert set(operators["name"]) == set(result.values["operators"])
    assert operators["bandwidth"].dtype == np.float64
    assert list(result.table("phases")["name"]) == [one["name"] for one in result.values["phases"]]


def test_activities_account_for_every_cycle(result: pointsman.Result) -> None:
    activities = result.table("activities")
    assert int((activities["end"] - activities["start"]).sum()) == int(
        sum(activities[name].sum() for name in result.values["categories"])
    )
    for name, cycles in result.values["per_node"].items():
        assert activities[name].sum() == sum(cycles)


def test_every_access_is_kept_if_asked_for(result: pointsman.Result) -> None:
    words, nodes = result.table("words"), result.table("nodes")
    assert words["write"].sum() == nodes["written"].sum()


def test_frames_of_pandas(result: pointsman.Result) -> None:
    pandas = pytest.importorskip("pandas")
    frame = result.frame("nodes")
    assert isinstance(frame, pandas.DataFrame)
    assert frame["cpu"].tolist() == result.values["per_node"]["cpu"]


def test_a_notebook_gets_a_picture_and_a_terminal_text(
    result: pointsman.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    assert result._repr_html_().startswith("<svg")
    result.show()
    assert capsys.readouterr().out == result.text + "\n"


def test_what_a_run_does_not_have_is_said(result: pointsman.Result) -> None:
    with pytest.raises(PointsmanError, match="there is no table 'node'"):
        result.table("node")
    dry = pointsman.run(HALVES, mesh(2, 1), dry=True)
    assert dry._repr_html_().startswith("<pre>")
    assert dry.total_cycles >= 0
    for ask in (lambda: dry.cycles, lambda: dry.table("nodes")):
        with pytest.raises(PointsmanError, match="a dry run has no cycles of nodes"):
            ask()
    with pytest.raises(PointsmanError, match="this run has no table of words"):
        dry.table("words")
