"""Refusals of routers reach the user as the compiler's own."""

from __future__ import annotations

from pointsman.errors import PointsmanError
from pointsman.routing.errors import RoutingError


def test_a_refusal_carries_its_hint() -> None:
    error = RoutingError("no room", hint="a longer period")
    assert isinstance(error, PointsmanError)
    assert error.hint == "a longer period"
    assert str(error).startswith("no room")
