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
    # Routed again, the promise still is worth more.
    assert [stream.weight for stream in found.problem.streams] == [0.2, 1e-3, 1e-3]


def test_a_limit_below_the_way_fails_and_is_told():
    found = routed(flows_of(6, (0, (5,), 0.1, 3), (1, (2,), 0.1)), "ideal")
    assert [report.holds for report in found.reports] == [False, True]
    assert found.missing[0] == 1
    assert found.reports[0].slack < 0


def test_a_port_with_many_little_flows_keeps_the_limits_that_it_can():
    # One node sends to 15: a word in 64 slots each would leave too little for limits that take a share of .9 together.
    limits = [12, 14, 14, 16, 16, 18, 20, 22, 24, 30, 40, 60, None, None, None]
    flows = flows_of(16, *((0, (node,), 1e-3, limit) for node, limit in enumerate(limits, 1)))
    found = route_flows(flows, make_problem(mesh(4, 4), []), range(16), ROUTERS["ideal"], QUICK)
    report = check_ideal(found.problem, found.result)
    assert report.ok, report.render()
    assert sum(not report.holds for report in found.reports) <= 1


def test_what_a_port_has_no_room_for_takes_nothing_from_the_others():
    # Each of the limits asks for half of the port, and the last flow for a quarter.
    flows = flows_of(6, (0, (1,), 0.01, 3), (0, (3,), 0.01, 3), (0, (4,), 0.25), (0, (2,), 0.01, 3))
    found = routed(flows, "ideal")
    assert [report.given >= report.demanded for report in found.reports] == [True] * 4
    assert sum(report.holds for report in found.reports) >= 2


def test_a_full_port_has_whole_words_for_all_its_flows():
    # Shares of 119 of a port: rounded up to 64ths, and to any power of two, they would be more than the port.
    flows = flows_of(4, (0, (1,), 17 / 119), (0, (2,), 37 / 119), (0, (3,), 65 / 119), (1, (2,), 50 / 119))
    found = routed(flows, "ideal")
    assert all(report.holds for report in found.reports)
    assert sum(report.given for report in found.reports[:3]) == pytest.approx(1.0)


@pytest.mark.parametrize(("ends", "rate", "held"), [(6, 0.2, 5), (7, 0.3, 3)])
def test_of_flows_that_a_port_has_no_room_for_as_many_as_fit_are_held(ends, rate, held):
    flows = flows_of(8, *((0, (node,), rate) for node in range(1, ends + 1)))
    found = route_flows(flows, make_problem(mesh(3, 3), []), range(8), ROUTERS["ideal"], QUICK)
    assert check_ideal(found.problem, found.result).ok
    assert sum(report.holds for report in found.reports) == held
    assert sum(report.given for report in found.reports) == pytest.approx(1.0, abs=0.02), "what is left is given, too"


def test_a_link_that_is_too_small_is_not_shared_so_that_all_flows_fail():
    # Three flows of .4 over the link 1 -> 2.
    flows = flows_of(6, (0, (3,), 0.4), (1, (4,), 0.4), (0, (2,), 0.4), (5, (4,), 0.4))
    found = routed(flows, "ideal", mesh(6))
    assert sum(not report.holds for report in found.reports) == 1
    assert found.reports[3].holds


def test_on_the_node_a_late_flow_loses_the_words_with_long_ways():
    # Beside its link the stream gets ways round, which make the worst word late.
    flows = flows_of(2, (0, (1,), 0.1, 6))
    found = route_flows(flows, make_problem(mesh(2, 2), []), range(2), ROUTERS["numesh"], QUICK)
    assert check_images(found.result.images).ok
    assert found.reports[0].holds
    assert found.rounds == 1


@pytest.mark.parametrize("router", ["ideal", "numesh"])
def test_a_limit_that_no_bandwidth_keeps_is_routed_once(router):
    # A word waits a slot at least, and passes three links.
    found = route_flows(flows_of(4, (0, (3,), 0.1, 3)), make_problem(mesh(4), []), range(4), ROUTERS[router], QUICK)
    assert not found.reports[0].holds
    assert found.rounds == 1


def test_flows_for_which_a_node_has_no_register_are_given_up():
    # Node 0 would be an end of 15 flows, and has 14 registers for them.
    flows = flows_of(16, *((0, (node,), 0.01) for node in range(1, 16)))
    found = route_flows(flows, make_problem(mesh(4, 4), []), range(16), ROUTERS["numesh"], QUICK)
    assert check_images(found.result.images).ok
    assert sum(report.holds for report in found.reports) == 14


def test_on_the_node_no_flow_gets_more_than_a_word_a_slot():
    """Two ways lead from a corner of 2x2 nodes to the other, and two pipelines to both."""
    flows = flows_of(4, (0, (3,), 1.0), (1, (2,), 0.0))
    found = route_flows(flows, make_problem(mesh(2, 2), []), range(4), ROUTERS["numesh"], QUICK)
    assert check_images(found.result.images).ok
    assert found.reports[0].holds
    assert [report.given <= 1.0 for report in found.reports] == [True, True]
    alone = flows_of(2, (0, (1,), 0.5))
    found = route_flows(alone, make_problem(mesh(2, 2), []), range(2), ROUTERS["numesh"], QUICK)
    assert check_images(found.result.images).ok
    assert 0.5 <= found.reports[0].given <= 1.0
    latency = found.reports[0].worst_latency
    assert latency is not None
    assert latency <= 6, "the way round, over three links and with waits, is left out"
