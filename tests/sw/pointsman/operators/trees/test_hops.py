"""Plans of hops lead every node to the destination."""

from __future__ import annotations

import pytest

from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.hops import NextHops, dimension_hops, link_hops, snake_hops, tree_hops

PLANS = {"snake": snake_hops, "tree": tree_hops, "links": link_hops, "dimensions": dimension_hops}


@pytest.mark.parametrize("topology", [mesh(1), mesh(5), mesh(3, 3), mesh(2, 2, 3), torus(3, 3)], ids=str)
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_node_comes_to_the_destination(plan: NextHops, topology: Topology) -> None:
    nodes = tuple(range(topology.nodes))
    for destination in nodes:
        hops = plan(nodes, destination, topology)
        assert hops is not None
        assert set(hops) == set(nodes) - {destination}
        for node in nodes:
            for _ in nodes:
                node = hops.get(node, destination)
            assert node == destination


def test_hops_over_links_are_shortest() -> None:
    hops = link_hops(tuple(range(9)), 0, mesh(3, 3))
    assert hops is not None
    node, count = 8, 0
    while node:
        node, count = hops[node], count + 1
    assert count == 4


@pytest.mark.parametrize(("plan", "nodes"), [(snake_hops, (0, 2)), (link_hops, (0, 2)), (dimension_hops, (0, 1, 3))])
def test_plans_do_not_serve_all_nodes(plan: NextHops, nodes: tuple[int, ...]) -> None:
    assert plan(nodes, 0, mesh(3, 3)) is None
