"""Meshes, tori and graphs against networkx, and what is refused."""

from __future__ import annotations

import random
import re

import networkx as nx
import pytest

from pointsman.errors import PointsmanError
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond
from pointsman.network.topology import (
    MAX_NODES,
    Link,
    Topology,
    connected,
    graph,
    mesh,
    parse_size,
    partitions,
    torus,
)

SIZES = [(1,), (5,), (2, 2), (3, 1), (4, 3), (2, 3, 4)]


def edges(topology: Topology) -> set[frozenset[tuple[int, ...]]]:
    """Pairs of coordinates that are joined."""
    return {frozenset((topology.coordinates(k.node), topology.coordinates(k.other))) for k in topology.links}


@pytest.mark.parametrize("size", SIZES)
def test_a_mesh_is_the_grid_of_its_size(size: tuple[int, ...]) -> None:
    grid = nx.grid_graph(size[::-1])  # networkx has the first range last
    whole = {node if isinstance(node, tuple) else (node,) for node in grid}
    of_grid = {frozenset(n if isinstance(n, tuple) else (n,) for n in edge) for edge in grid.edges}
    one = mesh(*size)
    assert {one.coordinates(node) for node in range(one.nodes)} == whole
    assert edges(one) == of_grid
    assert len(one.links) == len(of_grid)


@pytest.mark.parametrize("size", [(3,), (3, 4), (4, 5, 3)])
def test_a_torus_is_the_grid_closed_to_rings(size: tuple[int, ...]) -> None:
    grid = nx.grid_graph(size[::-1], periodic=True)
    of_grid = {frozenset(n if isinstance(n, tuple) else (n,) for n in edge) for edge in grid.edges}
    assert edges(torus(*size)) == of_grid
    assert {len(ports) for ports in torus(*size).at_port} == {2 * len(size)}


def test_a_ring_of_two_nodes_has_two_links_and_one_of_one_node_none() -> None:
    assert torus(2).links == (Link(0, 1, 1, 0), Link(1, 1, 0, 0))
    assert torus(1).links == ()


@pytest.mark.parametrize("size", SIZES)
def test_ports_are_minus_and_plus_of_each_dimension(size: tuple[int, ...]) -> None:
    one = mesh(*size)
    for node in range(one.nodes):
        here = one.coordinates(node)
        for port, (other, other_port) in one.at_port[node].items():
            dimension, plus = divmod(port, 2)
            there = list(here)
            there[dimension] += 1 if plus else -1
            assert one.coordinates(other) == tuple(there)
            assert other_port == port ^ 1


@pytest.mark.parametrize("size", SIZES)
def test_coordinates_and_numbers_are_each_others_inverse(size: tuple[int, ...]) -> None:
    one = mesh(*size)
    assert [one.node_at(*one.coordinates(node)) for node in range(one.nodes)] == list(range(one.nodes))


def test_x_runs_fastest() -> None:
    assert [mesh(2, 3).coordinates(node) for node in (0, 1, 2)] == [(0, 0), (1, 0), (0, 1)]


def test_the_box_around_nodes_has_its_corners_as_far_apart_as_its_farthest_nodes_in_each_dimension() -> None:
    one = mesh(5, 4)
    chance = random.Random(3)
    distances = dict(nx.all_pairs_shortest_path_length(nx.Graph((k.node, k.other) for k in one.links)))
    for u in range(20):
        for v in range(20):
            assert one.across([u, v]) == distances[u][v]
    for _ in range(20):
        some = chance.sample(range(20), 4)
        # What is added makes the box no smaller, and no pair in it is farther apart.
        assert one.across(some) >= max(distances[u][v] for u in some for v in some)


def test_a_graph_gives_out_its_ports_in_the_order_of_its_edges() -> None:
    one = graph(3, [(0, 2), (0, 1), (2, 0)])
    assert one.at_port[0] == {0: (2, 0), 1: (1, 0), 2: (2, 1)}
    assert one.ports == 3
    assert graph(2, []).ports == 1


def test_a_port_that_is_joined_twice_is_told() -> None:
    one = Topology("graph", (3,), (Link(0, 0, 1, 0), Link(0, 0, 2, 0)))
    with pytest.raises(PointsmanError, match=r"^port 0 of node 0 is joined twice$"):
        assert one.at_port


