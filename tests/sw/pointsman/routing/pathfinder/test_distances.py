"""Hops to a node: against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pointsman.routing.pathfinder.distances import hops_to
from pointsman.routing.pathfinder.rows import grouped


@pytest.mark.parametrize("seed", range(5))
def test_hops_are_those_of_shortest_paths_through_nodes_that_are_alive(seed: int) -> None:
    graph = nx.gnp_random_graph(12, 0.15, seed=seed, directed=True)
    writer = np.array([u for u, _ in graph.edges], np.int32)
    first_in, links_in = grouped(np.array([v for _, v in graph.edges], np.int32), 12)
    alive = np.random.default_rng(seed).random(12) < 0.8
    end = 3
    hops = np.full(12, -1, np.int32)
    hops_to(end, first_in, links_in, writer, alive, np.zeros(12, np.int32), hops)
    left = graph.subgraph([node for node in graph if alive[node] or node == end])
    wanted = nx.single_target_shortest_path_length(left, end)
    assert hops.tolist() == [dict(wanted).get(node, -1) for node in range(12)]
