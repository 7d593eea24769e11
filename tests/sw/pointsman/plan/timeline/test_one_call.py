"""How long one call takes."""

from __future__ import annotations

import pytest

from pointsman.plan.errors import PlanError
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
