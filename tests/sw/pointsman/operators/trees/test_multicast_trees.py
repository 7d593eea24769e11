"""Snakes, and which tree a broadcast gets; laws of the trees are in test_broadcast."""

from __future__ import annotations

import itertools

import pytest

from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.multicast_trees import (
    dimension_orders,
    multicast_tree,
    narrow_tree,
    snake,
    tree_depth,
    two_arms,
)


@pytest.mark.parametrize("topology", [mesh(1), mesh(6), mesh(3, 4), mesh(2, 3, 2), torus(4, 3)], ids=str)
def test_a_snake_passes_every_node_once_over_links(topology: Topology) -> None:
    for order in dimension_orders(topology):
        path = snake(tuple(range(topology.nodes)), topology, order)
        assert path is not None
        assert sorted(path) == list(range(topology.nodes))
        for node, after in itertools.pairwise(path):
            assert any(other == after for other, _ in topology.at_port[node].values())


def test_nodes_with_a_hole_have_no_snake() -> None:
    assert snake((0, 2), mesh(3)) is None


def test_two_legs_are_arms_of_a_snake_and_more_a_tree() -> None:
    nodes, topology = tuple(range(16)), mesh(4, 4)
    readers = nodes[1:]
    assert multicast_tree(nodes, 0, readers, topology, 2) == two_arms(nodes, 0, readers, topology)
    assert multicast_tree(nodes, 0, readers, topology, 3) == narrow_tree(nodes, 0, readers, topology, 3)


def test_depth_counts_links_to_the_farthest_node() -> None:
    assert tree_depth(()) == 0
    assert tree_depth(((0, 1), (1, 2), (0, 3))) == 2
