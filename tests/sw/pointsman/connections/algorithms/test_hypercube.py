"""Hypercubes on arrays, rings, meshes and tori: the theorems' figures, judged."""

from __future__ import annotations

import re

import pytest

from pointsman.connections import Configurations, ConnectionProblem, Network, configure
from pointsman.connections.algorithms.hypercube import array, assign_hypercube, hypercube_bound, problem_of, ring
from pointsman.connections.conflicts import conflicts_of, load_bound
from pointsman.errors import PointsmanError
from pointsman.network.dimension_order import way
from pointsman.verify.configurations import check_configurations

SIDES = [1, 2, 4, 8, 16, 32]


def judged(network):
    problem = problem_of(network)
    parts = tuple(map(tuple, assign_hypercube(network)))
    paths = tuple(tuple(way(network.topology, *pair) for pair in part) for part in parts)
    answer = Configurations(problem, parts, paths, "hypercube")
    assert check_configurations(answer) == []
    return answer.degree


@pytest.mark.parametrize("nodes", [*SIDES, 64, 128, 256])
def test_arrays_and_rings_take_exactly_what_their_bottleneck_link_carries(nodes):
    assert len(array(nodes)) == judged(Network("mesh", (nodes,))) == 2 * nodes // 3
    assert len(ring(nodes)) == judged(Network("torus", (nodes,))) == 7 * nodes // 12
    fixed = load_bound(conflicts_of(problem_of(Network("mesh", (nodes,)))))
    assert fixed.value == hypercube_bound(Network("mesh", (nodes,))).value == 2 * nodes // 3


@pytest.mark.parametrize("x", SIDES)
@pytest.mark.parametrize("y", SIDES)
def test_meshes_and_tori_take_at_most_two_more_than_their_bound(x, y):
    longest = max(x, y)
    for kind, links in (("mesh", 2 * longest // 3), ("torus", 7 * longest // 12)):
        network = Network(kind, (x, y))
        degree = judged(network)
        assert degree <= links + 2
        assert degree >= hypercube_bound(network).value


def test_the_torus_of_64_takes_6_which_ports_need():
    network = Network("torus", (8, 8))
    assert judged(network) == 6 == hypercube_bound(network).value
    assert configure(problem_of(network)).degree == 6


@pytest.mark.parametrize(("kind", "size"), [("mesh", (6, 4)), ("torus", (2, 2, 2)), ("crossbar", (4,))])
def test_other_networks_are_refused(kind, size):
    with pytest.raises(PointsmanError, match=re.escape("of one or two dimensions that are powers of two")):
        assign_hypercube(Network(kind, size))
    if kind != "crossbar":
        assert configure(ConnectionProblem(Network(kind, size), ((0, 1), (0, 2)))).degree == 2
