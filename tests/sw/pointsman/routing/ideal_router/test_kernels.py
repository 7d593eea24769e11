"""One word without waiting: the cheapest of all ways and start slots."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from pointsman.artifacts.routes.routes import RouteStream
from pointsman.network import mesh, torus
from pointsman.routing.ideal_router.kernels import HOP, NOISE, place_unicast, random_below


def cost_of(one, nodes: list[int], start: int) -> int:
    links = sum(one.link(u, v, start + k) + HOP for k, (u, v) in enumerate(pairwise(nodes)))
    return one.injection(nodes[0], start) + links + one.ejection(nodes[-1], start + len(nodes) - 1)


def placed(one, source: int, end: int, extra: int) -> tuple[list[int], int]:
    """Nodes of the way that the kernel finds, and the start slot."""
    start, size, work = place_unicast(one.net, one.rows, one.room, source, end, extra, one.period, one.price)
    assert work > 0
    return one.way(source, size), int(start)


@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize("seed", range(6))
def test_a_word_gets_the_cheapest_way_of_all(placing, seed: int, extra: int) -> None:
    topology, period = (mesh(3, 3), 4) if seed % 2 else (torus(3, 3), 5)
    source, end = (0, 8) if seed % 3 else (4, 1)
    one = placing(topology, RouteStream(source, (end,)), period, seed, extra=extra, most=5000)
    graph = nx.DiGraph(one.problem.links)
    longest = nx.shortest_path_length(graph, source, end) + extra
    ways = list(nx.all_simple_paths(graph, source, end, cutoff=longest))
    best = min(cost_of(one, way, start) for way in ways for start in range(period))
    nodes, start = placed(one, source, end, extra)
    assert nodes in ways
    assert cost_of(one, nodes, start) == best


def test_the_room_can_be_used_again(placing) -> None:
    one = placing(mesh(3, 3), RouteStream(0, (8,)), 4, 1, most=5000)
    first = placed(one, 0, 8, 0)
    assert (one.room.state_of == -1).all()
    assert placed(one, 0, 8, 0) == first


def test_of_starts_that_cost_the_same_each_is_taken_now_and_then(placing) -> None:
    one = placing(mesh(3), RouteStream(0, (2,)), 5, 1, most=1)
    starts = [placed(one, 0, 2, 0)[1] for _ in range(200)]
    counts = np.bincount(starts, minlength=5)
    assert counts.min() > 15


def test_chance_is_xorshift64_star() -> None:
    state = np.array([1], np.uint64)
    plain = 1
    for _ in range(50):
        plain ^= plain >> 12
        plain = (plain ^ plain << 25) % (1 << 64)
        plain ^= plain >> 27
        assert random_below(state, 1000) == (plain * 2685821657736338717 % (1 << 64) >> 33) % 1000
    assert int(state[0]) == plain


def test_a_detour_costs_more_than_noise_saves() -> None:
    assert HOP > NOISE - 1
