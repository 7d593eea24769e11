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
    group: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    for nodes in sets:
        met = {group[node] for node in nodes if node in group}
        # The smaller groups go into the largest.
        into = max(met, key=lambda one: len(members[one])) if met else min(nodes, default=0)
        fresh = [node for node in nodes if node not in group]
        for other in met - {into}:
            fresh += members.pop(other)
        members.setdefault(into, []).extend(fresh)
        group.update(dict.fromkeys(fresh, into))
    return group
