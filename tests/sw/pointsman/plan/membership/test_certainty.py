"""Nodes that surely use an operator of a phase, and nodes that may be past it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.membership.certainty import certain_users, users
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import optional_groups


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = "(phase (subset '((0 1)) (barrier 'a)) (optional (subset '((1 2)) (barrier 'b))))"
    return make_plan(compile_text(text, topology=mesh(3, 1)), NodeShape(), name="x", period=16)


def test_a_node_with_an_optional_operator_beside_another_is_not_certain(plan: Plan) -> None:
    optional = optional_groups(plan.program)
    assert users(plan.phases) == [{0, 1, 2}]
    assert certain_users(plan.phases, plan.structure, optional) == [{0, 1}]


def test_nobody_is_certain_in_a_phase_that_all_nodes_go_through(plan: Plan) -> None:
    labels = frozenset(one.operator.label for one in plan.phases[0].operators)
    structure = replace(plan.structure, passed=labels)
    assert certain_users(plan.phases, structure, optional_groups(plan.program)) == [frozenset()]


def test_a_node_that_is_not_certain_goes_through_at_its_end(plan: Plan) -> None:
    from pointsman.plan.membership.passages import passages

    assert (2, -1, -1, (0,)) in passages(plan)
