"""Trees grown by prices: they reach all ends, and take the cheapest links."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.routing.pathfinder.rows import grouped
from pointsman.routing.phase_router.steiner import branches_of_tree, grow

LINKS = sorted({pair for link in mesh(4, 3).links for pair in ((link.node, link.other), (link.other, link.node))})
FIRST, FROM = grouped(np.array([u for u, _ in LINKS]), 12)
FROM = FROM.astype(np.int64)
TO = np.array([v for _, v in LINKS], np.int64)


def grown(
    source: int, ends: list[int], price: np.ndarray, allowed: np.ndarray
) -> tuple[bool, list[tuple[int, int]], np.ndarray, np.ndarray]:
    children, n_children = np.zeros((12, 5), np.int64), np.zeros(12, np.int64)
    done = grow(
        source, np.array(ends, np.int64), allowed, FIRST, FROM, TO, np.zeros(12, np.int64), price, children, n_children
    )
    tree = [LINKS[children[n, leg]] for n in range(12) for leg in range(max(0, int(n_children[n])))]
    return done, tree, children, n_children


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_reaches_every_end_once_and_the_first_by_the_cheapest_path(seed: int) -> None:
    chance = np.random.default_rng(seed)
    price = chance.integers(1, 50, len(LINKS)).astype(np.int64)
    ends = sorted(int(end) for end in chance.choice(np.arange(1, 12), 3, replace=False))
    done, links, children, n_children = grown(0, ends, price, np.ones(12, np.bool_))
    assert done
    tree = nx.DiGraph(links)
    assert nx.is_arborescence(tree)
    assert {node for node in tree if tree.out_degree(node) == 0} <= set(ends) <= set(tree)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((u, v, int(cost)) for (u, v), cost in zip(LINKS, price, strict=True))
    away = nx.single_source_dijkstra_path_length(graph, 0)
    nearest = min(ends, key=lambda end: away[end])
    along = nx.shortest_path(tree, 0, nearest)
    assert sum(graph.edges[pair]["weight"] for pair in nx.utils.pairwise(along)) == away[nearest]
    branches, onward = np.zeros((13, 6), np.int64), np.zeros((13, 2), np.int64)
    count, rows = branches_of_tree(0, np.array(ends), TO, children, n_children, branches, onward)
    assert count == len(tree)
    assert sorted(LINKS[link] for link in onward[:rows, 0].tolist()) == sorted(links)
    assert sorted(branches[:count][branches[:count, 3] > 0, 0].tolist()) == ends


def test_an_end_that_is_cut_off_is_told() -> None:
    allowed = np.ones(12, np.bool_)
    allowed[[1, 4]] = False
    assert not grown(0, [11], np.ones(len(LINKS), np.int64), allowed)[0]
