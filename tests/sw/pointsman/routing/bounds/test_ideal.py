"""Least periods in the ideal model, where they are known."""

from __future__ import annotations

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.network import mesh, torus
from pointsman.routing.bounds import ideal
from pointsman.routing.bounds.capacity import Capacity
from pointsman.routing.bounds.ideal import counted_bounds, flow_bound, flow_work, is_linear
from pointsman.routing.bounds.prices import Prices
from pointsman.routing.bounds.subgradient import LEAST_ROUNDS, link_prices, usual_rounds


def test_a_node_that_sends_five_words_needs_five_slots() -> None:
    bounds = counted_bounds(make_problem(mesh(3), [RouteStream(1, (0,), words=3), RouteStream(1, (2,), words=2)]))
    assert (bounds[0].value, bounds[0].kind) == (5, "injection")
    assert [bound.value for bound in bounds] == sorted((bound.value for bound in bounds), reverse=True)


def test_the_linear_program_is_never_below_a_cut() -> None:
    problem = make_problem(mesh(4), [RouteStream(0, (3,), words=2), RouteStream(1, (2,), words=3)])
    flow = flow_bound(problem)
    assert flow is not None
    assert flow.value >= 5, "five words cross the middle link"
    assert flow.value <= 5


def test_no_streams_have_no_bound() -> None:
    assert counted_bounds(make_problem(torus(3, 3), [])) == []


def test_the_bound_of_more_words_is_that_of_the_whole() -> None:
    once = make_problem(mesh(4), [RouteStream(0, (3,), words=2), RouteStream(1, (2,), words=3)])
    thrice = make_problem(mesh(4), [RouteStream(0, (3,), words=6), RouteStream(1, (2,), words=9)])
    assert flow_bound(once, times=3) == flow_bound(thrice)


def large() -> RouteProblem:
    return make_problem(torus(18, 18), [RouteStream(node, ((7 * node + 5) % 324,)) for node in range(324)])


def test_prices_are_sought_only_as_long_as_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = large()
    assert not is_linear(problem)
    least = flow_work(problem)
    assert least > 0
    rounds: list[int] = []

    def counted(problem: RouteProblem, capacity: Capacity, *, rounds: int, into: list[int] = rounds) -> Prices:
        into.append(rounds)
        return link_prices(problem, capacity, rounds=1)

    monkeypatch.setattr(ideal, "link_prices", counted)
    flow_bound(problem)
    flow_bound(problem, 2 * least)
    flow_bound(problem, 0)
    assert rounds == [usual_rounds(problem), 2 * LEAST_ROUNDS, LEAST_ROUNDS]
