"""Placements judged by what the router makes of them."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.routing.errors import RoutingError
from pointsman.routing.options import RouteOptions
from pointsman.routing.placement import improve
from pointsman.routing.placement.improve import place_and_route
from pointsman.routing.placement.limits import route_flows
from pointsman.routing.placement.search import Places
from pointsman.routing.routers import ROUTERS

CHAIN = FlowSet((Task("a", 0), Task("b"), Task("c")), (Flow("ab", 0, (1,), 0.5, 4.0), Flow("bc", 1, (2,), 0.5, 4.0)))


def test_a_placement_whose_flows_fail_is_exchanged(monkeypatch):
    monkeypatch.setattr(improve, "place_tasks", lambda *_, **__: Places(((0, 5, 4),), "by hand"))
    at, routes, method = place_and_route(CHAIN, make_problem(mesh(6), []), ROUTERS["ideal"], RouteOptions())
    assert routes.missing[0] == 0
    assert at[0] == 0
    assert at[1] <= 2
    assert method.endswith("by what the router made of them")


def test_without_swaps_the_best_of_those_found_is_told(monkeypatch):
    monkeypatch.setattr(improve, "place_tasks", lambda *_, **__: Places(((0, 5, 4), (0, 5, 1)), "by hand"))
    monkeypatch.setattr(improve, "SWAPS", 0)
    net = make_problem(mesh(6), [])
    at, routes, _ = place_and_route(CHAIN, net, ROUTERS["ideal"], RouteOptions())
    assert at == (0, 5, 4)
    assert routes.missing <= route_flows(CHAIN, net, (0, 5, 1), ROUTERS["ideal"], RouteOptions()).missing


def test_a_router_that_finds_nothing_is_told():
    def nothing(*_):
        raise RoutingError("no way")

    with pytest.raises(PointsmanError, match="no way"):
        place_and_route(CHAIN, make_problem(mesh(6), []), nothing, RouteOptions())


def test_placing_ends_once_as_many_flows_fail_as_a_port_has_no_room_for(monkeypatch):
    routed = []
    monkeypatch.setattr(improve, "route_flows", lambda *given: routed.append(given) or route_flows(*given))
    flows = FlowSet(tuple(map(Task, "abcdefg")), tuple(Flow(str(k), 0, (k,), 0.2) for k in range(1, 7)))
    _, routes, _ = place_and_route(flows, make_problem(mesh(3, 3), []), ROUTERS["ideal"], RouteOptions())
    assert routes.missing[0] == 1
    assert len(routed) == 1
