"""Links and ways of a fabric."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.network.dimension_order import shortest_ways, way
from pointsman.optical.fabric import fabric


@pytest.mark.parametrize(
    "topology", [torus(4, 4), torus(5, 6), torus(2, 3), mesh(3, 5), torus(4, 2, 3), mesh(1, 2)], ids=repr
)
def test_ways_of_meshes_and_tori_are_those_of_dimension_order(topology):
    net = fabric(topology)
    hops = net.hops()
    for u in range(net.nodes):
        for v in range(net.nodes):
            assert net.way(u, v) == way(topology, u, v)
            assert hops[u, v] == len(way(topology, u, v)) - 1
    assert net.longest() == hops.max()


def test_adaptive_ways_are_shortest_and_differ():
    topology = torus(4, 5)
    net = fabric(topology, "adaptive")
    assert len(net.next_link) == 2
    for u in range(20):
        for v in range(20):
            both = {net.way(u, v, 0), net.way(u, v, 1)}
            assert both <= set(shortest_ways(topology, u, v))
    assert net.way(0, 6, 0) != net.way(0, 6, 1)


@pytest.mark.parametrize("seed", range(4))
def test_ways_of_graphs_are_shortest(seed):
    edges = list(nx.connected_watts_strogatz_graph(20, 4, 0.4, seed=seed).edges)
    away = dict(nx.all_pairs_shortest_path_length(nx.Graph(edges)))
    net = fabric(graph(20, edges), "adaptive")
    for number in (0, 1):
        for u in range(20):
            for v in range(20):
                found = net.way(u, v, number)
                assert len(found) - 1 == away[u][v]
                assert all(pair in net.links for pair in pairwise(found))
    assert any(net.way(u, v, 0) != net.way(u, v, 1) for u in range(20) for v in range(20))


def test_double_links_are_one():
    assert fabric(graph(2, [(0, 1), (1, 0)])).links == ((0, 1), (1, 0))
    assert np.array_equal(fabric(torus(2, 2)).hops(), fabric(mesh(2, 2)).hops())


@pytest.mark.parametrize(
    ("topology", "routing", "message"),
    [
        (graph(4, [(0, 1), (2, 3)]), "xy", "it must be connected, and there is no way from node 0 to node 2"),
        (mesh(1), "xy", "there must be 2 to 1024 nodes, not 1"),
        (mesh(64, 64), "xy", "there must be 2 to 1024 nodes, not 4096"),
        (mesh(2, 2), "up", "routing: there is no routing 'up'"),
    ],
)
def test_wrong_networks_are_refused(topology, routing, message):
    with pytest.raises(PointsmanError, match=message):
        fabric(topology, routing)
