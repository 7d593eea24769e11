"""Nodes that would have to know which of an operator's schedules runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.membership.schedule_choice import refuse_split_barriers
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


@pytest.fixture(scope="module")
def plan() -> Plan:
    program = compile_text("(subset '((0 1)) (broadcast 'a 0 :m 40)) (broadcast 'b 1 :m 40)", topology=mesh(3, 1))
    return make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])


def chosen(plan: Plan, nodes: frozenset[int]) -> None:
    """The first phase as one of several schedules of its operator, with these nodes."""
    structure = replace(
        plan.structure, phases=(replace(plan.structure.phases[0], value=(0,)), *plan.structure.phases[1:])
    )
    phases = [replace(plan.phases[0], nodes=nodes, barrier=None), *plan.phases[1:]]
    refuse_split_barriers(structure, phases)


def test_nodes_of_the_instances_know_the_value(plan: Plan) -> None:
    chosen(plan, frozenset([0, 1]))


def test_a_node_that_lends_its_router_does_not(plan: Plan) -> None:
    with pytest.raises(PlanError, match="operator 'a' has a schedule for each value, and nodes outside its instances"):
        chosen(plan, frozenset([0, 1, 2]))


def test_phases_of_one_schedule_are_let_pass(plan: Plan) -> None:
    refuse_split_barriers(plan.structure, plan.phases)
