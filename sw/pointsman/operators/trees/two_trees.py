"""Two trees over the same nodes, the leaves of the one inside the other (Sanders, Speck and Träff 2009, "Two-tree algorithms for
full bandwidth broadcast, reduction and scan").

A node inside a tree has two children, and as a leaf of the other it has none. With half of a message on each tree a processor has
no more accesses than on a chain, and there are about log n levels.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from numesh.codes import ACCESS_TO_ACCESS
from pointsman.network import Topology
from pointsman.routing.streams import read_after

from .reduction_trees import ReductionTree, TreeNode, distances

ASIDE = 3
"""Nodes beside the middle one of those inside a subtree, on either side, that may be its root …"""
MANY, LESS_ASIDE = 100, 1
"""… and if the tree has so many nodes."""


class _Rooted(NamedTuple):
    """A subtree: the cycle in which its root writes a word if all slots are free, the root's place, and those of its children."""

    wrote: int
    root: int
    children: tuple[int, ...] = ()


def two_trees(
    subset: Sequence[int], topology: Topology, valid: Collection[int] | None = None, *, start: int | None = None
) -> tuple[ReductionTree, ReductionTree]:
    """Two trees over the ``valid`` positions of ``subset`` (None: all) that keep its order. Inside the first is every second of
    these nodes from the second one on, inside the other every second from the first one on. Of such trees those are taken on
    which a word is the soonest at the root and back at all nodes. ``start``: position of the root of both, valid or not; None:
    any.

    Complexity: O(n · ASIDE³) distances, about.
    """
    return _two_trees(tuple(subset), topology, None if valid is None else tuple(sorted(valid)), start)


@lru_cache(maxsize=1024)
def _two_trees(
    subset: tuple[int, ...], topology: Topology, valid: tuple[int, ...] | None, start: int | None
) -> tuple[ReductionTree, ReductionTree]:
    wanted = frozenset(range(len(subset)) if valid is None else valid)
    positions = sorted(wanted if start is None else wanted | {start})
    trees = tuple(_tree(subset, positions, topology, first, start) for first in (1, 0))
    if start is not None and start not in wanted:
        for tree in trees:
            tree.nodes[tree.root].valid = False
    return trees[0], trees[1]


def _tree(
    subset: Sequence[int], positions: Sequence[int], topology: Topology, first: int, start: int | None
) -> ReductionTree:
    """The tree inside which are the nodes at places ``first``, ``first`` + 2, … of ``positions``."""
    nodes = [subset[k] for k in positions]
    ways = distances(nodes, topology)
    aside = ASIDE if len(nodes) < MANY else LESS_ASIDE
    known: dict[tuple[int, int], list[_Rooted]] = {}

    def subtrees(low: int, high: int) -> list[_Rooted]:
        """Subtrees of the places from ``low`` to before ``high``, the quickest with each root."""
        if (low, high) not in known:
            inside = range(low + (low + first) % 2, high, 2)
            middle = len(inside) // 2
            roots = inside[max(0, middle - aside) : middle + aside + 1]
            known[low, high] = [rooted(low, high, root) for root in roots] or [_Rooted(0, low)]
        return known[low, high]

    def rooted(low: int, high: int, root: int) -> _Rooted:
        def come(one: _Rooted) -> tuple[int, int]:
            return one.wrote + ACCESS_TO_ACCESS + ways(nodes[one.root], nodes[root]), one.root

        below = [min(map(come, subtrees(*part))) for part in ((low, root), (root + 1, high)) if part[0] < part[1]]
        return _Rooted(read_after(cycle for cycle, _ in below), root, tuple(child for _, child in below))

    def back(one: _Rooted) -> tuple[int, int]:
        return one.wrote + max(ways(nodes[one.root], node) for node in nodes), one.root

    if start is not None:
        known[0, len(nodes)] = [rooted(0, len(nodes), positions.index(start))]
    top = min(subtrees(0, len(nodes)), key=back).root
    found = {nodes[top]: TreeNode(nodes[top], positions[top], None)}
    waiting = [(0, len(nodes), top)]
    while waiting:
        low, high, root = waiting.pop()
        for child in next(one.children for one in subtrees(low, high) if one.root == root):
            found[nodes[child]] = TreeNode(nodes[child], positions[child], nodes[root])
            here = found[nodes[root]]
            (here.before if child < root else here.after).append(nodes[child])
            waiting.append((low, root, child) if child < root else (root + 1, high, child))
    return ReductionTree(nodes[top], found)
