"""Trees of links for multicasts, and snakes. The fewer moves a word takes at each node, the faster words follow each other."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, permutations

from pointsman.network import Topology

Links = tuple[tuple[int, int], ...]
"""Links (from, to) of a tree, parents first."""


@lru_cache(maxsize=256)
def snake(
    nodes: tuple[int, ...], topology: Topology, dimensions: tuple[int, ...] | None = None
) -> tuple[int, ...] | None:
    """The nodes in an order in which each is adjacent to the next: back and forth along x, or along the first of ``dimensions``;
    on a graph in the given order. None if two consecutive nodes are not adjacent."""
    order = back_and_forth(nodes, topology, dimensions)
    for node, following in pairwise(order):
        if all(other != following for other, _ in topology.at_port[node].values()):
            return None
    return tuple(order)


def back_and_forth(nodes: tuple[int, ...], topology: Topology, dimensions: tuple[int, ...] | None = None) -> list[int]:
    """The nodes row by row, every other row backwards: along x, or along the first of ``dimensions``; on a graph as given."""
    if not topology.has_coordinates:
        return list(nodes)
    places = {node: topology.coordinates(node) for node in nodes}

    def key(node: int) -> tuple[int, ...]:
        place = tuple(places[node][d] for d in dimensions) if dimensions else places[node]
        folded: list[int] = []
        flip = 0
        for coordinate in reversed(place):
            folded.append(-coordinate if flip % 2 else coordinate)
            flip += coordinate
        return tuple(folded)

    return sorted(nodes, key=key)


def multicast_tree(
    nodes: tuple[int, ...], source: int, readers: tuple[int, ...], topology: Topology, legs: int
) -> Links | None:
    """Links of a tree from ``source`` to ``readers`` within ``nodes``, on which a word takes at most ``legs`` moves at a node:
    `two_arms` of a snake for 2 legs, a `narrow_tree` for more; None if none is found."""
    if legs == 2:
        return two_arms(nodes, source, readers, topology)
    return narrow_tree(nodes, source, readers, topology, legs)


@lru_cache(maxsize=256)
def two_arms(nodes: tuple[int, ...], source: int, readers: tuple[int, ...], topology: Topology) -> Links | None:
    """Links along a snake through ``nodes`` from ``source`` in both directions, each up to its last reader. Of the snakes for
    all orders of dimensions, that with the shortest longer arm; None if ``nodes`` have no snake."""
    wanted = set(readers)
    found: list[Links] = []
    for order in dimension_orders(topology):
        path = snake(nodes, topology, order)
        if path is None:
            continue
        at = path.index(source)
        links: list[tuple[int, int]] = []
        for arm in (path[at:], path[at::-1]):
            last = max((k for k, node in enumerate(arm) if node in wanted), default=0)
            links += pairwise(arm[: last + 1])
        found.append(tuple(links))
    return min(found, key=tree_depth, default=None)


@lru_cache(maxsize=256)
def narrow_tree(
    nodes: tuple[int, ...], source: int, readers: tuple[int, ...], topology: Topology, legs: int
) -> Links | None:
    """Links of a tree, grown breadth first from ``source`` to ``readers`` within ``nodes``, on which no node has more than
    ``legs`` moves for a word: a move for each child, and a move if the node is a reader. None if some reader is not reached."""
    inside, wanted = set(nodes), set(readers)
    parent: dict[int, int] = {source: source}
    children = {source: 0}
    queue = [source]
    # A node whose neighbours already have ``legs`` moves may still be reached by nodes later in the queue.
    for node in queue:
        for _, (other, _) in sorted(topology.at_port[node].items()):
            if other in inside and other not in parent and children[node] + (node in wanted) < legs:
                parent[other] = node
                children[node] += 1
                children[other] = 0
                queue.append(other)
    if not wanted <= parent.keys():
        return None
    needed: set[int] = set()
    for node in wanted:
        while node != source and node not in needed:
            needed.add(node)
            node = parent[node]
    return tuple((parent[node], node) for node in queue[1:] if node in needed)


def tree_depth(links: Links) -> int:
    """Number of links from the source to the farthest node."""
    depth: dict[int, int] = {}
    for node, after in links:
        depth[after] = depth.get(node, 0) + 1
    return max(depth.values(), default=0)


def dimension_orders(topology: Topology) -> tuple[tuple[int, ...] | None, ...]:
    """Every order of dimensions for `snake`, the dimension of its rows first; for a graph only None (nodes as given)."""
    return (None,) if not topology.has_coordinates else tuple(permutations(range(len(topology.size))))
