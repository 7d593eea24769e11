"""The main job: Metcalf's matrix multiplication, checked against numpy and the thesis's tables."""

from __future__ import annotations

import csv

import pytest

from pointsman.network import mesh


def published(example, size: int) -> dict[str, float]:
    with open(example.path.with_name("metcalf1997.csv"), newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {k: float(v) for row in rows if row["mesh"] == f"{size}x{size}" for k, v in row.items() if k != "mesh"}


@pytest.mark.long
@pytest.mark.parametrize("size", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow), 6, 10])
def test_the_product_is_right_and_io_is_no_worse_than_the_thesis(example, size: int) -> None:
    result = example.run(mesh(size, size), "model")
    assert result.correct, result.answer
    table, means = published(example, size), result.record.mean_cycles
    assert means["cpu"] == table["cpu"]
    assert sum(means[c] for c in ("write", "read", "psync")) <= sum(table[c] for c in ("write", "read", "psync"))
    assert all(operator.bandwidth > 0 for operator in result.images.operators)
    # On 10x10 the words that go back through a column leave no room for waits, and for half as many words.
    assert result.images.operators[1].bandwidth >= (0.25 if size == 10 else 0.5), "the shift"


@pytest.mark.long
def test_the_rtl_and_the_model_agree_to_the_cycle(example) -> None:
    model, rtl = example.run(mesh(2, 2), "model", "--size", "12"), example.run(mesh(2, 2), "verilated", "--size", "12")
    assert model.correct
    assert rtl.correct
    assert model.record.differences(rtl.record) == []
    assert model.record.total_cycles == rtl.record.total_cycles


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_both_types_multiply(example, kind: str) -> None:
    assert example.run(mesh(3, 3), "model", "--size", "12", "--type", kind).correct


def test_the_cop_text_is_that_of_the_thesis(example) -> None:
    text = example.path.with_name("matmul.cop").read_text()
    figure = """(loop 'mul *xsize*
  (subset rows
    (broadcast 'b (runtime)))
  (subset cols
    (cshift 'c -1)))"""
    assert figure in text
