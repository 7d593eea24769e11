"""Costs that are kept up to date are those that are worked out anew."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh
from pointsman.routing.placement.cost import PlacementCost, sooner


def flows_of(count, pairs, bandwidth=0.5, latency=None) -> FlowSet:
    tasks = tuple(Task(str(index)) for index in range(count))
    return FlowSet(tasks, tuple(Flow(f"{a}-{b}", a, (b,), bandwidth, latency) for a, b in pairs))


def test_moves_change_the_cost_as_much_as_placing_everything():
    chance = np.random.default_rng(2)
    pairs = [(a, b) for a in range(6) for b in range(6) if a != b and chance.random() < 0.5]
    flows = flows_of(6, pairs, latency=5)
    net = make_problem(mesh(3, 3), [])
    kept, anew = PlacementCost(flows, net), PlacementCost(flows, net)
    at = list(range(6))
    kept.place_all(at)
    for _ in range(30):
        a, b = chance.choice(6, 2, replace=False).tolist()
        at[a], at[b] = at[b], at[a]
        assert kept.move((a, b), at) == pytest.approx(anew.place_all(at))


def test_a_move_that_is_undone_leaves_no_trace():
    flows = flows_of(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (0, 5)], bandwidth=0.3, latency=5)
    cost = PlacementCost(flows, make_problem(mesh(3, 3), []))
    before = cost.place_all([0, 1, 2, 3, 4, 5])
    placed = {index: (price, rate, links.tolist()) for index, (price, rate, links) in cost.placed.items()}
    assert cost.move((0, 5), [8, 1, 2, 3, 4, 0]) != pytest.approx(before)
    cost.undo()
    assert cost.cost == pytest.approx(before)
    assert {index: (price, rate, links.tolist()) for index, (price, rate, links) in cost.placed.items()} == placed


def test_words_times_links_and_lateness_count():
    net = make_problem(mesh(5), [])
    near = PlacementCost(flows_of(2, [(0, 1)]), net)
    assert near.place_all([0, 1]) < near.place_all([0, 2]) < near.place_all([0, 4])
    limited = PlacementCost(flows_of(2, [(0, 1)], latency=4), net)
    assert limited.place_all([0, 2]) < 10 < limited.place_all([0, 4])


def test_best_effort_only_chooses_among_placements_that_are_equal_for_the_others():
    net = make_problem(mesh(5), [])
    effort = PlacementCost(flows_of(2, [(0, 1)], bandwidth=0.0), net)
    assert effort.place_all([0, 1]) < effort.place_all([0, 2])
    tasks = tuple(map(Task, "abc"))
    mixed = PlacementCost(FlowSet(tasks, (Flow("f", 0, (1,), 0.001), Flow("g", 0, (2,), 0.0))), net)
    assert mixed.place_all([0, 1, 4]) < mixed.place_all([0, 2, 1])


def test_sooner_takes_slots_from_limits_alone():
    flows = FlowSet(tuple(map(Task, "ab")), (Flow("f", 0, (1,), 0.5, 4.0), Flow("g", 1, (0,), 0.5)))
    assert sooner(flows, 0) is flows
    assert [flow.latency for flow in sooner(flows, 1).flows] == [3.0, None]
