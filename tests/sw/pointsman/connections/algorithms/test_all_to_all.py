"""All-to-all configurations: every pair once, nothing twice, as few as the links allow where that is known."""

from __future__ import annotations

import pytest

from pointsman.connections import Configurations, ConnectionProblem, Network
from pointsman.connections.algorithms.all_to_all import all_to_all, all_to_all_bound, ring_configurations
from pointsman.connections.patterns import all_to_all_pattern
from pointsman.network.dimension_order import way
from pointsman.verify.configurations import check_configurations

SIZES = [("torus", (n,)) for n in (1, 2, 3, 4, 5, 8, 12, 16, 20)] + [
    ("torus", (8, 8)),
    ("torus", (3, 5)),
    ("torus", (2, 2, 3)),
    ("mesh", (6,)),
    ("mesh", (4, 3)),
]


@pytest.mark.parametrize(("kind", "size"), SIZES)
def test_every_pair_has_its_configuration_and_none_collide(kind, size):
    network = Network(kind, size)
    parts = all_to_all(network)
    own = [pair for part in parts for pair in part if pair[0] == pair[1]]
    assert sorted(own) == [(node, node) for node in range(network.nodes)]
    others = tuple(tuple(pair for pair in part if pair[0] != pair[1]) for part in parts)
    others = tuple(part for part in others if part)
    paths = tuple(tuple(way(network.topology, *pair) for pair in part) for part in others)
    problem = ConnectionProblem(network, tuple(all_to_all_pattern(network.nodes)))
    assert check_configurations(Configurations(problem, others, paths, "aapc")) == []


@pytest.mark.parametrize("nodes", [8, 12, 16, 40])
def test_rings_take_an_eighth_of_the_square_of_their_nodes(nodes):
    assert len(ring_configurations(nodes)) == nodes * nodes // 8
    assert all_to_all_bound(Network("torus", (nodes,))).value == max(nodes - 1, nodes * nodes // 8)


def test_the_torus_of_64_takes_64():
    network = Network("torus", (8, 8))
    assert len(all_to_all(network)) == 64
    assert all_to_all_bound(network).value == 64
    assert all(len(part) == 64 for part in all_to_all(network))
