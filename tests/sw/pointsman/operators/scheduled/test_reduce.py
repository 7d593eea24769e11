"""Messages combined by processors along a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pointsman.network import mesh
from pointsman.operators.scheduled.reduce import items_of, preceded
from pointsman.operators.trees.reduction_trees import ReductionTree, build_tree


@pytest.mark.parametrize("text", ["(reduce 'o 2 'sum :m 5)", "(allreduce 'o 'sum :m 5)", "(prefix 'o 'sum :m 5)"])
def test_every_stream_is_written_by_one_and_read_by_its_readers(text: str, wired: Callable[..., Any]) -> None:
    name = {"r": "str_reduce", "a": "str_allreduce", "p": "str_prefix"}[text[1]]
    one = wired(name, text)
    lanes = Counter((node, reg) for node, role in one.roles().items() for lane in role.lanes for reg in lane.registers)
    ends = {(node, register) for (node, _, _, _), register in one.wiring.all_registers.items()}
    assert set(lanes) == ends
    assert set(lanes.values()) == {1}


def test_only_the_destination_has_the_result_of_a_reduction(wired: Callable[..., Any]) -> None:
    roles = wired("str_reduce", "(reduce 'o 2 'sum :m 5)").roles()
    assert {node for node, role in roles.items() if role.result} == {2}


def test_a_node_combines_its_children_and_itself_in_the_order_of_the_subset() -> None:
    tree = build_tree(tuple(range(6)), mesh(6), start=2)
    assert tree is not None
    assert items_of(tree, 2) == ["t0", "out", "t1"]
    assert preceded(tree) == set(range(6)) - {min(tree.nodes), *_left_edge(tree)}


def _left_edge(tree: ReductionTree) -> set[int]:
    found, node = {tree.root}, tree.root
    while tree.nodes[node].before:
        node = tree.nodes[node].before[0]
        found.add(node)
    return found
