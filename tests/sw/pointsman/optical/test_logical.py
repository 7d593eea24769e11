"""Logical topologies: routes, channels, and the judge's word."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import logical
from pointsman.verify.configurations import check_configurations

RING = graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])


def clean(made) -> None:
    """No link, sender or receiver has a channel twice."""
    used = set()
    for (u, v), slot in zip(made.paths, made.slots.tolist(), strict=True):
        for what in (("from", u), ("to", v), *pairwise(made.fabric.way(u, v))):
            assert (what, slot) not in used
            used.add((what, slot))


@pytest.mark.parametrize(
    ("name", "route"),
    [("all-to-all", (0, 11)), ("allxy", (0, 3, 11)), ("hypercube", (0, 1, 3, 11)), ("torus", (0, 3, 7, 11))],
)
def test_a_packet_from_0_to_11_on_4x4_goes_as_in_the_text(name, route):
    assert logical(fabric(torus(4, 4)), name).route(0, 11) == route


@pytest.mark.parametrize(
    ("side", "name", "degree"),
    [
        (8, "torus", 4),
        (8, "hypercube", 6),
        (8, "allxy", 14),
        (8, "all-to-all", 64),
        (16, "hypercube", 10),
        (16, "allxy", 32),
        (12, "all-to-all", 216),
    ],
)
def test_published_numbers_of_channels_are_met_and_judged(side, name, degree):
    made = logical(fabric(torus(side, side)), name)
    assert made.degree == degree
    assert made.bound <= degree
    assert check_configurations(made.configurations()) == []


@pytest.mark.parametrize("topology", [torus(2, 3), torus(3, 3, 3), mesh(2, 4), RING, torus(5, 3)], ids=repr)
@pytest.mark.parametrize("name", ["torus", "hypercube", "allxy", "all-to-all"])
def test_every_assignment_is_clean_and_every_route_arrives(topology, name):
    try:
        made = logical(fabric(topology, "adaptive"), name)
    except PointsmanError as error:
        assert "power of two" in error.message or "is for a" in error.message
        return
    clean(made)
    for u in range(topology.nodes):
        for v in range(topology.nodes):
            route = made.route(u, v)
            assert all(pair in made.paths for pair in pairwise(route))
    if topology.regular:
        assert check_configurations(made.configurations()) == []


@pytest.mark.parametrize("seed", range(3))
def test_links_of_the_users_own_are_taken_on_shortest_ways(seed):
    wanted = nx.gnp_random_graph(12, 0.3, seed=seed, directed=True)
    wanted.add_edges_from((u, (u + 1) % 12) for u in range(12))
    made = logical(fabric(torus(4, 3)), "links", list(wanted.edges))
    clean(made)
    away = dict(nx.all_pairs_shortest_path_length(wanted))
    assert all(len(made.route(u, v)) - 1 == away[u][v] for u in range(12) for v in range(12))
    mean = sum(away[u][v] for u in range(12) for v in range(12)) / (12 * 11)
    assert made.intermediate() == pytest.approx(mean - 1)


@pytest.mark.parametrize(
    ("topology", "name", "links", "message"),
    [
        (torus(3, 3), "hypercube", None, "a hypercube needs a power of two of nodes, not 9"),
        (mesh(3, 3), "torus", None, "logical: torus is for a torus, not for a 3x3 mesh"),
        (RING, "allxy", None, "allxy is for a mesh or torus, not for a graph of 5 nodes"),
        (RING, "star", None, "logical: there is no topology 'star'"),
        (RING, "links", [(0, 1)], "logical.links: there is no way from node 1 to node 0"),
        (RING, "links", [(0, 0)], r"logical.links\[0\]: a link must join two nodes, not 0 and itself"),
        (RING, "links", [(0, 9)], r"logical.links\[0\]: a node must be one of 0..4, not 9"),
        (RING, "links", [(0, 1), (0, 1)], r"logical.links\[1\]: a link must be named once"),
    ],
)
def test_what_cannot_be_is_refused(topology, name, links, message):
    with pytest.raises(PointsmanError, match=message):
        logical(fabric(topology), name, links)
