"""Trees over the positions of a subset whose order from left to right is that of the positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache


@dataclass(frozen=True)
class InOrderTree:
    """A binary tree over positions 0 … n - 1: a left child's subtree comes before its parent, a right child's subtree after it.
    So results combined as left, own, right are in the order of the positions.

    The subtree of position k is the positions ``low[k]`` … ``high[k] - 1``. In ``parent``, ``left`` and ``right``, -1: none.
    """

    root: int
    parent: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each position, the child with the larger subtree first."""
        found = []
        for pair in zip(self.left, self.right, strict=True):
            there = [child for child in pair if child >= 0]
            found.append(tuple(sorted(there, key=lambda child: (self.low[child] - self.high[child], child))))
        return tuple(found)


@lru_cache(maxsize=256)
def in_order_tree(size: int, root: int) -> InOrderTree:
    """The tree over ``size`` positions with this root; below it each child is the middle of its part.

    >>> tree = in_order_tree(5, 0)
    >>> tree.right[0], tree.parent
    (3, (-1, 3, 1, 0, 3))
    """
    parent, left, right, low, high = ([-1] * size for _ in range(5))
    stack = [(0, size, root, -1)]
    while stack:
        first, last, at, above = stack.pop()
        parent[at], low[at], high[at] = above, first, last
        if first < at:
            middle = first + (at - first) // 2
            left[at] = middle
            stack.append((first, at, middle, at))
        if at + 1 < last:
            middle = at + 1 + (last - at - 1) // 2
            right[at] = middle
            stack.append((at + 1, last, middle, at))
    return InOrderTree(root, *(tuple(row) for row in (parent, left, right, low, high)))
