"""Least periods in the ideal model, where they are known."""

from __future__ import annotations

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh, torus
from pointsman.routing.bounds.ideal import counted_bounds, flow_bound


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
