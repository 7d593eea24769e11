"""Costs that compiled moves keep are those of the placement that they come to."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh, torus
from pointsman.routing.placement.cost import CUT_OFF, PlacementCost, asked, late


def random_flows(seed: int, tasks: int = 9, count: int = 20) -> FlowSet:
    chance = np.random.default_rng(seed)
    flows = []
    for index in range(count):
        source, *ends = chance.permutation(tasks)[: 2 + index % 3].tolist()
        latency = float(chance.integers(3, 9)) if index % 2 else None
        flows.append(Flow(str(index), source, tuple(ends), float(chance.random()), latency))
    return FlowSet(tuple(Task(str(index)) for index in range(tasks)), tuple(flows))


@pytest.mark.parametrize("topology", [mesh(4, 4), torus(3, 5), mesh(3, 2, 3)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_an_annealing_costs_what_is_said(topology, seed):
    flows, net = random_flows(seed), make_problem(topology, [])
    cost, anew = PlacementCost(flows, net), PlacementCost(flows, net)
    at = list(range(9))
    begin = cost.place_all(at)
    chance = np.random.default_rng(seed)
    price, best = cost.anneal(at, list(range(8)), [*range(8), 11, 14], chance, steps=500, heat=5.0, cooling=0.99)
    assert price == pytest.approx(anew.place_all(best))
    assert price <= begin
    assert best[8] == 8, "a task that may not be moved"
    assert len(set(best)) == 9
    assert set(best) <= {*range(9), 11, 14}


def test_undone_moves_leave_the_very_same_numbers():
    flows, net = random_flows(7), make_problem(mesh(4, 4), [])
    cost = PlacementCost(flows, net)
    before = cost.place_all(list(range(9)))
    load = cost.board.load.copy()
    for node in range(9, 16):
        cost.move((0,), [node, *range(1, 9)])
        cost.undo()
    assert cost.cost == before
    assert (cost.board.load == load).all()


def test_flows_pay_for_their_links_by_shortest_ways():
    flows, net = random_flows(3), make_problem(torus(4, 4), [])
    cost = PlacementCost(flows, net)
    cost.place_all(list(range(9)))
    for index, (price, rate, links) in cost.placed.items():
        flow = flows.flows[index]
        hops = net.distances(flow.source)
        far = max(hops[end] for end in flow.destinations)
        assert rate == asked(flow, far)
        assert price == pytest.approx(rate * len(links) + 1000.0 * late(flow, far))
        ways = {net.links[link] for link in links.tolist()}
        assert {flow.source, *flow.destinations} <= {node for link in ways for node in link}
        assert all(hops[head] == hops[tail] + 1 for tail, head in ways)
        assert len({head for _, head in ways}) == len(ways), "a tree"


def test_ends_that_faults_cut_off_are_dear():
    net = make_problem(mesh(3), [], dead_links=[(0, 1), (1, 0)])
    flows = FlowSet((Task("a"), Task("b")), (Flow("f", 0, (1,), 0.5),))
    cost = PlacementCost(flows, net)
    assert cost.place_all([0, 2]) == CUT_OFF
    assert cost.place_all([1, 2]) < 1.0
    assert cost.move((1,), [1, 0]) == CUT_OFF
