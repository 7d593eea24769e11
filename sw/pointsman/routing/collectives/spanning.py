"""Trees that span a network and have many leaves: as few inner nodes, all joined, as are found so that others are beside one.

To find the fewest is hard (a least connected dominating set). Inner nodes are added one by one, the one with the most nodes
beside it that are not reached yet (Guha and Khuller 1998), from a few starts; then those are taken out that others make up for.
"""

from __future__ import annotations

from pointsman.artifacts.routes.routes import RouteProblem

STARTS = 8
MOST_TAKEN_OUT = 512
"""Nodes up to which inner nodes are also taken out again."""


def leafy_tree(net: RouteProblem, nodes: tuple[int, ...]) -> dict[int, list[int]] | None:
    """Neighbours of each node in a tree of links that are there both ways; None if these do not join all nodes."""
    links = set(net.links)
    beside = {node: [other for other in net.following[node] if (other, node) in links] for node in nodes}
    if not _joined(beside, set(nodes)):
        return None
    best: set[int] | None = None
    for start in sorted(nodes, key=lambda node: (-len(beside[node]), node))[:STARTS]:
        inner = _grown(beside, start)
        if len(nodes) <= MOST_TAKEN_OUT:
            _take_out(beside, inner)
        if best is None or len(inner) < len(best):
            best = inner
    assert best is not None
    return _tree(beside, best)


def _grown(beside: dict[int, list[int]], start: int) -> set[int]:
    inner, reached = {start}, {start, *beside[start]}
    while len(reached) < len(beside):
        ends = [(sum(other not in reached for other in beside[node]), -node) for node in reached - inner]
        node = -max(ends)[1]
        inner.add(node)
        reached.update(beside[node])
    return inner


def _take_out(beside: dict[int, list[int]], inner: set[int]) -> None:
    """Take out inner nodes, those with the fewest neighbours first, while the rest are joined and beside all others."""
    for node in sorted(inner, key=lambda one: (len(beside[one]), one)):
        rest = inner - {node}
        near = [other for other in beside[node] if other in rest]
        alone = any(other not in rest and not any(one in rest for one in beside[other]) for other in beside[node])
        if near and not alone and _joined(beside, rest):
            inner.remove(node)


def _joined(beside: dict[int, list[int]], nodes: set[int]) -> bool:
    begin = min(nodes)
    reached, rest = {begin}, [begin]
    while rest:
        fresh = [other for other in beside[rest.pop()] if other in nodes and other not in reached]
        reached.update(fresh)
        rest += fresh
    return len(reached) == len(nodes)


def _tree(beside: dict[int, list[int]], inner: set[int]) -> dict[int, list[int]]:
    """Inner nodes in the order of a search, then each other node beside one of them."""
    begin = min(inner)
    tree: dict[int, list[int]] = {node: [] for node in beside}
    reached, order = {begin}, [begin]
    for wanted in (inner, set(beside)):
        for node in order:
            for other in beside[node]:
                if other in wanted and other not in reached:
                    reached.add(other)
                    tree[node].append(other)
                    tree[other].append(node)
                    if other in inner:
                        order.append(other)
    return tree
