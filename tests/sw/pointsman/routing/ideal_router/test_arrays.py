"""What the arrays of a problem say of each other."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.network import mesh, torus
from pointsman.routing.ideal_router.model import net_of, words_of
from pointsman.routing.ideal_router.symmetry import no_symmetry

PROBLEM = RouteProblem(
    mesh(3, 2), (RouteStream(0, (5,), words=2), RouteStream(3, (1, 2))), dead_links=frozenset({(0, 1), (4, 1)})
)


@pytest.mark.parametrize("problem", [PROBLEM, RouteProblem(torus(3, 3), (RouteStream(0, (4,)),))])
def test_links_leave_and_enter_the_nodes_under_which_they_are_listed(problem: RouteProblem) -> None:
    net = net_of(problem)
    assert list(zip(net.tails.tolist(), net.heads.tolist(), strict=True)) == list(problem.links)
    for node in range(problem.nodes):
        assert set(net.tails[net.first[node] : net.first[node + 1]].tolist()) <= {node}
        entering = net.in_links[net.in_first[node] : net.in_first[node + 1]]
        assert set(net.heads[entering].tolist()) <= {node}
    assert sorted(net.in_links.tolist()) == list(range(len(problem.links)))
    assert net.first[-1] == net.in_first[-1] == len(problem.links)


def test_hops_are_those_of_the_directed_graph_to_nodes_that_are_destinations() -> None:
    net, graph = net_of(PROBLEM), nx.DiGraph(PROBLEM.links)
    for end in range(6):
        lengths = nx.single_source_shortest_path_length(graph.reverse(), end) if end in (1, 2, 5) else {}
        assert net.hops[end].tolist() == [lengths.get(node, -1) for node in range(6)]


def test_every_word_has_room_for_its_links_and_cells_and_nothing_else() -> None:
    net, group = net_of(PROBLEM), no_symmetry(PROBLEM)
    rows, count = group.rows(PROBLEM, 4)
    words, owner = words_of(PROBLEM, net, group, rows, 4, extra=1)
    assert owner == [0, 0, 1]
    assert words.source.tolist() == [0, 0, 3]
    assert [words.ends[a:b].tolist() for a, b in zip(words.end_first, words.end_first[1:], strict=False)] == [
        [5],
        [5],
        [1, 2],
    ]
    assert (np.diff(words.first) >= [4, 4, 4]).all()
    assert len(words.links) == len(words.depth) == words.first[-1]
    assert len(words.cells) == words.cell_first[-1]
    assert (words.start == -1).all()
    assert sorted(rows.row.tolist()) == list(range(count)), "without symmetry each resource has a row of its own"
    assert (rows.fold == 4).all()
