"""Meshes over processors, and conjugate gradients on the project's own machines: every solution is SciPy's."""

from __future__ import annotations

import pytest

from pointsman.api.meshes import fem, solve
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.network.lattice import diamond


@pytest.mark.long
@pytest.mark.parametrize(
    ("machines", "options"), [(("packet", "tdm", "optical"), {}), (("numesh",), {"engine": "model"})]
)
def test_conjugate_gradients_on_a_plate_are_scipys(machines, options):
    work = fem("plate:5x5", 4, mesh(2, 2))
    solve(work, machines, **options)
    for name in machines:
        found = work.runs[name]
        assert found["correct"], found["answer"]
        assert 0 < found["exchange_cycles"] < found["cycles"]


@pytest.mark.parametrize(
    ("machine", "options", "topology"),
    [("numesh", {"engine": "model"}, mesh(2, 2)), ("packet", {}, mesh(2, 2)), ("iwarp", {}, diamond(2))],
    ids=["numesh", "packet", "iwarp on a lattice"],
)
def test_nodes_without_a_part_let_words_of_others_pass(machine, options, topology):
    work = fem("plate:4x4", 3, topology)
    solve(work, (machine,), **options)
    assert 0 < work.runs[machine]["exchange_cycles"] < work.runs[machine]["cycles"]
    assert work.runs[machine]["correct"], work.runs[machine]["answer"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["random:60", "crack:80", "valley:60"])
def test_random_meshes_on_scheduled_routers(kind, seed):
    work = fem(f"{kind}:{seed}", 3 + seed % 4, mesh(3, 2), channels=2 + 2 * seed)
    solve(work, ("numesh", "iwarp"), engine="model")
    assert all(found["correct"] for found in work.runs.values())


@pytest.mark.slow
@pytest.mark.parametrize("text", ["random:300:1", "crack:250:2", "valley:200:3", "plate:12x12", "basin:6x5x4"])
def test_meshes_of_all_kinds_on_the_rtl(text):
    work = fem(text, 9, mesh(3, 3), channels=10)
    solve(work, ("numesh", "tdm", "packet", "optical", "iwarp"))
    assert all(found["correct"] for found in work.runs.values())


def test_a_seed_has_32_bits():
    with pytest.raises(PointsmanError, match="a seed must be"):
        fem("plate:5x5", 4, mesh(2, 2), seed=-1)
