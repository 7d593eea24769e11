"""Loops that go round less or more often than they say, or not at all: judged, and run with random delays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided, outline
from pointsman.program.program import Program
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

sys.path.insert(0, str(Path(__file__).parent))
from walker import Walker

LINE, BOX, CUBE = mesh(3, 1), mesh(4, 2), mesh(2, 2, 2)
ALL, LOOPS, CHOSEN = "a phase for each", "phases end in loops", "chosen"
PROGRAMS: dict[str, tuple[Topology, str, str]] = {
    "a phase before a loop": (
        LINE,
        ALL,
        "(broadcast 'a 0 :m 9) (loop 'l 3 (cshift 'b 1) (barrier 'c)) (broadcast 'd 2 :m 9)",
    ),
    "a node that comes after the loop only": (
        LINE,
        LOOPS,
        "(loop 'l 3 (barrier 'a) (subset '((0 1)) (barrier 'b)))\n(barrier 'c)",
    ),
    "a node whose part in the loop is optional": (
        LINE,
        LOOPS,
        "(loop 'l 3 (barrier 'a) (sequential (optional (barrier 'b)) (subset '((0 1)) (barrier 'c))))\n(barrier 'd)",
    ),
    "nodes with more to do afterwards": (
        LINE,
        LOOPS,
        "(loop 'l 3 (barrier 'a) (barrier 'b))\n(subset '((1 2)) (barrier 'c))",
    ),
    "words that pass a node of the loop": (
        LINE,
        ALL,
        "(loop 'k 2 (cshift 'a 1) (loop 'l 2 (subset '((0 2)) (broadcast 'b 0 :m 3)))) (barrier 'c)",
    ),
    "nodes on the way of a loop within a loop": (
        mesh(6, 1),
        CHOSEN,
        "(loop 'l 3 (cshift 'a -1 :m 2) (subset '((1 3 0 5)) (loop 'k 3 (allreduce 'b 'add) (broadcast 'c 1))))\n"
        "(allreduce 'd 'max :m 100)",
    ),
    "a loop of all before an operator of few": (
        BOX,
        CHOSEN,
        "(loop 'l 2 (broadcast 'a (runtime :dynamic t)))\n(subset '((6 7)) (permute 'b '(0 1)))",
    ),
    "a loop of few after an operator of all": (
        torus(4),
        CHOSEN,
        "(eoshift 'a (runtime))\n(subset '((0 3)) (loop 'l 1 (allreduce 'b 'min) (broadcast 'c 0) (bistream 'd 'e 1 0)))",
    ),
    "threads of loops with barriers": (
        CUBE,
        CHOSEN,
        "(parallel (subset '((0 1 2 3)) (loop 'a 3 (cshift 'b 1 :m 3) (barrier 'c)))"
        "(subset '((4 5 6 7)) (loop 'd 2 (prefix 'e 'add :m 2) (barrier 'f))))",
    ),
    "threads between operators of all": (
        mesh(6, 1),
        CHOSEN,
        "(broadcast 'a 2 :m 3) (parallel (subset '((0 1)) (loop 'b 7 (cshift 'c 1))) "
        "(subset '((2 3)) (loop 'e 2 (barrier 'f) (broadcast 'g 0 :m 40)))) (gather 'm 5 :m 2)",
    ),
}


def structures(program: Program, how: str) -> list[Structure] | None:
    if how == CHOSEN:
        return None
    if how == ALL:
        return [outline(program)]
    root = disjoint_tree(program)
    return [divided(program, root, fold(root, lambda part, i: part.kind == "loop"))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_number_of_rounds_is_right(name: str) -> None:
    topology, how, text = PROGRAMS[name]
    program = compile_text(text, topology=topology)
    shape = NodeShape(neighbours=max(4, topology.ports))
    images = make_images(make_plan(program, shape, name="p", structures=structures(program, how), effort=0.3))
    report = check_images(images)
    assert report.ok, report.render()
    for seed in range(9):
        walker = Walker(program, seed, slowest=(0, 60, 1500)[seed % 3], fewer=True, late=False)
        expected = ReferenceMachine(program, "p", {}).run(walker.main)
        with Machine(images.shape, topology, engine="model") as machine:
            nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
            record = run_nodes(nodes, walker.main, machine)
        assert record.results == expected.results
