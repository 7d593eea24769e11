"""Meshes over processors, and conjugate gradients on the project's own machines: every solution is SciPy's."""

from __future__ import annotations

import pytest

from pointsman.api.meshes import fem, solve
from pointsman.errors import PointsmanError
from pointsman.network import mesh


@pytest.mark.parametrize(("machines", "options"), [(("packet", "tdm"), {}), (("numesh",), {"engine": "model"})])
def test_conjugate_gradients_on_a_plate_are_scipys(machines, options):
    work = fem("plate:5x5", 4, mesh(2, 2))
    solve(work, machines, **options)
    for name in machines:
        found = work.runs[name]
        assert found["correct"], found["answer"]
        assert 0 < found["exchange_cycles"] < found["cycles"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["random:300:1", "crack:250:2", "valley:200:3", "plate:12x12"])
def test_meshes_of_all_kinds_on_the_rtl(text):
    work = fem(text, 9, mesh(3, 3), channels=10)
    solve(work, ("numesh", "tdm", "packet", "iwarp"))
    assert all(found["correct"] for found in work.runs.values())


def test_a_seed_has_32_bits():
    with pytest.raises(PointsmanError, match="a seed must be"):
        fem("plate:5x5", 4, mesh(2, 2), seed=-1)
