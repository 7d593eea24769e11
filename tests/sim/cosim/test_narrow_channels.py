"""Messages on a mesh of three dimensions, whose nodes lack registers for channels to all neighbours: they go along a tree."""

from __future__ import annotations

from types import ModuleType

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@pytest.mark.parametrize(
    "text",
    [
        "(broadcast 'b (runtime :distributed t))",
        "(reduce 'o 'add (runtime) :m 9)",
        "(permute 'p (runtime :distributed t) :m 2)",
    ],
)
def test_every_node_receives_what_the_reference_machine_gives_it(trees: ModuleType, text: str) -> None:
    topology = mesh(3, 3, 3)
    walker = trees.walker_of(text, topology, 5, slowest=300)
    expected = ReferenceMachine(walker.program, "p", {}).run(walker.main)
    images = make_images(make_plan(walker.program, NodeShape(neighbours=6), name="p", effort=0.2))
    report = check_images(images)
    assert report.ok, report.render()
    with Machine(images.shape, topology, engine="model") as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        record = run_nodes(nodes, walker.main, machine)
    assert record.results == expected.results
