"""Ways of dimension order."""

from __future__ import annotations

import itertools

import pytest

from pointsman.network import mesh, torus
from pointsman.network.dimension_order import shortest_ways, turning_ways, way


def test_x_comes_before_y():
    assert way(mesh(3, 3), 0, 8) == (0, 1, 2, 5, 8)


def test_half_way_round_even_sources_go_up_and_odd_ones_down():
    assert way(torus(4), 0, 2) == (0, 1, 2)
    assert way(torus(4), 1, 3) == (1, 0, 3)
    assert way(torus(4, 4), 1, 11) == (1, 0, 3, 7, 11)  # x of the source is odd, its y even
    assert way(torus(4, 4), 4, 14) == (4, 5, 6, 2, 14)


@pytest.mark.parametrize("network", [torus(4, 4), torus(5, 3), mesh(4, 3), torus(2, 2), torus(2, 3, 4), mesh(1, 4)])
def test_every_way_is_a_shortest_walk_along_links(network):
    for source in range(network.nodes):
        for destination in range(network.nodes):
            ways = [*shortest_ways(network, source, destination), *turning_ways(network, source, destination, 5)]
            assert ways[0] == way(network, source, destination)
            assert len(set(ways)) == len(ways)
            for path in ways:
                assert (path[0], path[-1]) == (source, destination)
                assert len(path) == len(ways[0])
                for u, v in itertools.pairwise(path):
                    assert v in [other for other, _ in network.at_port[u].values()]
