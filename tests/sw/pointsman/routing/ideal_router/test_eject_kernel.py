"""One word in place of others: the cheapest of all ways and start slots, each owner in a row counted once."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from pointsman.artifacts.routes.routes import RouteStream
from pointsman.network import mesh, torus
from pointsman.routing.ideal_router.eject_kernel import place_over
from pointsman.routing.ideal_router.kernels import HOP


def cells_of(one, nodes: list[int], start: int) -> list[int]:
    n_links = len(one.problem.links)
    used = [(n_links + nodes[0], start)]
    used += [(one.problem.links.index(link), start + k) for k, link in enumerate(pairwise(nodes))]
    used.append((n_links + one.problem.nodes + nodes[-1], start + len(nodes) - 1))
    return [int(one.rows.row[resource]) * one.period + slot % one.period for resource, slot in used]


def cost_of(one, owner: np.ndarray, nodes: list[int], start: int) -> int:
    cells = cells_of(one, nodes, start)
    prices = [int(one.price[cells[0]])]
    prices += [0 if owner[a] == owner[b] else int(one.price[b]) for a, b in pairwise(cells)]
    return sum(prices) + HOP * (len(nodes) - 1)


def placed(one, owner: np.ndarray, source: int, end: int, extra: int) -> tuple[list[int], int]:
    """Nodes of the way that the kernel finds, and the start slot."""
    start, size, work = place_over(
        one.net, one.rows, one.room, source, end, extra, one.period, one.price, owner.astype(np.int32)
    )
    assert work > 0
    return one.way(source, size), int(start)


@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize("seed", range(12))
def test_a_word_gets_the_way_with_the_cheapest_owners(placing, seed: int, extra: int) -> None:
    topology, period = (mesh(3, 3), 4) if seed % 2 else (torus(3, 3), 5)
    source, end = (0, 8) if seed % 3 else (4, 1)
    one = placing(topology, RouteStream(source, (end,)), period, seed, extra=extra, most=5000)
    owner = np.random.default_rng(seed).integers(-1, 3, one.price.size)
    graph = nx.DiGraph(one.problem.links)
    longest = nx.shortest_path_length(graph, source, end) + extra
    ways = list(nx.all_simple_paths(graph, source, end, cutoff=longest))
    best = min(cost_of(one, owner, way, start) for way in ways for start in range(period))
    nodes, start = placed(one, owner, source, end, extra)
    assert nodes in ways
    assert cost_of(one, owner, nodes, start) == best


def test_one_owner_of_many_cells_is_cheaper_than_two_owners_of_one_each(placing) -> None:
    one = placing(mesh(4), RouteStream(0, (3,)), 2, 0, most=1)
    owner = np.full(one.price.size, -1)
    whole, parts = cells_of(one, [0, 1, 2, 3], 0), cells_of(one, [0, 1, 2, 3], 1)
    owner[whole] = 0
    one.price[whole] = 10
    for number, cell in enumerate((parts[1], parts[3]), 1):
        owner[cell] = number
        one.price[cell] = 8
    assert {placed(one, owner, 0, 3, 0)[1] for _ in range(20)} == {0}


def test_the_room_can_be_used_again(placing) -> None:
    one = placing(mesh(3, 3), RouteStream(0, (8,)), 4, 1, extra=2, most=5000)
    owner = np.random.default_rng(1).integers(-1, 9, one.price.size)
    first = placed(one, owner, 0, 8, 2)
    assert (one.room.over_of == -1).all()
    assert placed(one, owner, 0, 8, 2) == first


def test_of_places_that_cost_the_same_each_is_taken_now_and_then(placing) -> None:
    one = placing(mesh(3), RouteStream(0, (2,)), 5, 1, most=1)
    owner = np.full(one.price.size, -1)
    starts = [placed(one, owner, 0, 2, 0)[1] for _ in range(200)]
    assert np.bincount(starts, minlength=5).min() > 15


def test_a_node_that_cannot_be_reached_has_no_way(placing) -> None:
    one = placing(mesh(3), RouteStream(0, (2,)), 3, 1)
    one.net.hops[2, 0] = -1
    owner = np.full(one.price.size, -1, np.int32)
    assert place_over(one.net, one.rows, one.room, 0, 2, 0, 3, one.price, owner)[1] == 0
