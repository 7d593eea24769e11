"""What a person sees of a run."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.numesh.session import Run, run_application
from loading import module_at
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.report.run import CATEGORIES, phase_table, run_json, run_text
from pointsman.report.table import table
from pointsman.runtime.api.application import Reference
from pointsman.targets.numesh import make_images

MATMUL = Path(__file__).resolve().parents[4] / "examples" / "matmul" / "matmul.py"


# -- tables --------------------------------------------------------------------------------------------------


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    assert table(["name", "words"], [["a", 5], ["long name", "1,225"]]) == (
        "name       words\n---------  -----\na              5\nlong name  1,225"
    )


def test_column_with_one_word_in_it_stands_to_the_left() -> None:
    assert table(["x"], [["100"], ["two"], ["–"]]).splitlines() == ["x", "---", "100", "two", "–"]


def test_blank_and_dash_may_stand_among_numbers() -> None:
    assert table(["x"], [["-1.5"], [""], ["–"]]).splitlines() == ["   x", "----", "-1.5", "", "   –"]


def test_table_without_rows_has_its_head() -> None:
    assert table(["a", "bc"], []) == "a  bc\n-  --"


def test_row_of_another_length_is_a_fault() -> None:
    with pytest.raises((ValueError, IndexError)):
        table(["a", "b"], [["1"]])
    with pytest.raises((ValueError, IndexError)):
        table(["a"], [["1", "2"]])


# -- runs ----------------------------------------------------------------------------------------------------


def _matmul() -> ModuleType:
    return module_at(MATMUL, "matmul_of_the_report")


@pytest.fixture(scope="module")
def finished() -> Run:
    """The matrix multiplication of 4×4 on 2×2 nodes."""
    topology, shape = mesh(2, 2), NodeShape(neighbours=4)
    options = Namespace(size=4, type=None, a=None, b=None, values=1)
    application = _matmul().Matmul(options, topology)
    parsed = compile_file(MATMUL.with_suffix(".cop"), topology=topology, parameters=dict(application.parameters()))
    images = make_images(make_plan(parsed, shape, name="matmul"))
    with Machine(shape, topology, engine="model") as machine:
        return run_application(images, application, machine)


@pytest.fixture
def plain(finished: Run) -> dict[str, Any]:
    return run_json(finished.images, finished, seed=7)


def test_result_survives_json(plain: dict[str, Any]) -> None:
    assert json.loads(json.dumps(plain)) == plain


def test_categories_are_means_over_the_nodes(plain: dict[str, Any], finished: Run) -> None:
    assert list(plain["categories"]) == list(plain["per_node"]) == CATEGORIES
    for name, mean in plain["categories"].items():
        assert len(plain["per_node"][name]) == 4
        assert mean == pytest.approx(np.mean(plain["per_node"][name]))
    assert plain["categories"]["cpu"] == 2 * 5 * 2**3


def test_cycles_of_a_node_fill_the_run(plain: dict[str, Any]) -> None:
    sums = [sum(plain["per_node"][name][node] for name in CATEGORIES) for node in range(4)]
    assert max(sums) <= plain["total_cycles"]
    assert min(sums) > 0


def test_operators_and_phases_are_those_of_the_images(plain: dict[str, Any], finished: Run) -> None:
    assert set(plain["operators"]) == {"b", "c"}
    assert [phase["name"] for phase in plain["phases"]] == [phase.name for phase in finished.images.phases]
    for operator in plain["operators"].values():
        assert 0 < operator["bandwidth"] <= 1
        assert operator["phase"] in [phase.name for phase in finished.images.phases]
    assert (plain["seed"], plain["correct"], plain["engine"]) == (7, True, "model")


def test_phase_table_has_a_row_for_each_operator(finished: Run) -> None:
    lines = phase_table(finished.images).splitlines()
    rows = sum(len(phase.operators) for phase in finished.images.phases)
    assert rows >= 2
    assert len(lines) == 2 + rows


def test_report_shows_answer_phases_and_cycles(plain: dict[str, Any], finished: Run) -> None:
    text = run_text(plain, finished.images, None)
    assert f"matmul on a 2x2 mesh, {finished.images.period} slots, engine model" in text
    assert f"  answer: {finished.answer}" in text
    assert phase_table(finished.images) in text
    row = next(line for line in text.splitlines() if line.startswith("this run")).split()[2:]
    means = plain["categories"]
    io = means["write"] + means["read"] + means["psync"]
    assert means["online"] == 0
    assert row == [f"{value:,.0f}" for value in (*(mean for name, mean in means.items() if name != "online"), io)]
    assert text.splitlines()[-1].startswith(f"{plain['total_cycles']:,} cycles; ")


def test_wrong_answer_is_shown_as_such(plain: dict[str, Any], finished: Run) -> None:
    text = run_text({**plain, "correct": False, "answer": "five"}, finished.images, None)
    assert "  WRONG: five" in text
    assert "answer:" not in text


def test_published_figures_stand_beside_the_run(plain: dict[str, Any], finished: Run) -> None:
    figures = {name: 1000.0 * (i + 1) for i, name in enumerate(CATEGORIES)}
    reference = Reference("Nobody 1900", "Table 1", figures, "Table 2", {"b": 0.125, "unknown": 0.875})
    text = run_text(plain, finished.images, reference)
    row = next(line for line in text.splitlines() if line.startswith("Nobody 1900, Table 1"))
    assert row.split()[4:] == ["1,000", "2,000", "3,000", "4,000", "5,000", "6,000", "9,000"]
    assert "Nobody 1900, Table 2" in text
    assert "0.125" in text
    assert "unknown" not in text
    assert "0.875" not in text


def test_reference_without_figures_adds_nothing(plain: dict[str, Any], finished: Run) -> None:
    assert run_text(plain, finished.images, Reference("Nobody 1900")) == run_text(plain, finished.images, None)
