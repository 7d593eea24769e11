"""``pointsman.route`` from Python."""

from __future__ import annotations

import pytest

import pointsman
from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.errors import PointsmanError
from pointsman.network import mesh

PROBLEM = RouteProblem(mesh(3), (RouteStream(0, (2,)), RouteStream(1, (2,))))


def test_the_answer_is_that_of_the_router() -> None:
    assert pointsman.route(PROBLEM, router="ideal").period == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"router": "best"}, "the router must be one of"),
        ({"time_limit": 0}, "a time limit must be positive, not 0 seconds"),
        ({"router": "ideal", "length": 1}, "slot"),
    ],
)
def test_wrong_arguments_say_so(arguments: dict, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.route(PROBLEM, **arguments)
