"""Limits of latency that the router keeps, and best effort beside."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh
from pointsman.routing.options import RouteOptions
from pointsman.routing.placement.limits import route_flows
from pointsman.routing.routers import ROUTERS
from pointsman.verify.images import check_images
from pointsman.verify.routes import check_ideal

QUICK = RouteOptions(effort=0.2)


def flows_of(tasks, *flows) -> FlowSet:
    return FlowSet(
        tuple(Task(str(task)) for task in range(tasks)),
        tuple(Flow(str(index), *flow) for index, flow in enumerate(flows)),
    )


def routed(flows, router, topology=None):
    found = route_flows(flows, make_problem(topology or mesh(3, 2), []), range(6), ROUTERS[router], QUICK)
    report = check_ideal(found.problem, found.result) if router == "ideal" else check_images(found.result.images)
    assert report.ok, report.render()
    return found


@pytest.mark.parametrize(("router", "limit"), [("ideal", 7), ("numesh", 14)])
def test_a_little_flow_gets_slots_as_close_as_its_limit_asks(router, limit):
    flows = flows_of(6, (0, (5,), 0.02, limit), (1, (4,), 0.3), (3, (2,), 0.3), (2, (0,), 0.3, 40))
    found = routed(flows, router)
    assert [report.holds for report in found.reports] == [True] * 4
    assert found.reports[0].given >= 1 / limit


def test_best_effort_gets_what_is_left_and_the_others_keep_theirs():
    # The link 1 -> 2 is shared: what is promised takes three quarters of it.
    flows = flows_of(6, (0, (2,), 0.75), (1, (2,), 0.0), (3, (5,), 0.0))
    found = routed(flows, "ideal", mesh(6))
    assert found.index == (0, 1, 2)
    assert found.reports[0].given == pytest.approx(0.75, abs=0.26)
    assert found.reports[0].given + found.reports[1].given == pytest.approx(1.0)
    assert found.reports[2].given == 1.0
    assert all(report.holds for report in found.reports)


def test_best_effort_on_the_node():
    flows = flows_of(6, (0, (2,), 0.2), (1, (2,), 0.0), (3, (5,), 0.0))
    found = routed(flows, "numesh")
    assert all(report.holds for report in found.reports)
    assert found.reports[1].given > 0 < found.reports[2].given


def test_a_limit_below_the_way_fails_and_is_told():
    found = routed(flows_of(6, (0, (5,), 0.1, 3), (1, (2,), 0.1)), "ideal")
    assert [report.holds for report in found.reports] == [False, True]
    assert found.missing[0] == 1
    assert found.reports[0].slack < 0
