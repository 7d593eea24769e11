"""The error of a program that has no plan."""

from __future__ import annotations

from pointsman.errors import PointsmanError
from pointsman.plan.errors import PlanError


def test_it_is_shown_with_its_hint_like_every_error_of_the_user() -> None:
    error = PlanError("no plan", hint="use more nodes")
    assert isinstance(error, PointsmanError)
    assert str(error) == "no plan\n  hint: use more nodes"
