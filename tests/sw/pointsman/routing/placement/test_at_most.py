"""Limits that can be held at most: against placements and slots tried one by one."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import floor

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh
from pointsman.routing.placement.at_most import Room, fitting, most_flows, most_limits, room_of, slots_beyond
from pointsman.routing.routers import ROUTERS


def star(leaves: int, limits: list[float], *, out: bool = True) -> FlowSet:
    """A task that sends to, or takes from, all others."""
    flows = [
        Flow(str(k), 0 if out else k + 1, (k + 1,) if out else (0,), 0.001, limit) for k, limit in enumerate(limits)
    ]
    return FlowSet(tuple(Task(str(task)) for task in range(leaves + 1)), tuple(flows))


@pytest.mark.parametrize("out", [True, False])
def test_a_port_has_a_word_a_slot(out: bool) -> None:
    net = make_problem(mesh(5, 5), [])
    # Every second slot each, one link away: two, of which the bandwidths of the others leave one.
    assert most_limits(star(4, [3.0] * 4, out=out), net) == 1
    assert most_limits(star(4, [6.0] * 4, out=out), net) == 4
    assert most_limits(star(8, [6.0] * 8, out=out), net) == 4, "four neighbours, and a fifth would ask for a quarter"
    assert most_limits(star(2, [1.0, 9.0], out=out), net) == 1, "a word is one slot on its way and waits for one"
    assert most_limits(FlowSet((Task("a"), Task("b")), (Flow("f", 0, (1,), 0.5),)), net) == 0


@pytest.mark.parametrize("limits", [[2.0, 3.0, 4.0], [3.0, 3.0, 5.0], [2.5, 8.0, 8.0], [4.0, 4.0, 4.0]])
def test_no_placement_exceeds_it(limits: list[float]) -> None:
    topology = mesh(3, 2)
    flows = star(3, limits)
    most = 0
    for nodes in itertools.permutations(range(6), 4):
        places = [topology.coordinates(node) for node in nodes]
        far = [abs(x - places[0][0]) + abs(y - places[0][1]) for x, y in places[1:]]
        for held in itertools.product((False, True), repeat=3):
            asked = Fraction(0)
            for keeps, limit, hops, flow in zip(held, limits, far, flows.flows, strict=True):
                apart = floor(limit - hops)
                asked += (Fraction(1, apart) if apart > 0 else 9) if keeps else Fraction(flow.bandwidth)
            if asked <= 1:
                most = max(most, sum(held))
    assert most <= most_limits(flows, make_problem(topology, [])) <= 3
    assert most == most_limits(flows, make_problem(topology, []))


def test_several_flows_between_two_tasks_are_as_far_as_each_other() -> None:
    flows = tuple(Flow(str(k), 0, (1,), 0.01, 5.0) for k in range(5))
    two = FlowSet((Task("a"), Task("b")), flows)
    assert most_limits(two, make_problem(mesh(4), [])) == 3, "a quarter of the port each, and the rest of the others"
    many = FlowSet(tuple(Task(str(k)) for k in range(4)), (Flow("m", 0, (1, 2, 3), 0.1, 3.0),))
    assert most_limits(many, make_problem(mesh(4), [])) == 1


def test_flows_that_ports_have_room_for():
    out = FlowSet(tuple(map(Task, "abcd")), tuple(Flow(str(k), 0, (1 + k % 3,), 0.3) for k in range(6)))
    assert most_flows(out, Room(1.0, 9)) == 3
    assert most_flows(out, Room(2.0, 9)) == 6
    assert most_flows(out, Room(2.0, 4)) == 4
    both = FlowSet(out.tasks, (Flow("f", 0, (1, 2), 0.9), Flow("g", 3, (1,), 0.2), Flow("h", 3, (0,), 0.0)))
    assert most_flows(both, Room(1.0, 9)) == 1, (
        "one takes the port of b from the other, and best effort is promised nothing"
    )
    ports = [[("in", 0), ("out", 1), ("out", 2)], [("in", 3), ("out", 1)], [("in", 3), ("out", 0)]]
    assert fitting(both.flows, ports, Room(1.0, 9)) == [1]
    assert fitting(both.flows, ports, Room(2.0, 9)) == [0, 1]
    assert fitting(both.flows, ports, Room(2.0, 1)) == [1], "both end at node 1"


def test_on_the_node_a_word_takes_a_slot_more_and_ports_carry_more():
    net = make_problem(mesh(2, 2), [])
    near = star(1, [2.0], out=True)
    node, ideal = ROUTERS["numesh"], ROUTERS["ideal"]
    assert most_limits(near, net, slots_beyond(ideal)) == 1
    assert most_limits(near, net, slots_beyond(node)) == 0
    assert room_of(net, ideal).words == 1.0 < room_of(net, node).words < net.shape.pipelines
    assert room_of(net, node).ends == 14 < room_of(net, ideal).ends
    # Every second slot each, of the nearly two a slot of two pipelines.
    four, wide = star(4, [4.0] * 4, out=True), make_problem(mesh(3, 3), [])
    assert most_limits(four, wide, slots_beyond(node), room_of(wide, node).words) == 3
