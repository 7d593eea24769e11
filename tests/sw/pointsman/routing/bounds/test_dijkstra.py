"""Cheapest paths: against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pointsman.routing.bounds.dijkstra import settle
from pointsman.routing.pathfinder.rows import grouped


@pytest.mark.parametrize("seed", range(4))
def test_prices_are_those_of_cheapest_paths_and_nodes_come_in_their_order(seed: int) -> None:
    graph = nx.gnp_random_graph(14, 0.2, seed=seed, directed=True)
    chance = np.random.default_rng(seed)
    price = chance.integers(0, 9, graph.number_of_edges()).astype(np.int64)
    edges = sorted(graph.edges)
    for (u, v), cost in zip(edges, price.tolist(), strict=True):
        graph.edges[u, v]["weight"] = cost
    first, order = grouped(np.array([u for u, _ in edges]), 14)
    heads = np.array([v for _, v in edges], np.int64)[order]
    best = np.full(14, 1 << 40, np.int64)
    best[2] = 0
    done, sequence = np.zeros(14, np.bool_), np.zeros(14, np.int64)
    reached = settle(2, best, done, sequence, first, heads, price[order])
    wanted = nx.single_source_dijkstra_path_length(graph, 2)
    assert {node: int(best[node]) for node in sequence[:reached].tolist()} == wanted
    assert sorted(wanted.values()) == best[sequence[:reached]].tolist()
