"""Gaussian elimination: solved by its meaning, on the cycle model and on the RTL, beside the thesis's table."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.runtime.api.application import load_application


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("values", [1, 2])
def test_it_solves_the_equations_by_its_meaning(example, size: int, values: int) -> None:
    application, results = example.meant(mesh(size, size), "--size", "12", "--values", str(values))
    assert application.check(results).startswith("the solution of 12 equations")
    found = np.zeros(12)
    for y in range(size):
        found[y::size] = results[y * size]
    np.testing.assert_allclose(application.a @ found, application.b, rtol=1e-9, atol=1e-9)


@pytest.mark.long
def test_it_solves_the_equations_on_the_mesh(example) -> None:
    result = example.run(mesh(2, 2), "model", "--size", "8")
    assert result.correct, result.answer
    assert len(result.images.phases) == 1  # of so few words none needs a phase, and a barrier, of its own


def published(example) -> dict[str, dict[str, float]]:
    with open(example.path.with_name("metcalf1997.csv"), newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row.pop("mesh"): {k: float(v) for k, v in row.items()} for row in rows}


def test_the_cost_of_an_element_gives_the_cpu_column_of_the_table(example) -> None:
    """Summed as the application sums it, without running it."""
    kind = load_application(example.path)
    module = __import__("sys").modules[kind.__module__]
    n = 210
    for name, row in published(example).items():
        nodes = int(name.split("x")[0]) ** 2
        elements = sum((n - 1 - i) * (n + 1 - i) for i in range(n))
        cycles = (module.ELEMENT * elements + module.STEP * n * nodes) / nodes
        assert cycles == pytest.approx(row["cpu"], rel=0.01), name


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 5, 6, 7, 10])
def test_io_is_no_worse_than_the_thesis(example, size: int) -> None:
    result = example.run(mesh(size, size), "verilated")
    assert result.correct, result.answer
    table = published(example).get(f"{size}x{size}")
    if table is not None:
        means = result.record.mean_cycles
        assert sum(means[c] for c in ("write", "read", "psync")) <= sum(table[c] for c in ("write", "read", "psync"))