def test_equal_networks_are_one_key() -> None:
    assert {mesh(2, 2): "a"}[mesh(2, 2)] == "a"
    assert mesh(3, 3) != torus(3, 3)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: mesh(), "a mesh must have one to three positive dimensions, not ()"),
        (lambda: torus(2, 0), "a torus must have one to three positive dimensions, not (2, 0)"),
        (lambda: mesh(1, 1, 1, 1), "a mesh must have one to three positive dimensions, not (1, 1, 1, 1)"),
        (lambda: mesh(65, 64), f"a network must have 1 to {MAX_NODES} nodes, not 4160"),
        (lambda: graph(0, []), f"a network must have 1 to {MAX_NODES} nodes, not 0"),
        (lambda: graph(2, [(0, 2)]), "edge 0-2 must join two different nodes of 0..1"),
        (lambda: graph(2, [(1, 1)]), "edge 1-1 must join two different nodes of 0..1"),
        (lambda: mesh(2, 2).coordinates(4), "node 4 is outside the network (0..3)"),
        (lambda: mesh(2, 2).check_node(-1), "node -1 is outside the network (0..3)"),
        (lambda: mesh(2, 2).node_at(0, 2), "coordinates (0, 2) are outside the 2x2 mesh"),
        (lambda: mesh(2, 2).node_at(0), "coordinates (0,) are outside the 2x2 mesh"),
        (lambda: parse_size("4x"), "a mesh size must be numbers joined by x, not '4x'\n  hint: for instance 4x4"),
        (lambda: parse_size("2x2x2x2"), "a mesh size must be numbers joined by x, not '2x2x2x2'\n  hint: for instance 4x4"),
        (lambda: parse_size("٤x4"), "a mesh size must be numbers joined by x, not '٤x4'\n  hint: for instance 4x4"),
        (lambda: parse_size("999999"), f"a network must have 1 to {MAX_NODES} nodes, not 999999"),
    ],
)  # fmt: skip
def test_what_is_no_network_is_refused_with_the_rule(make, told: str) -> None:
    with pytest.raises(PointsmanError, match=f"^{re.escape(told)}$"):
        make()


@pytest.mark.parametrize("size", SIZES)
def test_a_size_is_read_as_it_is_printed(size: tuple[int, ...]) -> None:
    assert parse_size(str(mesh(*size))) == size
    assert parse_size(str(mesh(*size)).upper()) == size


def test_groups_that_overlap_are_united_as_the_components_of_a_graph() -> None:
    chance = random.Random(5)
    for _ in range(40):
        groups = [set(chance.sample(range(14), chance.randint(1, 3))) for _ in range(chance.randint(0, 7))]
        joined: nx.Graph = nx.Graph()
        for group in groups:
            nx.add_path(joined, sorted(group))
        assert partitions(groups) == sorted(nx.connected_components(joined), key=min)


def test_a_part_is_connected_when_its_own_links_connect_it() -> None:
    one = mesh(3, 3)
    whole = nx.Graph((k.node, k.other) for k in one.links)
    chance = random.Random(6)
    seen = set()
    for _ in range(60):
        part = set(chance.sample(range(9), chance.randint(1, 6)))
        is_so = nx.is_connected(whole.subgraph(part))
        assert connected(part, one) == is_so
        seen.add(is_so)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (mesh(4, 3), "4x3 mesh"),
        (mesh(7), "mesh of 7 nodes"),
        (mesh(1), "mesh of 1 node"),
        (graph(3, [(0, 1), (1, 2)]), "graph of 3 nodes"),
        (diamond(2), "diamond of 10 nodes"),
        (with_faults(mesh(3, 3), nodes=[4]), "3x3 mesh with faults"),
        (with_faults(mesh(3, 3), links=[(0, 1)]), "3x3 mesh with faults"),
        (with_faults(graph(3, [(0, 1), (1, 2)]), nodes=[2]), "graph of 3 nodes with faults"),
    ],
)
def test_a_network_is_described_by_its_sides_or_by_its_number_of_nodes(network: Topology, said: str) -> None:
    assert network.described == said


def test_programs_count_the_nodes_that_work() -> None:
    whole = mesh(2, 2)
    assert whole.ranks == {0: 0, 1: 1, 2: 2, 3: 3}
    assert with_faults(whole, nodes=[1]).ranks == {0: 0, 2: 1, 3: 2}
