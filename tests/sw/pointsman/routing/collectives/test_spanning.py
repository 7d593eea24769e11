"""Spanning trees have all nodes, links of the network, and many leaves."""

from __future__ import annotations

import networkx
import pytest

from pointsman.artifacts.routes.file import make_problem
from pointsman.network import graph, mesh
from pointsman.routing.collectives.spanning import leafy_tree


def leaves(tree: dict[int, list[int]]) -> int:
    return sum(len(others) == 1 for others in tree.values())


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_tree_of_the_links_of_the_network(seed):
    made = networkx.connected_watts_strogatz_graph(20, 4, 0.4, seed=seed)
    tree = leafy_tree(make_problem(graph(20, list(made.edges)), []), tuple(range(20)))
    assert tree is not None
    found = networkx.Graph(tree)
    assert networkx.is_tree(found)
    assert all(made.has_edge(*link) for link in found.edges)
    assert set(found) == set(made)


def test_a_hub_is_the_only_inner_node():
    wheel = networkx.wheel_graph(10)
    tree = leafy_tree(make_problem(graph(10, list(wheel.edges)), []), tuple(range(10)))
    assert tree is not None
    assert leaves(tree) == 9


def test_inner_nodes_without_which_the_others_do_are_taken_out():
    # The search begins at 0, which has the most neighbours; 1 and 2 reach all that it reaches.
    topology = graph(9, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 5), (1, 6), (2, 4), (2, 7), (2, 8)])
    tree = leafy_tree(make_problem(topology, []), tuple(range(9)))
    assert tree is not None
    assert leaves(tree) == 7


def test_links_of_one_direction_and_faults_are_left_out():
    assert leafy_tree(make_problem(mesh(3), [], dead_links=[(1, 0)]), (0, 1, 2)) is None
    tree = leafy_tree(make_problem(mesh(2, 3), [], dead_nodes=[3]), (0, 1, 2, 4, 5))
    assert tree is not None
    assert {node: sorted(others) for node, others in tree.items()} == {0: [1, 2], 1: [0], 2: [0, 4], 4: [2, 5], 5: [4]}
