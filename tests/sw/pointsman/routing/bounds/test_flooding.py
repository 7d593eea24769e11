"""The least period of words that flood a tree is that of an exhaustive search."""

from __future__ import annotations

import itertools

import networkx
import pytest

from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.network import graph, mesh, torus
from pointsman.routing.bounds.flooding import FloodedTree, flooding_period, gathered_period
from pointsman.routing.collectives.bounds import period_bounds


def meet(lengths: dict[int, dict[int, int]], j: int, k: int, later: int, period: int) -> bool:
    """Do words of nodes j and k, that of k ``later``, come to a node at once, or start where one comes that goes on?"""
    for node, away in lengths.items():
        if (later + away[k] - away[j]) % period == 0:
            is_leaf = sum(hops == 1 for hops in away.values()) == 1
            if j == k or node not in (j, k) or not is_leaf:
                return True
    return False


def exhaustive(tree: networkx.Graph, words: dict[int, int], most: int) -> int:
    lengths = dict(networkx.all_pairs_shortest_path_length(tree))
    nodes = [node for node in tree for _ in range(words[node])]

    def goes(period: int, starts: tuple[int, ...]) -> bool:
        if len(starts) == len(nodes):
            return True
        new = nodes[len(starts)]
        return any(
            goes(period, (*starts, slot))
            for slot in range(period)
            if not any(meet(lengths, old, new, slot - at, period) for old, at in zip(nodes, starts, strict=False))
        )

    return next(period for period in itertools.count(1) if period > most or goes(period, (0,)))


def flooded(tree: networkx.Graph, words: dict[int, int]) -> FloodedTree:
    return FloodedTree({node: sorted(tree[node]) for node in tree}, words)


@pytest.mark.parametrize(
    ("nodes", "count"),
    [(3, 1), (3, 2), (4, 1), (4, 2), (5, 1), pytest.param(5, 2, marks=pytest.mark.slow), (6, 1), (7, 1)],
)
def test_no_starts_do_with_less_on_any_small_tree(nodes, count):
    for tree in networkx.nonisomorphic_trees(nodes):
        words = dict.fromkeys(tree, count)
        period, classes = flooded(tree, words).least_period()
        assert exhaustive(tree, words, period) == period
        assert sum(sum(one.values()) for one in classes) == count * nodes


@pytest.mark.parametrize("seed", range(20))
def test_no_starts_do_with_less_where_nodes_have_different_numbers_of_words(seed):
    tree = networkx.random_labeled_tree(3 + seed % 3, seed=seed)
    words = {node: 1 + (seed >> node) % 2 for node in tree}
    period, _ = flooded(tree, words).least_period()
    assert exhaustive(tree, words, period) == period


def all_gather(net: RouteProblem, words: int) -> RouteProblem:
    return RouteProblem(net.topology, make_collective(net, "all-gather", words=words).streams(), net.dead_nodes)


def test_networks_with_bridges_are_bounded_and_others_are_not():
    square_with_tail = graph(6, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 5)])
    # One tree of bridges: 0 - 4 - 5; the words of the square come into it at node 0.
    assert flooding_period(make_problem(square_with_tail, []), 1) == 6
    assert flooding_period(make_problem(square_with_tail, []), 3) == 18 + 1 - 1
    assert flooding_period(make_problem(mesh(5), []), 3) == 17
    assert flooding_period(make_problem(torus(5), []), 1) is None
    assert flooding_period(make_problem(mesh(2), []), 1) is None


@pytest.mark.parametrize("words", [1, 3])
def test_the_same_streams_have_the_same_bound(words):
    net = make_problem(mesh(7), [])
    assert gathered_period(all_gather(net, words)) == flooding_period(net, words)
    bounds = period_bounds(make_collective(net, "all-gather", words=words))
    assert (bounds[0].value, bounds[0].kind) == (flooding_period(net, words), "flooding")
    waiting = RouteProblem(net.topology, all_gather(net, words).streams, buffers=True)
    assert gathered_period(waiting) is None
    assert gathered_period(RouteProblem(net.topology, waiting.streams[:-1])) is None
