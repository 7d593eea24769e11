"""Graphs of networkx become networks."""

from __future__ import annotations

import networkx
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import from_networkx, graph


def edges_of(network: networkx.Graph) -> set[frozenset[int]]:
    return {frozenset((link.node, link.other)) for link in from_networkx(network).links}


def test_integers_from_zero_keep_their_numbers() -> None:
    ring = networkx.Graph([(3, 0), (1, 2), (0, 1), (2, 3)])
    assert edges_of(ring) == {frozenset(edge) for edge in ((0, 1), (1, 2), (2, 3), (0, 3))}


def test_other_names_are_numbered_in_the_order_of_the_graph() -> None:
    named = networkx.Graph([("c", "a"), ("a", "b")])
    assert edges_of(named) == {frozenset((0, 1)), frozenset((1, 2))}
    grid = networkx.grid_2d_graph(2, 3)
    places = list(grid.nodes)
    assert edges_of(grid) == {frozenset((places.index(u), places.index(v))) for u, v in grid.edges}


def test_equal_graphs_make_equal_networks() -> None:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3)]
    one, other = networkx.Graph(), networkx.Graph()
    one.add_edges_from(edges)
    other.add_nodes_from([3, 1, 0, 2])
    other.add_edges_from((v, u) for u, v in reversed(edges))
    assert from_networkx(one) == from_networkx(other) == graph(4, sorted((min(e), max(e)) for e in edges))


def test_every_link_joins_the_ports_of_its_nodes() -> None:
    network = from_networkx(networkx.petersen_graph())
    assert network.ports == 3
    assert [len(ports) for ports in network.at_port] == [3] * 10


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (networkx.DiGraph([(0, 1)]), "a network must be an undirected simple graph, not a DiGraph"),
        (networkx.MultiGraph([(0, 1), (0, 1)]), "a network must be an undirected simple graph, not a MultiGraph"),
        (networkx.Graph([(0, 0)]), "edge 0-0 must join two different nodes of 0..0"),
        (networkx.Graph(), "a network must have 1 to 4096 nodes, not 0"),
        (networkx.empty_graph(4097), "a network must have 1 to 4096 nodes, not 4097"),
        ([(0, 1)], r"a network must be a Topology or a networkx\.Graph, not list"),
    ],
)
def test_other_graphs_are_refused(network: object, message: str) -> None:
    with pytest.raises(PointsmanError, match=message):
        from_networkx(network)
