"""Exact answers for problems that one can solve by hand."""

from __future__ import annotations

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh, torus
from pointsman.routing.ideal_router.exact import exact_periods


def test_the_least_period_is_that_of_the_busiest_port_or_link() -> None:
    five_words = make_problem(mesh(2), [RouteStream(0, (1,), words=5)])
    two_ways_round = make_problem(torus(4), [RouteStream(0, (2,), words=2), RouteStream(1, (3,))])
    assert list(exact_periods([five_words, two_ways_round])) == [5, 2]
