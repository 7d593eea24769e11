"""Programs of nested groups over all kinds of subsets: the cycle model against the reference machine."""

from __future__ import annotations

from types import ModuleType

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError, RefusedError
from pointsman.network import mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

SHAPE = NodeShape(vfsms=64, schedule_depth=256, registers=32)
SIZES = ((2, 2), (4, 2), (3, 3), (4, 1))
QUICK = (16, 20, 29, 37, 10, 22, 15, 35)
"""Seeds whose programs are planned quickly, two of each size."""


def run(trees: ModuleType, seed: int) -> bool:
    """Compile and run a random program; False if the compiler refuses it with a reason."""
    topology = mesh(*SIZES[seed % len(SIZES)])
    text = trees.random_text(seed, topology)
    walker = trees.walker_of(text, topology, seed, slowest=400)
    expected = ReferenceMachine(walker.program, "random", {}).run(walker.main)
    try:
        images = make_images(make_plan(walker.program, SHAPE, name="random", period=16))
    except (PlanError, RefusedError) as error:
        assert error.message
        return False
    report = check_images(images)
    assert report.ok, f"{text}\n{report.render()}"
    with Machine(SHAPE, topology, engine="model") as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        try:
            record = run_nodes(nodes, walker.main, machine)
        except PointsmanError as error:
            raise AssertionError(f"seed {seed}\n{text}\n{error.message}") from None
    assert record.results == expected.results, text
    return True


def test_every_node_receives_what_the_reference_machine_gives_it(trees: ModuleType) -> None:
    """And most programs are compiled."""
    assert sum(run(trees, seed) for seed in QUICK) >= len(QUICK) // 2


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_many_programs(trees: ModuleType, block: int) -> None:
    for seed in range(1000 + 20 * block, 1020 + 20 * block):
        run(trees, seed)
