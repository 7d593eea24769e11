"""Why a length is too small, in words and as data."""

from __future__ import annotations

import json

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.ideal_router.explain import PeriodError
from pointsman.routing.ideal_router.router import route_ideal
from pointsman.routing.options import RouteOptions


def refused(problem, length) -> PeriodError:
    with pytest.raises(PeriodError) as caught:
        route_ideal(problem, RouteOptions(length=length, effort=0.01))
    json.dumps(caught.value.report)
    return caught.value


def test_a_full_port_is_named_with_its_streams_and_the_smallest_changes():
    problem = make_problem(
        mesh(3), [RouteStream(0, (2,), words=3), RouteStream(1, (2,), words=2), RouteStream(1, (0,))]
    )
    error = refused(problem, 4)
    assert str(error) == (
        "4 slots are too few, 5 are needed (ejection): node 2 takes 5, 1 a slot; streams 0, 1 (2 in all)\n"
        "  hint: a length of 5 slots at least; or 1 word fewer of streams 0, 1 (2 in all)"
    )
    assert error.report["proved"]
    assert error.report["saturated"][0]["streams"] == [0, 1]
    assert error.report["changes"][0] == {"change": "length", "to": 5, "text": "a length of 5 slots at least"}


def test_a_full_cut_is_named_with_its_links_and_the_faulty_link_that_would_help():
    streams = [RouteStream(a, (a + 3,), words=2) for a in range(3)]
    problem = make_problem(mesh(3, 2), streams, dead_links=[(0, 3), (1, 4)])
    error = refused(problem, 5)
    cut = error.report["saturated"][0]
    assert (cut["kind"], cut["links"], cut["needed"], cut["available"]) == ("cut", [[2, 5]], 6, 5)
    assert "6 are needed (cut): 6 words leave" in str(error)
    links = error.report["changes"][-1]
    assert (links["change"], links["more"], links["faulty"]) == ("links", 1, [[0, 3], [1, 4]])


def test_words_that_fit_after_the_smallest_change():
    streams = [RouteStream(0, (2,), words=3), RouteStream(1, (2,), words=2)]
    error = refused(make_problem(mesh(3), streams), 4)
    fewer = error.report["changes"][1]["fewer"]
    changed = [RouteStream(0, (2,), words=3), RouteStream(1, (2,), words=2 - fewer)]
    assert route_ideal(make_problem(mesh(3), changed), RouteOptions(length=4)).period == 4


def test_a_search_that_merely_failed_does_not_claim_a_proof():
    # Every port is always busy: 16 words round a ring of four would need all links in all slots in step.
    problem = make_problem(mesh(5), [RouteStream(a, (b,)) for a in range(5) for b in range(5) if a != b])
    least = int(route_ideal(problem).bound.value)
    result = route_ideal(problem)
    if result.period > least:
        error = refused(problem, least)
        assert not error.report["proved"]
        assert "was found" in str(error)
