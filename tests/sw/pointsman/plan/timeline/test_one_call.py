"""How long one call takes."""

from __future__ import annotations

import pytest

from numesh.codes import SHORTEST_REFILL, SHORTEST_RELAY
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.one_call import call_cycles


def test_it_takes_as_long_whenever_it_begins_in_the_period(small_plan: Plan) -> None:
    period = small_plan.period
    first = call_cycles(small_plan, "c", (), 40 * period)
    assert first > 0
    assert call_cycles(small_plan, "c", (), 41 * period) == first


def test_values_that_an_operator_does_not_have_are_refused(small_plan: Plan) -> None:
    with pytest.raises(PlanError, match="operator 'b' has no schedule for the values"):
        call_cycles(small_plan, "b", (7,), 40 * small_plan.period)


def test_a_call_cannot_begin_before_its_load_is_through(small_plan: Plan) -> None:
    with pytest.raises(PlanError, match="cannot begin, or does not come to its end"):
        call_cycles(small_plan, "c", (), 3)


def test_words_that_pass_a_register_wait_until_it_has_room_again() -> None:
    found = []
    for m in (10, 20):
        program = compile_text(f"(collect 'c 0 :m {m} :impl 'str_collect)", topology=mesh(3, 1))
        plan = make_plan(program, NodeShape(), name="relay", period=SHORTEST_RELAY + SHORTEST_REFILL)
        found.append(call_cycles(plan, "c", (), 40 * plan.period, writers=(2,)))
    # A word a period: it comes, is taken on, and leaves room for the next one.
    assert found[1] - found[0] >= 10 * (SHORTEST_RELAY + SHORTEST_REFILL)
