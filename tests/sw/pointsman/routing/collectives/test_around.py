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


def test_chains_beside_the_cycle_go_up_and_down():
    chained = make_problem(graph(8, [(0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (4, 5), (5, 6), (4, 7)]), [])
    schedule = around(chained, tuple(range(8)), 7)
    assert schedule.method == "cycle of 4 nodes, 4 beside it"
    assert schedule.period <= 10
    for word in schedule.words:
        assert sorted(word.destinations) == [node for node in range(8) if node != word.centre]


def test_a_node_joined_one_way_and_a_single_node_are_left_to_others():
    one_way = make_problem(graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]), [], dead_links=[(3, 2)])
    assert around(one_way, tuple(range(4)), 3) is None
    assert around(make_problem(mesh(1), []), (0,), 1) is None
