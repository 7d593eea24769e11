"""Problems of routing: what carries words, how far it is, and what their file says."""

from __future__ import annotations

import json
import random

import networkx as nx
import pytest

from pointsman.artifacts.routes.routes import (
    Bound,
    NodeTable,
    RoutedWords,
    RouteProblem,
    RouteResult,
    directed,
    shape_for,
    single_links,
)
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus


def test_nothing_goes_over_what_is_dead() -> None:
    problem = RouteProblem(mesh(3, 2), (), dead_nodes=frozenset({4}), dead_links=frozenset({(0, 1)}))
    both_ways = {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)}
    both_ways |= {(v, u) for u, v in both_ways}
    assert problem.links == tuple(sorted(link for link in both_ways - {(0, 1)} if 4 not in link))
    assert problem.following == ((3,), (0, 2), (1, 5), (0,), (), (2,))


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_the_directed_graph(seed: int) -> None:
    chance = random.Random(seed)
    topology = mesh(4, 4)
    pairs = [(u, v) for u in range(16) for v, _ in topology.at_port[u].values()]
    dead = frozenset(chance.sample(pairs, 20))
    problem = RouteProblem(topology, (), dead_nodes=frozenset(chance.sample(range(16), 2)), dead_links=dead)
    whole = nx.DiGraph(problem.links)
    whole.add_nodes_from(range(16))
    for source in range(16):
        lengths = nx.single_source_shortest_path_length(whole, source)
        assert problem.distances(source) == [lengths.get(node, -1) for node in range(16)]


@pytest.mark.parametrize("seed", range(5))
def test_directed_links_and_the_ways_too_many_are_all_ways_of_the_topology(seed: int) -> None:
    chance = random.Random(seed)
    wanted = {tuple(chance.sample(range(7), 2)) for _ in range(12)}
    topology, extra = directed(7, sorted(wanted))
    problem = RouteProblem(topology, (), dead_links=extra)
    assert set(problem.links) == wanted
    assert not extra & wanted
    assert len(topology.links) == len({frozenset(pair) for pair in wanted})
    assert all(sorted(ports) == list(range(len(ports))) for ports in topology.at_port)


def test_two_links_between_the_same_nodes_become_one() -> None:
    ring = torus(2, 3)
    kept = single_links(ring).links
    assert len({frozenset((link.node, link.other)) for link in kept}) == len(kept) == 3 + 6
    assert set(kept) < set(ring.links)
    assert single_links(mesh(3, 3)) == mesh(3, 3)


def test_a_node_gets_the_ports_that_its_network_needs_and_four_at_least() -> None:
    assert shape_for(mesh(2)).neighbours == 4
    assert shape_for(mesh(2, 2, 2)).neighbours == 6
    assert shape_for(mesh(2, 2), registers=8).registers == 8
    with pytest.raises(PointsmanError, match="pipelines"):
        shape_for(mesh(2, 2), pipelines=0)


def test_the_file_of_an_answer_is_json_and_has_no_tables_of_nodes_where_there_are_none() -> None:
    word = ((None, 0, 0, None, None), (0, 0, 1, None, None), (1, 1, None, None, None))
    bound = Bound(2.0, "cut", "one link")
    result = RouteResult(
        "ideal", 2, (RoutedWords(0.5, (word,)),), bound, (bound, Bound(1.5, "prices", "", tolerance=0.1))
    )
    told = json.loads(json.dumps(result.as_dict()))
    assert told["streams"] == [{"bandwidth": 0.5, "words": [[list(move) for move in word]]}]
    assert told["bound"] == {"value": 2.0, "kind": "cut", "text": "one link"}, "what is exact tells no tolerance"
    assert [one.get("tolerance") for one in told["bounds"]] == [None, 0.1]
    assert "nodes" not in told
    assert RouteResult("ideal", 2, ()).as_dict()["bound"] is None


def test_the_file_of_an_answer_for_the_node_has_its_tables() -> None:
    table = NodeTable(((0, 2),), ((1, 2, "MOVE", "link 0", "register 1"),))
    (told,) = json.loads(json.dumps(RouteResult("numesh", 1, (), nodes=(table,)).as_dict()))["nodes"]
    assert told == {"schedule": [[0, 2]], "annotations": [[1, 2, "MOVE", "link 0", "register 1"]]}
