"""Optional operators beside others, and nodes that lend their routers to them: compiled, judged, and run with random delays."""

from __future__ import annotations

from types import ModuleType

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import Structure, outline
from pointsman.program.program import Program
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

GROUP = "(subset '((0 2 4 6)) (allreduce 'e 'max :m 2)) (optional (broadcast 'w 0))"
PROGRAMS = {
    "an optional group after a subset with holes": (GROUP, (4, 2)),
    "an optional group beside a barrier": (
        "(phase (optional (cshift 'a 1 :m 2)) (barrier 'b)) (cshift 'c 1 :m 3)",
        (2, 2),
    ),
    "optional rows beside a barrier": (
        "(loop 'l 3 (phase (subset (make-1d 'x) (optional (cshift 'a 1))) (subset '((0 3)) (barrier 'b))) (cshift 'c 1))",
        (2, 2),
    ),
    "an optional group whose words pass others": (
        "(loop 'l 3 (optional (subset '((0 2)) (broadcast 'a 0 :m 3))) (cshift 'b 1 :m 2))",
        (3, 1),
    ),
    "optional groups in one phase": (
        "(optional (broadcast 'a (runtime) :m 2)) (optional (subset '((5 4 2) (7 1 8)) (cshift 'b -2 :m 7)))"
        "(loop 'l 3 (subset '((8 4 2 3) (6 1 5 7)) (cshift 'c -2 :m 2)))",
        (3, 3),
    ),
}


@pytest.mark.parametrize("split", [False, True], ids=["chosen", "a phase for each"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_node_receives_what_the_reference_machine_gives_it(trees: ModuleType, name: str, split: bool) -> None:
    text, size = PROGRAMS[name]
    topology = mesh(*size)
    program: Program = trees.walker_of(text, topology, 0).program
    structures: list[Structure] | None = [outline(program)] if split else None
    images = make_images(make_plan(program, NodeShape(), name="p", structures=structures, effort=0.3))
    report = check_images(images)
    assert report.ok, report.render()
    for seed in range(6):
        walker = trees.walker_of(text, topology, seed, slowest=300)
        expected = ReferenceMachine(walker.program, "p", {}).run(walker.main)
        with Machine(images.shape, topology, engine="model") as machine:
            nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
            record = run_nodes(nodes, walker.main, machine)
        assert record.results == expected.results
