"""``pointsman.route`` from Python."""

from __future__ import annotations

from typing import Any

import networkx
import pytest

import pointsman
from pointsman.api.routing import collective
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


def streams(*given: RouteStream) -> RouteProblem:
    return RouteProblem(mesh(3), given)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            [],
            "streams must be the path of a file, its values in a mapping, a RouteProblem or a CollectiveProblem, not list",
        ),
        (streams(RouteStream(0, (7,))), r"streams\[0\].destinations\[0\]: a node must be one of 0..2, not 7"),
        (streams(RouteStream(-1, (2,))), r"streams\[0\].source: a node must be one of 0..2, not -1"),
        (streams(RouteStream(1, (1,))), "a stream must go to other nodes"),
        (streams(RouteStream(0, ())), "a stream must have a destination"),
        (streams(RouteStream(0, (1,), weight=float("nan"))), "a weight must be 0.0001"),
    ],
)
@pytest.mark.parametrize("router", ["numesh", "ideal"])
def test_problems_that_are_made_in_python_are_checked_as_files_are(problem: Any, said: str, router: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.route(problem, router=router)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"length": "3"}, "length must be a whole number, not '3'"),
        ({"length": 3.5}, "length must be a whole number, not 3.5"),
        ({"seed": "x"}, "seed must be a whole number, not 'x'"),
        ({"seed": -1}, "a seed must be 0 to"),
        ({"effort": "x"}, "effort must be a number, not 'x'"),
        ({"time_limit": True}, "time_limit must be a number, not True"),
    ],
)
def test_arguments_that_are_no_numbers_say_so(arguments: dict, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.route(PROBLEM, **arguments)


def test_the_values_of_a_file_are_taken_too() -> None:
    wanted = {"topology": {"kind": "mesh", "size": [3]}, "streams": [{"source": 0, "destinations": [2]}]}
    asked = pointsman.route(wanted, router="ideal")
    assert asked.period == pointsman.route(RouteProblem(mesh(3), (RouteStream(0, (2,)),)), router="ideal").period
    for wrong in (dict(wanted, streams=[{"source": 0, "destinations": [9]}]), {"streams": []}, {"topology": 3}):
        with pytest.raises(PointsmanError, match=r"^values of a streams file: "):
            pointsman.route(wrong)


def test_the_network_of_a_collective_is_told_in_any_way() -> None:
    made = collective("all-gather", mesh(2, 2))
    for network in ("2x2", "mesh:2x2", networkx.Graph([(0, 1), (1, 3), (3, 2), (2, 0)])):
        assert collective("all-gather", network).period == made.period
    with pytest.raises(PointsmanError, match="a network must be a Topology, a graph of networkx, or text, not int"):
        collective("all-gather", 4)  # type: ignore[arg-type]


def test_answers_are_shown_in_a_line() -> None:
    """As a notebook shows them: not with every move of every word."""
    shown = repr(collective("all-gather", mesh(4, 4)))
    assert "period=15" in shown
    assert len(shown) < 500
    streams = tuple(RouteStream(node, (15 - node,)) for node in range(16))
    assert len(repr(pointsman.route(RouteProblem(mesh(4, 4), streams)))) < 500
