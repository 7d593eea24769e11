"""What each node holds."""

from __future__ import annotations

from numesh.codes import REPROGRAM_VFSM
from pointsman.plan.plan import Plan
from pointsman.targets.numesh.allocation import Allocation
from pointsman.targets.numesh.nodes import NodeImages


def test_schedules_name_vfsms_that_are_annotated(small_plan: Plan) -> None:
    allocation = Allocation(small_plan)
    images = NodeImages(allocation)
    for number in range(3):
        for part in images.node(number).phases:
            known = {(one.pipeline, one.vfsm) for one in part.annotations}
            assert len(part.schedule) == allocation.plan.period
            used = {(p, vfsm) for row in part.schedule for p, vfsm in enumerate(row) if vfsm > REPROGRAM_VFSM}
            assert used == known


def test_every_node_has_the_operators_that_it_takes_part_in(small_plan: Plan) -> None:
    allocation = Allocation(small_plan)
    images = NodeImages(allocation)
    for number in range(3):
        own = [index for index, (_, planned) in enumerate(allocation.operators) if number in planned.roles]
        assert [index for index, _ in images.node(number).operators] == own


def test_neighbours_settle_only_behind_barriers(small_plan: Plan) -> None:
    plan = small_plan
    node = NodeImages(Allocation(plan)).node(0)
    for part in node.phases:
        assert bool(part.settle) <= (plan.phases[part.phase].barrier is not None)
