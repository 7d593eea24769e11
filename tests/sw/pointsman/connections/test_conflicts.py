"""What connections occupy, on networks that one can count by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pointsman.artifacts.configurations.configurations import ConnectionProblem, Network
from pointsman.connections.conflicts import conflicts_of, directed_links, load_bound


def test_a_connection_occupies_its_ports_and_every_link_of_its_path() -> None:
    conflicts = conflicts_of(ConnectionProblem(Network("mesh", (4,)), ((0, 2), (3, 2))))
    assert [conflicts.name(resource) for resource in conflicts.resources_of(0)] == [
        "the sender of node 0",
        "the receiver of node 2",
        "the link 0 -> 1",
        "the link 1 -> 2",
    ]
    assert conflicts.name(int(conflicts.loads().argmax())) == "the receiver of node 2"
    assert load_bound(conflicts).value == 2


def test_a_crossbar_has_no_links() -> None:
    network = Network("crossbar", (3,))
    assert directed_links(network) == ()
    conflicts = conflicts_of(ConnectionProblem(network, ((0, 1), (2, 1))))
    assert conflicts.resources == 6
    assert load_bound(conflicts).text == "the receiver of node 1 has 2 connections"


def test_a_ring_of_two_nodes_has_one_link_each_way() -> None:
    assert directed_links(Network("torus", (2,))) == ((0, 1), (1, 0))


@pytest.mark.parametrize("kind", ["mesh", "torus"])
def test_the_first_of_free_paths_is_that_of_dimension_order_and_all_lead_to_the_end(kind: str) -> None:
    network = Network(kind, (4, 4))  # type: ignore[arg-type]
    pairs = ((0, 10), (5, 3), (15, 0))
    fixed = conflicts_of(ConnectionProblem(network, pairs))
    free = conflicts_of(ConnectionProblem(network, pairs, "free"))
    links = set(directed_links(network))
    for index, (source, destination) in enumerate(pairs):
        paths = free.nodes[free.ways[index] : free.ways[index + 1]]
        assert paths[0] == fixed.nodes[index]
        assert len(set(paths)) == len(paths) > 1
        for path in paths:
            assert (path[0], path[-1]) == (source, destination)
            assert set(pairwise(path)) <= links


def test_without_connections_there_is_no_load() -> None:
    assert load_bound(conflicts_of(ConnectionProblem(Network("mesh", (2,)), ()))).value == 0
