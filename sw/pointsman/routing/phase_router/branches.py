"""The paths or tree that a chain may take, as arrays for ``cheapest_path.cheapest``.

A *branching* has a row for each branch, parents first: (node, first onward row, number of onward rows, delivers, choose, source);
and onward rows (link, branch at its end). Words go from a branch to all of its onward branches (a tree), or, if ``choose`` is 1,
to the cheapest of them (paths).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .problem import Demand, RoutingPart


@dataclass(frozen=True, eq=False)
class Branching:
    """A branching: ``branches``, shape (n, 6), and ``onward``, shape (m, 2)."""

    branches: np.ndarray
    onward: np.ndarray


def branches_of_tree(
    part: RoutingPart, root: int, children: Mapping[int, Sequence[int]], ends: Collection[int]
) -> Branching:
    """The branching of a tree: ``children`` gives the links that leave each node, ``ends`` the nodes that deliver."""
    order = [root]
    rows: list[tuple[int, ...]] = []
    onward: list[tuple[int, int]] = []
    for node in order:
        links = children.get(node, ())
        rows.append((node, len(onward), len(links), node in ends, 0, len(rows) == 0))
        for link in links:
            onward.append((link, len(order)))
            order.append(part.links[link][1])
    return _branching(rows, onward)


def branches_of_paths(part: RoutingPart, demand: Demand, slack: int = 0) -> Branching | None:
    """The branching of all paths to the demand's only destination with at most ``slack`` hops more than the shortest.

    A branch is a node with a number of hops left, so that every path ends in time. None if there is no path.
    """
    (end,) = demand.destinations
    if end == demand.source:
        return branches_of_tree(part, end, {}, {end})
    left = part.distances(end, demand.nodes, (demand.source,), slack, to=True)
    if demand.source not in left:
        return None
    least = left[demand.source]
    # Onward links of each branch (hops left, node); the source has a branch for each permitted length.
    onward: dict[tuple[int, int], list[tuple[int, tuple[int, int]]]] = {}
    for hops in range(least, least + slack + 1):
        fringe = [(hops, demand.source)]
        while fringe:
            after: list[tuple[int, int]] = []
            for rest, node in fringe:
                if (rest, node) in onward:
                    continue
                onward[rest, node] = []
                for link in part.leaving[node] if rest else ():
                    other = part.links[link][1]
                    if left.get(other, rest) < rest and other != demand.source and (other != end or rest == 1):
                        onward[rest, node].append((link, (rest - 1, other)))
                        after.append((rest - 1, other))
            fringe = after
    order = sorted(onward, key=lambda key: (-key[0], key[1]))
    index = {key: row for row, key in enumerate(order)}
    rows: list[tuple[int, ...]] = []
    flat: list[tuple[int, int]] = []
    for rest, node in order:
        rows.append((node, len(flat), len(onward[rest, node]), rest == 0, 1, node == demand.source))
        flat.extend((link, index[key]) for link, key in onward[rest, node])
    return _branching(rows, flat)


def _branching(rows: Sequence[tuple[int, ...]], onward: Sequence[tuple[int, int]]) -> Branching:
    return Branching(np.array(rows, np.int64).reshape(-1, 6), np.array(onward, np.int64).reshape(-1, 2))


def given_tree(part: RoutingPart, demand: Demand) -> dict[int, list[int]]:
    """Links leaving each node along the tree that the stream prescribes; empty if a link is missing."""
    assert demand.tree is not None
    children: dict[int, list[int]] = {}
    for node, after in demand.tree:
        links = [link for link in part.leaving[node] if part.links[link][1] == after]
        if not links:
            return {}
        children.setdefault(node, []).append(links[0])
    return children


def longest_first(part: RoutingPart, demand: Demand, links: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """By node of a tree the links that lead to destinations, those first behind which the last delivery is the latest."""
    order = [demand.source]
    for node in order:
        order += (part.links[link][1] for link in links.get(node, ()))
    onward: dict[int, list[int]] = {}
    longest: dict[int, int] = {}
    """By node, slots from the node's to the last delivery behind it, about; -1: there is none."""
    for node in reversed(order):
        ways = [(longest[part.links[link][1]], link) for link in links.get(node, ())]
        kept = sorted([way for way in ways if way[0] >= 0], reverse=True)
        onward[node] = [link for _, link in kept]
        own = len(kept) if node in demand.destinations else -1
        longest[node] = max([own, *(way + leg + 1 for leg, (way, _) in enumerate(kept))])
    return onward
