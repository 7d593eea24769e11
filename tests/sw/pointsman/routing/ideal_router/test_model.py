"""Problems as arrays, and arrays as words."""

from __future__ import annotations

import networkx as nx
import numpy as np

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.ideal_router.model import Placement, net_of, routed_words, scratch_of, words_of
from pointsman.routing.ideal_router.symmetry import no_symmetry

PROBLEM = make_problem(mesh(3, 2), [RouteStream(0, (5,), words=2), RouteStream(3, (2, 4))], dead_nodes=[1])


def test_hops_are_those_of_shortest_paths_to_destinations_and_of_no_other_node() -> None:
    net = net_of(PROBLEM)
    away = dict(nx.all_pairs_shortest_path_length(nx.DiGraph(PROBLEM.links)))
    for end in range(6):
        wanted = [away[node].get(end, -1) if node in away and end in (2, 4, 5) else -1 for node in range(6)]
        if end in (2, 4, 5):
            assert net.hops[end].tolist() == wanted
        else:
            assert (net.hops[end] == -1).all()
    for node in range(6):
        leaving = net.heads[net.first[node] : net.first[node + 1]].tolist()
        assert leaving == [v for u, v in PROBLEM.links if u == node]
        entering = net.tails[net.in_links[net.in_first[node] : net.in_first[node + 1]]].tolist()
        assert entering == [u for u, v in PROBLEM.links if v == node]


def test_there_is_room_for_every_word() -> None:
    symmetry = no_symmetry(PROBLEM)
    rows, _ = symmetry.rows(PROBLEM, 4)
    words, owner = words_of(PROBLEM, net_of(PROBLEM), symmetry, rows, 4, 0)
    assert owner == [0, 0, 1]
    assert words.source.tolist() == [0, 0, 3]
    assert np.diff(words.end_first).tolist() == [1, 1, 2]
    assert np.diff(words.first).tolist() == [3, 3, 6], "a path of three links, or a tree over all nodes"
    assert (words.start == -1).all()


def test_a_word_moves_link_by_link_and_is_delivered_in_the_slot_after_the_last() -> None:
    links = tuple(PROBLEM.links.index(pair) for pair in ((0, 3), (3, 4), (4, 5)))
    tree = tuple(PROBLEM.links.index(pair) for pair in ((3, 4), (4, 5), (5, 2)))
    placement = Placement(
        4, no_symmetry(PROBLEM), {0: ((0, links, (0, 1, 2)), (1, links, (0, 1, 2))), 1: ((3, tree, (0, 1, 2)),)}
    )
    first, second = routed_words(PROBLEM, placement)
    assert first.bandwidth == 0.5
    assert first.words[0] == (
        (None, 0, 0, None, None), (0, 0, 3, None, None), (3, 1, 4, None, None), (4, 2, 5, None, None), (5, 3, None, None, None),
    )  # fmt: skip
    assert sorted(move[0] for move in second.words[0] if move[2] is None) == [2, 4]


def test_the_same_seed_gives_the_same_random_state() -> None:
    net = net_of(PROBLEM)
    states = [int(scratch_of(PROBLEM, net, 4, 0, seed).random[0]) for seed in (1, 1, 2)]
    assert states[0] == states[1] != states[2]
    assert all(state % 2 for state in states)
