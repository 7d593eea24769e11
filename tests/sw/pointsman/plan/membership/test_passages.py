"""Phases that nodes pass without an operator of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import MembershipError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.membership.passages import Passage, passages
from pointsman.plan.plan import Leaving, Plan
from pointsman.plan.structure.certainty import readings
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


def test_two_ways_from_one_phase_to_another_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of both streams pass through node 1; one reading of the program takes the second, the other does not."""
    streams = "(subset '((0 2)) (stream 's 0 1 :m 4)) (subset '((2 0)) (stream 't 0 1 :m 4))"
    program = compile_text(f"(broadcast 'a 0 :m 20) {streams} (broadcast 'b 1 :m 20)", topology=mesh(3, 1))
    plan = make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])
    assert passages(replace(plan, leaving=Leaving({}, {}))) == ((1, 0, 3, (1, 2)),)
    ((structure, certain),) = readings(plan.structure)
    shorter = replace(structure, successors={**structure.successors, 1: frozenset({3})})
    monkeypatch.setattr(
        "pointsman.plan.membership.passages.readings", lambda _: [(structure, certain), (shorter, certain)]
    )
    with pytest.raises(
        MembershipError, match=r"^node 1, which has no part .* through 's' then 't' or through 's', not"
    ) as caught:
        passages(plan)
    assert (caught.value.phase, caught.value.node) == (2, 1)


def test_a_division_with_two_ways_is_no_plan_even_if_plans_cannot_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_text("(broadcast 'a 0 :m 4) (broadcast 'b 1 :m 4)", topology=mesh(2, 1))
    seen = []

    def two_ways(plan: Plan) -> tuple[Passage, ...]:
        seen.append(len(plan.phases))
        if len(seen) == 1:
            raise MembershipError("two ways", phase=0, node=0)
        return ()

    monkeypatch.setattr("pointsman.plan.timeline.timeline._is_playable", lambda plan: False)
    monkeypatch.setattr("pointsman.plan.attempts.passages", two_ways)
    plan = make_plan(program, NodeShape(), name="x", period=16)
    assert len(seen) > 1
    assert "refused: two ways" in [one.outcome for one in plan.considered]
