"""Trees over positions."""

from __future__ import annotations

import pytest

from pointsman.operators.trees.in_order_tree import InOrderTree, in_order_tree


def in_order(tree: InOrderTree, at: int) -> list[int]:
    return [] if at < 0 else [*in_order(tree, tree.left[at]), at, *in_order(tree, tree.right[at])]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 30])
def test_what_is_left_of_a_node_comes_before_it(size: int) -> None:
    for root in {0, size // 2, size - 1}:
        tree = in_order_tree(size, root)
        assert in_order(tree, root) == list(range(size))
        assert [at for at in range(size) if tree.parent[at] < 0] == [root]
        assert all(tree.parent[child] == at for at in range(size) for child in tree.children[at])
        assert all(range(tree.low[at], tree.high[at])[0] <= at < tree.high[at] for at in range(size))


def test_the_child_with_more_below_it_comes_first() -> None:
    assert in_order_tree(10, 2).children[2] == (6, 1)
