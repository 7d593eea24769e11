"""Plans of hops: for every node of a subset, the next node on the way to a destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from pointsman.network import Topology
from pointsman.operators.api.operands import box

from .flood_fill import flood_parent
from .multicast_trees import snake
from .reduction_trees import build_tree, centre

Hops = Mapping[int, int]
"""For each node but the destination, the next node on the way to it."""
NextHops = Callable[[tuple[int, ...], int, Topology], Hops | None]
"""A plan: a function of nodes, destination and network; gives None if it does not serve these nodes."""


def snake_hops(nodes: tuple[int, ...], destination: int, topology: Topology) -> Hops | None:
    """Hops up and down a snake through all nodes; None if there is no snake."""
    path = snake(nodes, topology)
    if path is None:
        return None
    at = path.index(destination)
    return {node: path[i + 1] if i < at else path[i - 1] for i, node in enumerate(path) if i != at}


@lru_cache(maxsize=1024)
def tree_hops(nodes: tuple[int, ...], destination: int, topology: Topology) -> Hops | None:
    """Hops up and down a reduction tree with its root in the middle."""
    tree = build_tree(nodes, topology, start=centre(nodes, topology))
    if tree is None:
        return None
    joined: dict[int, list[int]] = {node: [] for node in nodes}
    for here in tree.nodes.values():
        if here.parent is not None:
            joined[here.node].append(here.parent)
            joined[here.parent].append(here.node)
    return _breadth_first(destination, joined)


def link_hops(nodes: tuple[int, ...], destination: int, topology: Topology) -> Hops | None:
    """Hops over links among the nodes, along a breadth-first tree; None unless the nodes are connected."""
    members = frozenset(nodes)
    joined = {
        node: [other for _, (other, _) in sorted(topology.at_port[node].items()) if other in members] for node in nodes
    }
    hops = _breadth_first(destination, joined)
    return hops if len(hops) == len(nodes) - 1 else None


def dimension_hops(nodes: tuple[int, ...], destination: int, topology: Topology) -> Hops | None:
    """Hops along the dimensions in order (`flood_parent`); None unless the nodes are a box."""
    if not topology.regular or box(nodes, topology) != frozenset(nodes):
        return None
    return {node: flood_parent(node, destination, topology) for node in nodes if node != destination}


def _breadth_first(destination: int, joined: Mapping[int, list[int]]) -> Hops:
    hops: dict[int, int] = {}
    queue = [destination]
    for node in queue:
        for other in joined[node]:
            if other != destination and other not in hops:
                hops[other] = node
                queue.append(other)
    return hops
