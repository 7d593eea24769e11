"""One word that may wait in nodes: against the shortest way through nodes and slots."""

from __future__ import annotations

import networkx as nx
import pytest

from pointsman.artifacts.routes.routes import RouteStream
from pointsman.network import mesh
from pointsman.routing.ideal_router.kernels import HOP
from pointsman.routing.ideal_router.tree_kernel import WAIT
from pointsman.routing.ideal_router.wait_kernel import place_waiting


def best_of(one, source: int, end: int) -> int:
    """The cheapest way over the links of shortest ways, with any waits between source and end."""
    period, links = one.period, one.problem.links
    left = nx.single_source_shortest_path_length(nx.DiGraph(links).reverse(), end)
    graph = nx.DiGraph()
    for t in range(period):
        graph.add_edge("out", (source, t), weight=one.injection(source, t))
        graph.add_edge((end, t), "in", weight=one.ejection(end, t))
        for u, v in links:
            if left[v] == left[u] - 1:
                graph.add_edge((u, t), (v, (t + 1) % period), weight=one.link(u, v, t) + HOP)
        for node in set(range(one.problem.nodes)) - {source, end}:
            graph.add_edge((node, t), (node, (t + 1) % period), weight=WAIT)
    return int(nx.dijkstra_path_length(graph, "out", "in"))


@pytest.mark.parametrize("seed", range(8))
def test_a_word_gets_the_cheapest_way_and_waits(placing, seed: int) -> None:
    source, end = (0, 8) if seed % 2 else (2, 6)
    one = placing(mesh(3, 3), RouteStream(source, (end,)), 5, seed, buffers=True)
    start, size, _ = place_waiting(one.net, one.rows, one.words, one.room, 0, 0, one.period, one.price)
    assert size == 4
    links = [one.problem.links[link] for link in one.words.links[:size].tolist()]
    depths = one.words.depth[:size].tolist()
    assert depths[0] == 0, "a word leaves its source in the slot in which it is injected"
    assert depths == sorted(set(depths))
    assert [u for u, _ in links] == [source, *(v for _, v in links[:-1])]
    assert links[-1][1] == end
    cost = one.injection(source, start) + one.ejection(end, start + depths[-1] + 1)
    cost += sum(one.link(u, v, start + depth) + HOP for (u, v), depth in zip(links, depths, strict=True))
    cost += WAIT * (depths[-1] + 1 - size)
    assert cost == best_of(one, source, end)
    assert (one.room.state_of == -1).all()


def test_where_all_costs_the_same_nobody_waits(placing) -> None:
    one = placing(mesh(5), RouteStream(0, (4,)), 3, 0, buffers=True, most=1)
    _, size, _ = place_waiting(one.net, one.rows, one.words, one.room, 0, 0, 3, one.price)
    assert one.words.depth[:size].tolist() == [0, 1, 2, 3]
