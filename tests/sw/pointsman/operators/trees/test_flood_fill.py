"""Flood fills from every source."""

from __future__ import annotations

import pytest

from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.flood_fill import flood_children, flood_parent, mesh_neighbours


@pytest.mark.parametrize("topology", [mesh(1, 1), mesh(4), mesh(3, 4), mesh(2, 3, 2), torus(4, 4)], ids=str)
def test_parents_and_children_agree_and_lead_to_the_source(topology: Topology) -> None:
    everybody = frozenset(range(topology.nodes))
    for source in everybody:
        children = {node: flood_children(node, source, everybody, topology) for node in everybody}
        assert sorted(child for some in children.values() for child in some) == sorted(everybody - {source})
        for node, some in children.items():
            assert all(flood_parent(child, source, topology) == node for child in some)
        for node in everybody:
            for _ in range(topology.nodes):
                node = flood_parent(node, source, topology)
            assert node == source


def test_words_go_along_the_last_dimension_first() -> None:
    topology = mesh(3, 3)
    column = {topology.node_at(1, y) for y in range(3)}
    source = topology.node_at(1, 1)
    sending = {n for n in range(9) if flood_children(n, source, frozenset(range(9)), topology)}
    assert sending == column


def test_links_that_close_a_torus_join_no_neighbours() -> None:
    assert mesh_neighbours(0, frozenset(range(4)), torus(4)) == [1]
    assert mesh_neighbours(0, frozenset({0, 2}), mesh(3)) == []
