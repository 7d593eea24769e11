"""Traffic of the bench of a mesh, with the model in place of the hardware."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cosim.benches.bench import FOUR_NODES
from cosim.benches.coverage import Coverage
from cosim.benches.numesh import mesh
from cosim.benches.numesh.catalogue import STANDARD


def test_traffic_of_the_mesh_bench_reaches_every_bin(run_bench: Callable[..., int]) -> None:
    coverage = Coverage()
    model = mesh.CoveredMesh(STANDARD, FOUR_NODES, coverage)
    run_bench(mesh.MeshDriver(STANDARD, FOUR_NODES, Random(0)), model, coverage, 30000)
    assert {name: group.missing for name, group in coverage.groups.items() if group.missing} == {}


def test_every_link_has_bins_at_both_ends_and_every_other_port_some_of_its_own() -> None:
    coverage = Coverage()
    mesh.CoveredMesh(STANDARD, FOUR_NODES, coverage)
    links = {name for name in coverage.groups if name.startswith("link from")}
    assert len(links) == 2 * len(FOUR_NODES.links)
    for what in ("a word for a port without a link", "a reader at a port without a link"):
        assert len(coverage.groups[what].hits) == FOUR_NODES.nodes * STANDARD.neighbours - len(links)


def test_processors_get_inputs_of_their_own_and_all_nodes_one_reset() -> None:
    driver = mesh.MeshDriver(STANDARD, FOUR_NODES, Random(4))
    names = {f"{name}_{i}" for name in mesh.PROCESSOR_INPUTS for i in range(4)}
    resets = []
    for cycle in range(50):
        early = driver.early(cycle)
        resets.append(early["rst"])
        assert set(early) <= names | {"rst"}
        assert set(driver.late({f"p_full_{i}": 0 for i in range(4)})) == names
    assert resets[:2] == [1, 1]
    assert 0 in resets
