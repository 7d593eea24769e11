"""Round a cycle: no place is passed twice in a slot."""

from __future__ import annotations

from pointsman.artifacts.routes.file import make_problem
from pointsman.network import graph, mesh
from pointsman.routing.collectives.around import around


def test_one_node_beside_the_cycle_costs_one_slot():
    ring = graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 5)])
    schedule = around(make_problem(ring, []), tuple(range(6)), 5)
    assert schedule.period == 6
    assert sorted(word.item[0] for word in schedule.words) == list(range(6))


def test_nodes_far_from_the_cycle_are_left_to_others():
    assert around(make_problem(mesh(5), []), tuple(range(5)), 4) is None
    assert around(make_problem(mesh(1), []), (0,), 1) is None
