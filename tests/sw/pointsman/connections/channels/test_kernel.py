"""Ways against networkx, negotiation against a network that has just enough channels."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels.kernel import FAR, negotiate, route, weighted_distances
from pointsman.connections.channels.tables import empty, state_of, tables_of
from pointsman.network import from_networkx, mesh


@pytest.mark.parametrize("seed", range(4))
def test_ways_are_as_cheap_as_those_of_networkx(seed):
    graph = networkx.connected_watts_strogatz_graph(14, 4, 0.5, seed=seed)
    topology = from_networkx(graph)
    random = np.random.default_rng(seed)
    demands = tuple(Demand(0, node) for node in range(1, 14))
    problem = ChannelProblem(topology, 3, demands)
    tables, state = tables_of(problem), state_of(tables_of(problem), 2)
    state.cost[:] = random.integers(1, 20, (2, 14))
    for c, one in enumerate(demands):
        for p in range(2):
            weight = state.cost[p]
            directed = networkx.DiGraph([(u, v, {"weight": weight[v]}) for u, v in graph.to_directed().edges])
            expected = weight[0] + networkx.dijkstra_path_length(directed, 0, one.destination)
            assert route(tables, state, c, p, p) == expected
            nodes = state.way[: state.found[1]][::-1].tolist()
            assert sum(weight[v] for v in nodes) == expected
            assert (nodes[0], nodes[-1]) == (0, one.destination)
            price, _ = weighted_distances(tables, weight, 0)
            assert price[one.destination] == expected
        both = [route(tables, state, c, p, p) for p in (0, 1)]
        assert route(tables, state, c, 0, 1) == min(both)
        assert state.found[0] == np.argmin(both)


def test_the_most_links_are_kept_although_a_longer_way_is_cheaper():
    problem = ChannelProblem(mesh(3, 2), 2, (Demand(0, 2, 1, latency=8), Demand(0, 2, 1)))
    tables, state = tables_of(problem), state_of(tables_of(problem), 1)
    state.cost[0, 1] = 50
    assert route(tables, state, 0, 0, 0) == 52
    assert route(tables, state, 1, 0, 0) == 5
    state.cost[0, 1] = FAR
    assert route(tables, state, 0, 0, 0) == FAR


def test_negotiation_finds_the_only_division():
    # Both diagonals and both sides of a square with 2 channels a node: every channel of four nodes but two is needed.
    problem = ChannelProblem(mesh(2, 2), 2, (Demand(0, 1), Demand(2, 3), Demand(0, 2), Demand(1, 3)))
    tables = tables_of(problem)
    given = empty(tables)
    free = np.full(4, -1, np.int64)
    assert negotiate(tables, state_of(tables, 1), given, 1, free, 50, 0) == 0
    assert given.phase.tolist() == [0, 0, 0, 0]
    assert given.lengths.tolist() == [2, 2, 2, 2]
