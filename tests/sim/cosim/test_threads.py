"""Disjoint threads with phases of their own: random programs in random divisions against the reference machine."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Literal

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images.file import images_from_bytes, images_to_bytes
from pointsman.errors import PointsmanError, RefusedError
from pointsman.network import Topology, mesh
from pointsman.plan import context as plan_context
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import ProgramPart, disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided
from pointsman.program.program import Program
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

SHAPE = NodeShape(vfsms=128, schedule_depth=512, registers=64)
SIZES = ((4, 2), (3, 3), (4, 1), (3, 2), (5, 1))
Engine = Literal["model", "verilated"]


def division(program: Program, seed: int, share: float) -> Structure:
    """Ends of phases at random places that are in no parallel group."""
    root = disjoint_tree(program)
    bound = {c for p in root.walk() if p.kind == "parallel" for c in p.walk() if c is not p}
    rng = random.Random(seed)
    picked: dict[tuple[ProgramPart, int], bool] = {}

    def ends(part: ProgramPart, i: int) -> bool:
        return part not in bound and picked.setdefault((part, i), rng.random() < share)

    return divided(program, root, fold(root, ends))


def run(
    trees: ModuleType, text: str, topology: Topology, seed: int, *, share: float = 1.0, slowest: int, engine: Engine
) -> bool:
    """Run a program in threads; False if the division is refused with a reason."""
    walker = trees.walker_of(text, topology, seed, slowest=slowest)
    structure = division(walker.program, seed, share)
    expected = ReferenceMachine(walker.program, "random", {}).run(walker.main)
    try:
        images = make_images(make_plan(walker.program, SHAPE, name="random", period=16, structures=[structure]))
    except (PlanError, RefusedError) as error:
        assert error.message
        return False
    assert images_from_bytes(images_to_bytes(images)) == images
    report = check_images(images)
    assert report.ok, f"{text}\n{report.render()}"
    with Machine(SHAPE, topology, engine=engine) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        try:
            record = run_nodes(nodes, walker.main, machine)
        except PointsmanError as error:
            raise AssertionError(f"seed {seed}\n{text}\n{error.message}") from None
    assert record.results == expected.results, text
    return structure.threads is not None


THREADS = """
(subset '((0 1 2 3)) (broadcast 'x 0 :m 8))
(parallel
 (subset '((0 1)) (loop 'la 3 (broadcast 'a1 0 :m 7) (stream 'a2 1 0 :m 20) (cshift 'a3 1 :m 3)))
 (subset '((2 3)) (loop 'lb 5 (broadcast 'b1 1 :m 7) (stream 'b2 0 1 :m 20) (cshift 'b3 1 :m 3))))
(subset '((0 1 2 3)) (broadcast 'y 3 :m 8))
"""
"""Threads that go round differently often, with common phases before and after."""

JOINED_AGAIN = """
(loop 'o 2
  (parallel
    (subset '((0 1)) (sequential (eoshift 'p 0 :m 20) (cshift 'q -1 :m 1) (barrier 'r)))
    (sequential (subset '((2 3)) (eoshift 's 1 :m 7)) (subset '((2 3)) (barrier 't)))))
(subset '((0 2) (1 3)) (barrier 'u))
"""
"""The barrier before u was joined with what u sends before u had a barrier of its own."""


@pytest.mark.parametrize("slowest", [0, 900])
def test_threads_that_loop_differently_keep_apart(trees: ModuleType, slowest: int) -> None:
    assert run(trees, THREADS, mesh(4, 1), 1, slowest=slowest, engine="model")


def test_barriers_know_what_later_phases_send_in_the_end(trees: ModuleType) -> None:
    run(trees, JOINED_AGAIN, mesh(4, 1), 1, slowest=300, engine="model")


def test_a_phase_may_be_left_between_two_of_its_operators_of_which_one_tells_who_has_come(
    trees: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # These routes use wires of the phase before in the second.
    monkeypatch.setattr(plan_context, "ROUTING", 0.05)
    topology = mesh(*SIZES[88 % len(SIZES)])
    assert run(
        trees, trees.random_text(88, topology, operators=7, threads=0.6), topology, 88, slowest=0, engine="model"
    )


@pytest.mark.slow
def test_threads_on_the_rtl(trees: ModuleType) -> None:
    assert run(trees, THREADS, mesh(4, 1), 1, slowest=300, engine="verilated")


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_random_threads(trees: ModuleType, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads in random divisions, nodes at random paces; every twentieth program on the RTL."""
    # Routes need not be good here.
    monkeypatch.setattr(plan_context, "ROUTING", 0.05)
    used = 0
    for seed in range(20 * block, 20 * block + 20):
        topology = mesh(*SIZES[seed % len(SIZES)])
        text = trees.random_text(seed, topology, operators=7, threads=0.6)
        engine: Engine = "verilated" if seed % 20 == 0 else "model"
        rng = random.Random(seed)
        share, slowest = rng.choice([0.5, 0.8, 1.0]), rng.choice([0, 50, 400, 2000])
        used += run(trees, text, topology, seed, share=share, slowest=slowest, engine=engine)
    assert used >= 2


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_operators_beside_sequences(trees: ModuleType, block: int) -> None:
    """What the compiler makes of operators that run beside sequences: one phase, so far."""
    for seed in range(5000 + 10 * block, 5010 + 10 * block):
        topology = mesh(*SIZES[seed % len(SIZES)])
        text = trees.random_text(seed, topology, operators=6, threads=0.2, continuing=0.5)
        run(trees, text, topology, seed, slowest=400, engine="model")
