"""Cycles through a subset."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.cycles import cycle_of


@pytest.mark.parametrize(
    ("topology", "nodes"),
    [
        (mesh(4, 4), tuple(range(16))),
        (mesh(4, 4), (10, 11, 14, 15, 8, 9, 12, 13)),
        (torus(3, 3), (4, 0, 1, 2, 3, 5, 6, 7, 8)),
        (mesh(5, 5), (6, 7, 11, 12)),
        (mesh(3), (1, 2)),
    ],
    ids=str,
)
def test_it_goes_through_all_nodes_from_the_first(topology: Topology, nodes: tuple[int, ...]) -> None:
    cycle = cycle_of(nodes, topology)
    assert sorted(cycle) == sorted(nodes)
    assert cycle[0] == nodes[0]
    for a, b in pairwise((*cycle, cycle[0])):
        assert b in {other for other, _ in topology.at_port[a].values()}


def test_what_has_none_has_a_shorter_one_or_nothing() -> None:
    assert len(cycle_of(tuple(range(9)), mesh(3, 3))) == 8
    assert cycle_of((0, 2), mesh(3)) == ()
    assert cycle_of((4,), mesh(3, 3)) == ()
