"""Two trees, the leaves of the one inside the other."""

from __future__ import annotations

import pytest

from pointsman.network import Topology, mesh, torus
from pointsman.network.faults import with_faults
from pointsman.operators.trees.two_trees import two_trees

HOLED = with_faults(mesh(4, 3), nodes=[5])


@pytest.mark.parametrize(
    "topology", [mesh(1), mesh(2), mesh(3, 3), mesh(4, 4), mesh(5, 3), mesh(1, 8), HOLED, torus(4, 4)], ids=str
)
def test_both_keep_the_order_and_no_node_has_more_than_two_children_in_all(topology: Topology) -> None:
    trees = two_trees(topology.working, topology)
    for tree in trees:
        assert tree.in_order() == list(topology.working)
    for node in topology.working:
        assert min(len(tree.nodes[node].children) for tree in trees) == 0
        assert max(len(tree.nodes[node].children) for tree in trees) <= 2


@pytest.mark.parametrize("valid", [(0,), (2, 3), (0, 1, 4, 7, 8)])
def test_only_valid_positions_are_in_the_trees(valid: tuple[int, ...]) -> None:
    for tree in two_trees(tuple(range(20, 29)), mesh(6, 6), valid):
        assert tree.in_order() == [20 + k for k in valid]
        assert all(one.position == one.node - 20 for one in tree.nodes.values())


@pytest.mark.parametrize(("start", "valid"), [(0, None), (7, None), (8, None), (4, (0, 1, 2, 6, 8))])
def test_the_root_of_both_may_be_given(start: int, valid: tuple[int, ...] | None) -> None:
    topology = mesh(3, 3)
    for tree in two_trees(topology.working, topology, valid, start=start):
        assert tree.root == start
        wanted = set(range(9) if valid is None else valid)
        assert tree.in_order() == sorted(wanted | {start})
        assert {node for node, here in tree.nodes.items() if here.valid} == wanted
    trees = two_trees(topology.working, topology, valid, start=start)
    for node in trees[0].nodes.keys() - {start}:
        assert sum(len(tree.nodes[node].children) for tree in trees) <= 2


@pytest.mark.parametrize(("size", "levels"), [((4, 4), 5), ((8, 8), 7), ((16, 16), 9), ((1, 16), 5)])
def test_they_have_about_log_n_levels(size: tuple[int, ...], levels: int) -> None:
    topology = mesh(*size)
    for tree in two_trees(topology.working, topology):
        assert tree.levels[tree.root] == levels


def test_nodes_that_are_far_from_each_other_are_no_parent_and_child_where_others_are_near() -> None:
    # Rows of a mesh hang together in its last column, or its first.
    topology = mesh(8, 8)
    for tree in two_trees(topology.working, topology):
        assert tree.root % 8 in (0, 7)
        assert tree.word_cycles(topology, back=True) == 51
