"""Places in the hardware: no two things that are there at once share one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pointsman.errors import RefusedError
from pointsman.plan.plan import Plan
from pointsman.targets.numesh.allocation import Allocation


def test_blocks_of_phases_lie_in_the_memory_behind_the_loader_s(small_plan: Plan) -> None:
    plan = small_plan
    allocation = Allocation(plan)
    blocks = [allocation.blocks[p] for p in range(len(plan.phases))]
    assert all(1 <= block < plan.shape.schedule_depth // plan.period for block in blocks)


def test_vfsms_of_a_phase_have_different_numbers_at_a_node(small_plan: Plan) -> None:
    plan = small_plan
    allocation = Allocation(plan)
    for p in range(len(plan.phases)):
        for node, here in allocation.at[p].items():
            places = [allocation.place(p, vfsm) for _, vfsm in here]
            assert len(set(places)) == len(places), node
            assert all(pipeline < plan.shape.pipelines for pipeline, _ in places)
            assert all(2 <= number < plan.shape.vfsms for _, number in places)


def test_registers_lie_behind_the_command_registers(small_plan: Plan) -> None:
    plan = small_plan
    allocation = Allocation(plan)
    for p, phase in enumerate(allocation.phases):
        for node, count in phase.wiring.registers_used.items():
            numbers = [allocation.register(p, node, virtual) for virtual in range(count)]
            assert min(numbers, default=plan.shape.pipelines) >= plan.shape.pipelines
            assert max(numbers, default=0) < plan.shape.registers


def test_a_node_without_enough_registers_is_told(small_plan: Plan) -> None:
    plan = replace(small_plan, shape=replace(small_plan.shape, registers=3))
    with pytest.raises(RefusedError, match="interface registers a node and is given 3") as caught:
        Allocation(plan)
    Allocation(replace(small_plan, shape=replace(small_plan.shape, registers=caught.value.needed)))
