"""The main job: Metcalf's matrix multiplication, checked against numpy and the thesis's tables."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import pytest

from cosim.machine import Machine
from cosim.session import Run, run_application
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.network import mesh
from pointsman.plan.build import make_plan
from pointsman.runtime.application import load_application, parse_options
from pointsman.streams.check import check_images
from pointsman.targets.numesh import make_images

EXAMPLE = Path(__file__).parents[2] / "examples/matmul/matmul.py"


def run(size: int, engine: str, *arguments: str) -> Run:
    topology = mesh(size, size)
    kind = load_application(EXAMPLE)
    options = parse_options(kind, EXAMPLE, arguments)
    assert isinstance(options, argparse.Namespace)
    application = kind(options, topology)
    program = compile_file(
        EXAMPLE.parent / application.program, topology=topology, parameters=dict(application.parameters())
    )
    images = make_images(make_plan(program, NodeShape(), name="matmul"))
    report = check_images(images)
    assert report.ok, report.render()
    with Machine(NodeShape(), topology, engine=engine) as machine:  # type: ignore[arg-type]
        return run_application(images, application, machine)


def published(size: int) -> dict[str, float]:
    with open(EXAMPLE.with_name("metcalf1997.csv"), newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {k: float(v) for row in rows if row["mesh"] == f"{size}x{size}" for k, v in row.items() if k != "mesh"}


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 10])
def test_the_product_is_right_and_io_is_no_worse_than_the_thesis(size: int) -> None:
    result = run(size, "model")
    assert result.correct, result.answer
    table, means = published(size), result.record.mean_cycles
    assert means["cpu"] == table["cpu"]
    assert sum(means[c] for c in ("write", "read", "psync")) <= sum(table[c] for c in ("write", "read", "psync"))
    assert all(operator.bandwidth > 0 for operator in result.images.operators)
    assert result.images.operators[1].bandwidth >= 0.5, "the shift"


def test_the_rtl_and_the_model_agree_to_the_cycle() -> None:
    model, rtl = run(2, "model", "--size", "12"), run(2, "verilated", "--size", "12")
    assert model.correct
    assert rtl.correct
    assert model.record.differences(rtl.record) == []
    assert model.record.total_cycles == rtl.record.total_cycles


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_both_types_multiply(kind: str) -> None:
    assert run(3, "model", "--size", "12", "--type", kind).correct


def test_the_cop_text_is_that_of_the_thesis() -> None:
    text = EXAMPLE.with_name("matmul.cop").read_text()
    figure = """(loop 'mul *xsize*
  (subset rows
    (broadcast 'b (runtime)))
  (subset cols
    (cshift 'c -1)))"""
    assert figure in text
