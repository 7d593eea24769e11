"""The laws of reduction trees (Metcalf 1997, B.2)."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.reduction_trees import (
    ANY,
    ReductionTree,
    build_tree,
    centre,
    chain_tree,
    halving_tree,
    neighbour_tree,
    shallow_tree,
)

SIZES = [(1, 1), (1, 5), (2, 2), (3, 5), (4, 4), (2, 2, 2)]


@st.composite
def subsets(draw: st.DrawFn) -> tuple[Topology, tuple[int, ...], int, frozenset[int]]:
    size = draw(st.sampled_from(SIZES))
    topology = draw(st.sampled_from([mesh, torus]))(*size)
    nodes = draw(st.lists(st.integers(0, topology.nodes - 1), min_size=1, unique=True))
    start = draw(st.integers(0, len(nodes) - 1))
    valid = draw(st.frozensets(st.integers(0, len(nodes) - 1), min_size=1))
    return topology, tuple(nodes), start, valid


def parents(tree: ReductionTree) -> dict[int, int]:
    return {node: here.parent for node, here in tree.nodes.items() if here.parent is not None}


@given(subsets())
def test_nodes_in_order_are_the_subset_in_its_order(case: tuple) -> None:
    topology, nodes, start, _ = case
    tree = build_tree(nodes, topology, start=start)
    assert tree is not None
    assert tree.in_order() == list(nodes)
    assert tree.root == nodes[start]


@given(subsets())
def test_every_child_knows_its_parent_and_no_node_is_cut_off(case: tuple) -> None:
    topology, nodes, start, _ = case
    tree = build_tree(nodes, topology, start=start)
    assert tree is not None
    assert parents(tree) == {child: node for node, here in tree.nodes.items() for child in here.children}
    for node in tree.nodes:
        steps = 0
        while node != tree.root:
            node, steps = parents(tree)[node], steps + 1
            assert steps <= len(nodes)


@given(subsets())
def test_pruned_tree_keeps_the_valid_nodes_in_order_and_no_invalid_leaf(case: tuple) -> None:
    topology, nodes, start, valid = case
    tree = build_tree(nodes, topology, start=start, valid=valid)
    assert tree is not None
    wanted = [node for k, node in enumerate(nodes) if k in valid]
    assert [node for node in tree.in_order() if tree.nodes[node].valid] == wanted
    for node, here in tree.nodes.items():
        assert here.valid or here.children or node == tree.root


@given(subsets(), st.integers(1, 4), st.integers(1, 3))
def test_limits_are_kept_or_there_is_no_tree(case: tuple, children: int, distance: int) -> None:
    topology, nodes, start, _ = case
    tree = build_tree(nodes, topology, start=start, max_children=children, max_distance=distance)
    if tree is None:
        return
    far = _hops(topology)
    for node, here in tree.nodes.items():
        assert len(here.children) <= children
        assert all(far[node][child] <= distance for child in here.children)


def _hops(topology: Topology) -> list[dict[int, int]]:
    found = []
    for start in range(topology.nodes):
        hops, queue = {start: 0}, [start]
        for node in queue:
            for other, _ in topology.at_port[node].values():
                if other not in hops:
                    hops[other] = hops[node] + 1
                    queue.append(other)
        found.append(hops)
    return found


def test_a_row_with_the_limits_of_a_prefix_in_the_router_is_a_path() -> None:
    tree = build_tree(range(5), mesh(5), start=2, max_children=3, max_distance=1)
    assert tree is not None
    assert parents(tree) == {1: 2, 0: 1, 3: 2, 4: 3}


def test_nodes_that_are_not_adjacent_have_no_tree_of_distance_1() -> None:
    assert build_tree((0, 2), mesh(3), start=0, max_distance=1) is None
    assert build_tree((0, 2), mesh(3), start=0, max_distance=ANY) is not None


def test_a_new_node_hangs_below_the_nearest_and_of_several_the_lowest() -> None:
    # Node 4 is one hop from 1 and from 3 on the 3x3 mesh; both are on the edge, and 3 is farther from the root.
    tree = build_tree((0, 1, 3, 4), mesh(3, 3), start=0)
    assert tree is not None
    assert parents(tree)[4] == 3


@pytest.mark.parametrize("size", SIZES)
def test_centre_is_as_near_to_all_as_any(size: tuple[int, ...]) -> None:
    topology = mesh(*size)
    far = [max(hops.values()) for hops in _hops(topology)]
    assert far[centre(range(topology.nodes), topology)] == min(far)


@given(subsets())
def test_the_flattest_tree_keeps_the_order_and_leaves_out_what_sends_nothing(case: tuple) -> None:
    _, nodes, _, valid = case
    tree = halving_tree(nodes, valid)
    order = tree.in_order()
    assert order == [node for node in nodes if node in tree.nodes]
    assert {node for k, node in enumerate(nodes) if k in valid} <= set(order)
    assert all(len(here.children) <= 2 for here in tree.nodes.values())
    assert tree.depth <= len(nodes).bit_length()
    leaves = [here for here in tree.nodes.values() if not here.children and here.parent is not None]
    assert all(here.valid for here in leaves)


@given(subsets())
def test_chain_has_the_valid_nodes_in_order_and_one_child_everywhere_but_at_its_root(case: tuple) -> None:
    _, nodes, start, valid = case
    tree = chain_tree(nodes, start, valid)
    wanted = [node for k, node in enumerate(nodes) if k in valid]
    assert [node for node in tree.in_order() if tree.nodes[node].valid] == wanted
    assert tree.nodes.keys() == {*wanted, nodes[start]}
    assert all(len(here.children) <= 1 + (node == tree.root) for node, here in tree.nodes.items())
    assert parents(tree) == {child: node for node, here in tree.nodes.items() for child in here.children}


@given(subsets(), st.booleans(), st.integers(5, 12))
def test_a_shallow_tree_has_the_valid_nodes_in_order_and_no_node_too_many_children(
    case: tuple, free: bool, most: int
) -> None:
    topology, nodes, start, valid = case
    tree = shallow_tree(nodes, topology, start=None if free else start, valid=valid, most=most)
    assert tree is not None
    wanted = [node for k, node in enumerate(nodes) if k in valid or (k == start and not free)]
    assert tree.in_order() == wanted
    assert [node for node in wanted if tree.nodes[node].valid] == [node for k, node in enumerate(nodes) if k in valid]
    assert free or tree.root == nodes[start]
    assert parents(tree) == {child: node for node, here in tree.nodes.items() for child in here.children}
    assert all(len(here.children) <= most for here in tree.nodes.values())


def test_a_tree_with_more_levels_than_children_is_not_found() -> None:
    assert shallow_tree(range(16), mesh(4, 4), start=None, most=2) is None


@pytest.mark.parametrize(("size", "cycles"), [((2,), 10), ((4, 4), 22), ((8, 8), 36), ((16, 16), 62)])
def test_a_word_goes_up_a_shallow_tree_and_back_as_quickly_as_reckoned_by_hand(
    size: tuple[int, ...], cycles: int
) -> None:
    """On 4x4: written in cycle 0; three words of a row read until 6, from two links away in 5; written in 7; those of three rows
    read by 13; back from cycle 14, over four links, read in 21."""
    topology = mesh(*size)
    tree = shallow_tree(range(topology.nodes), topology, start=None, most=12)
    assert tree is not None
    assert tree.word_cycles(topology, back=True) == cycles


@given(subsets())
def test_levels_and_times_rise_from_the_leaves_to_the_root(case: tuple) -> None:
    topology, nodes, start, valid = case
    tree = build_tree(nodes, topology, start=start, valid=valid)
    assert tree is not None
    written = tree.written(topology)
    for node, parent in parents(tree).items():
        assert tree.levels[node] < tree.levels[parent]
        assert written[node] + 4 < written[parent]  # three cycles, a link, and the next access
    assert all(tree.levels[node] == 1 and written[node] == 0 for node, here in tree.nodes.items() if not here.children)


@given(subsets(), st.integers(2, 4))
def test_a_tree_of_neighbours_has_every_node_once(case: tuple, most: int) -> None:
    topology, nodes, start, _ = case
    tree = neighbour_tree(nodes, topology, nodes[start], most)
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((u, v) for u in nodes for v, _ in topology.at_port[u].values() if v in nodes)
    assert (tree is None) == (not nx.is_connected(graph))
    if tree is not None:
        assert set(tree.nodes) == set(nodes)
        assert parents(tree).keys() == set(nodes) - {nodes[start]}
        assert all(graph.has_edge(node, parent) for node, parent in parents(tree).items())
        reached = [tree.root]
        for node in reached:
            reached += tree.nodes[node].children
        assert sorted(reached) == sorted(nodes)


@pytest.mark.parametrize("root", range(16))
def test_a_tree_of_neighbours_on_a_mesh_keeps_to_the_most(root: int) -> None:
    tree = neighbour_tree(range(16), mesh(4, 4), root, 3)
    assert tree is not None
    assert max(len(here.children) + (node != root) for node, here in tree.nodes.items()) <= 3
