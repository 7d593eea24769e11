"""Nodes that words join: sets of nodes that overlap are one group.

Takes the nodes of streams; gives groups. Three streams 0→1, 1→2 and 4→5, for example, make the groups {0, 1, 2} and {4, 5}:
what node 0 does can hold up node 2, and never node 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from pointsman.artifacts.images.images import Promise


def nodes_of(promise: Promise) -> frozenset[int]:
    """Both ends of a stream: its source and its destinations."""
    return frozenset((promise.source, *(node for node, _ in promise.destinations)))


def groups_of(sets: Iterable[Set[int]]) -> dict[int, int]:
    """By node, the number of its group (a node of it): sets that have a node in common are in one group."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for nodes in sets:
        for node in nodes:
            parent.setdefault(node, node)
        first = root(min(nodes))
        for node in nodes:
            parent[root(node)] = first
    return {node: root(node) for node in parent}
