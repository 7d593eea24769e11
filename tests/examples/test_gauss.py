"""Gaussian elimination: solved by its meaning, on the cycle model and on the RTL, beside the thesis's table."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import pytest

from cosim.machine import Machine
from cosim.session import Run, run_application
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.network import mesh
from pointsman.plan.build import make_plan
from pointsman.runtime.application import load_application, parse_options
from pointsman.runtime.reference import ReferenceMachine
from pointsman.streams.check import check_images
from pointsman.targets.numesh import make_images

EXAMPLE = Path(__file__).parents[2] / "examples/gauss/gauss.py"


def example(size: int, *arguments: str):
    topology = mesh(size, size)
    kind = load_application(EXAMPLE)
    options = parse_options(kind, EXAMPLE, arguments)
    assert isinstance(options, argparse.Namespace)
    application = kind(options, topology)
    program = compile_file(
        EXAMPLE.parent / application.program, topology=topology, parameters=dict(application.parameters())
    )
    return application, program


def run(size: int, engine: str, *arguments: str) -> Run:
    application, program = example(size, *arguments)
    images = make_images(make_plan(program, NodeShape(), name="gauss"))
    report = check_images(images)
    assert report.ok, report.render()
    with Machine(NodeShape(), program.topology, engine=engine) as machine:  # type: ignore[arg-type]
        return run_application(images, application, machine)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("values", [1, 2])
def test_it_solves_the_equations_by_its_meaning(size: int, values: int) -> None:
    application, program = example(size, "--size", "12", "--values", str(values))
    machine = ReferenceMachine(program, "gauss", application.functions)
    results = machine.run(application.main).results
    assert application.check(results).startswith("the solution of 12 equations")
    found = np.zeros(12)
    for y in range(size):
        found[y::size] = results[y * size]
    np.testing.assert_allclose(application.a @ found, application.b, rtol=1e-9, atol=1e-9)


def test_it_solves_the_equations_on_the_mesh() -> None:
    result = run(2, "model", "--size", "8")
    assert result.correct, result.answer
    assert len(result.images.phases) > 1


def published() -> dict[str, dict[str, float]]:
    with open(EXAMPLE.with_name("metcalf1997.csv"), newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row.pop("mesh"): {k: float(v) for k, v in row.items()} for row in rows}


def test_the_cost_of_an_element_gives_the_cpu_column_of_the_table() -> None:
    """Summed as the application sums it, without running it."""
    kind = load_application(EXAMPLE)
    module = __import__("sys").modules[kind.__module__]
    n = 210
    for name, row in published().items():
        nodes = int(name.split("x")[0]) ** 2
        elements = sum((n - 1 - i) * (n + 1 - i) for i in range(n))
        cycles = (module.ELEMENT * elements + module.STEP * n * nodes) / nodes
        assert cycles == pytest.approx(row["cpu"], rel=0.01), name


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 5, 6, 7, 10])
def test_io_is_no_worse_than_the_thesis(size: int) -> None:
    result = run(size, "verilated")
    assert result.correct, result.answer
    table = published().get(f"{size}x{size}")
    if table is not None:
        means = result.record.mean_cycles
        assert sum(means[c] for c in ("write", "read", "psync")) <= sum(table[c] for c in ("write", "read", "psync"))
