"""What the views of messages show is what the trace has, and pages with it open without errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.network import mesh
from pointsman.report.active.shown import MOST_QUANTA, active_of, add_active, logp_document
from pointsman.report.show.document import Document, Net, document_bytes, read_document
from pointsman.runtime.active.trace import ActiveTrace

ROOT = Path(__file__).parents[5]


def _trace() -> ActiveTrace:
    trace = ActiveTrace()
    trace.sent += [(0, 0, 1, 1), (10, 0, 1, 5), (99, 1, 0, 2)]
    trace.handled += [(20, 1, 0, 6), (100, 0, 1, 2)]
    trace.counters["frames"] = [(0, 0, 1), (30, 0, 7), (31, 0, 2), (70, 0, 0)]
    trace.quanta += [(1, 20, 30, "f"), (0, 0, 15, "main")]
    return trace


def test_slices_add_up_to_the_trace() -> None:
    made = active_of(_trace(), 2, 100)
    assert made.slice_cycles == 1
    assert [sum(row) for row in made.sent] == [6, 2]
    assert [sum(row) for row in made.handled] == [2, 6]
    assert [made.under_way[k] for k in (0, 9, 10, 19, 20, 98, 99)] == [1, 1, 6, 6, 0, 0, 0]
    assert made.pairs == [(0, 1, 6), (1, 0, 2)]
    assert made.quanta == [(0, 0, 15, 0), (1, 20, 30, 1)]
    assert made.blocks == ["main", "f"]
    (frames,) = made.counters
    assert [frames.values[0][k] for k in (0, 29, 30, 31, 69, 70, 99)] == [1, 1, 7, 7, 2, 2, 0]
    assert set(frames.values[1]) == {0}


@pytest.mark.parametrize("cycles", [1, 7, 399, 401, 123_457])
def test_any_length_has_as_many_messages(cycles: int) -> None:
    made = active_of(_trace(), 2, cycles)
    assert sum(map(sum, made.sent)) == sum(map(sum, made.handled)) == 8
    assert len(made.under_way) <= 400
    assert active_of(ActiveTrace(), 3, cycles).pairs == []


def test_quanta_beyond_the_most_are_left_out_and_told() -> None:
    trace = ActiveTrace()
    trace.quanta += [(0, k, k + 1, "f") for k in range(MOST_QUANTA + 5)]
    document = Document("t", "logp", Net("mesh", [1], 1, [(0, 0)]))
    add_active(document, trace, MOST_QUANTA + 5)
    assert document.active is not None
    assert len(document.active.quanta) == MOST_QUANTA
    assert document.notes == ["The first 20,000 of 20,005 quanta are drawn."]
    assert read_document(document_bytes(document)) == document


def test_a_document_of_a_logp_machine_has_no_links() -> None:
    values: dict[str, Any] = {
        "categories": {"cpu": 1, "write": 1, "read": 1},
        "per_node": {"cpu": [1, 2], "write": [3, 4], "read": [5, 6]},
        "correct": True,
        "answer": "a",
        "total_cycles": 9,
    }
    made = logp_document("p", mesh(2), values)
    assert made.network.links == []
    assert made.run is not None
    assert made.run.per_node == [[1, 3, 5], [2, 4, 6]]


def test_pages_of_split_c_and_of_tam_have_messages_and_quanta(tmp_path: Path) -> None:
    sort, page, tam = tmp_path / "sort.json", tmp_path / "sort.html", tmp_path / "tam.html"
    words = ["show", str(ROOT / "examples/splitc/sort.py"), "--target", "logp", "--logp", "cm5", "--mesh", "2x2"]
    figures = tmp_path / "figures"
    done = CliRunner().invoke(
        main, [*words, "--keys", "40", "-o", str(page), "--json", str(sort), "--svg", str(figures)]
    )
    assert done.exit_code == 0, done.output
    assert any("messages" in one.name for one in figures.iterdir())
    active = json.loads(sort.read_text())["active"]
    assert sum(map(sum, active["sent"])) == sum(map(sum, active["handled"])) > 100
    done = CliRunner().invoke(
        main, ["tam", str(ROOT / "examples/tam/fib.tam"), "6", "--nodes", "2", "--page", str(tam)]
    )
    assert done.exit_code == 0, done.output
    assert "fib.tam: 2 processors of a LogP machine" in tam.read_text()
