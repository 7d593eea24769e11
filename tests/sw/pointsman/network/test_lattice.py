"""The diamond lattice."""

from __future__ import annotations

import networkx as nx
import pytest

from pointsman.errors import PointsmanError
from pointsman.network.lattice import diamond, diamond_positions


def as_graph(size: int) -> nx.Graph:
    graph = nx.Graph()
    topology = diamond(size)
    graph.add_nodes_from(range(topology.nodes))
    graph.add_edges_from((link.node, link.other) for link in topology.links)
    return graph


def test_seven_a_side_make_the_455_nodes_of_the_thesis():
    topology = diamond(7)
    assert (topology.nodes, topology.ports) == (455, 4)


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_it_is_connected_two_coloured_and_of_degree_four_inside(size):
    graph = as_graph(size)
    assert nx.is_connected(graph)
    assert nx.is_bipartite(graph)
    assert max(dict(graph.degree).values()) <= 4
    assert graph.number_of_edges() == len(diamond(size).links)


def test_its_smallest_rings_have_six_nodes():
    assert nx.girth(as_graph(4)) == 6


def test_a_step_changes_one_coordinate_by_one_and_a_port_names_it():
    positions = diamond_positions(4)
    for link in diamond(4).links:
        steps = [b - a for a, b in zip(positions[link.node], positions[link.other], strict=True)]
        assert [abs(step) for step in steps] == [int(axis == link.port) for axis in range(4)]
        assert link.port == link.other_port


@pytest.mark.parametrize("size", [0, 15, -1])
def test_sizes_outside_are_refused(size):
    with pytest.raises(PointsmanError, match=r"a diamond lattice must have 1 to 14 nodes a side"):
        diamond(size)
