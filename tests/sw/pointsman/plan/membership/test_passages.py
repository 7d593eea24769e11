"""Phases that nodes pass without an operator of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.membership.passages import passages
from pointsman.plan.plan import Leaving, Plan
from pointsman.plan.structure.structure import outline


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Words of the stream in phase 1 pass through node 1, which has no part in it."""
    text = "(broadcast 'a 0 :m 20) (subset '((0 2)) (stream 's 0 1 :m 4)) (broadcast 'b 1 :m 20)"
    program = compile_text(text, topology=mesh(3, 1))
    return make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])


def test_a_node_that_lends_its_router_passes_the_phase_on_its_way(plan: Plan) -> None:
    assert 1 in plan.phases[1].nodes
    alone = replace(plan, leaving=Leaving({}, {}))
    assert passages(alone) == ((1, 0, 2, (1,)),)


def test_who_leaves_at_the_end_or_between_two_uses_passes_nothing(plan: Plan) -> None:
    leaving = Leaving({0: frozenset([0])}, {2: frozenset([2])})
    found = passages(replace(plan, leaving=leaving))
    assert set(found) == {(1, 0, 2, (1,)), (0, 0, 0, ()), (2, 2, -1, ())}
