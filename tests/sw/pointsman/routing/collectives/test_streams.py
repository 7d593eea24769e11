"""Streams that are an all-gather are found, and routed as streams are."""

from __future__ import annotations

from pointsman.artifacts.routes.file import make_problem
from pointsman.artifacts.routes.routes import RouteStream
from pointsman.network import graph, mesh, torus
from pointsman.routing.collectives.streams import route_all_gather
from pointsman.routing.options import USUAL, RouteOptions
from pointsman.verify.routes import check_ideal


def all_gather(topology, words=1):
    count = topology.nodes
    streams = [RouteStream(a, tuple(b for b in range(count) if b != a), words=words) for a in range(count)]
    return make_problem(topology, streams)


def test_the_judge_of_streams_passes_it():
    for problem in (all_gather(torus(5, 3)), all_gather(mesh(6, 6)), all_gather(mesh(4, 4), 3), all_gather(mesh(5, 5))):
        result = route_all_gather(problem, USUAL)
        assert check_ideal(problem, result).ok
        assert result.period == result.bound.value


def test_other_streams_and_lengths_are_left_alone():
    problem = all_gather(mesh(4, 4))
    assert route_all_gather(problem, RouteOptions(length=20)) is None
    assert route_all_gather(make_problem(mesh(4, 4), problem.streams[1:]), USUAL) is None
    petersen = [(n, m) for n in range(5) for m in ((n + 1) % 5, n + 5)] + [(5 + n, 5 + (n + 2) % 5) for n in range(5)]
    # Above its bound, and small: for the search.
    assert route_all_gather(all_gather(graph(10, petersen)), USUAL) is None
