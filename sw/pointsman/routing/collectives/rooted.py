"""Collectives along one tree, a word a slot behind the other: broadcast, reduce, all-reduce, gather and scatter.

A word of a broadcast uses each link of the tree once, so words follow each other without a pause and the period is their number,
which is what ports permit at least. A reduction is the same backwards: a partial result leaves a node in the slot in which
those of all nodes
behind it arrive. An all-reduce goes up one direction of the links and down the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pointsman.artifacts.routes.collectives import CollectiveProblem, CollectiveWord, Words
from pointsman.artifacts.routes.routes import RouteProblem

from .schedule import Schedule
from .trees import depths, dimension_tree, middle, shortest_tree

MOST_CENTRES = 32


def outward_moves(parent: dict[int, int], root: int, slot: int) -> np.ndarray:
    """Moves of a word that starts at ``root`` in ``slot``, near nodes first."""
    depth = depths(parent, root)
    return np.array([(before, slot + depth[before], node) for node, before in parent.items()], np.int64).reshape(-1, 3)


def inward_moves(parent: dict[int, int], root: int, slot: int) -> np.ndarray:
    """Moves of partial results that come together at ``root`` in ``slot``, far nodes first."""
    depth = depths(parent, root)
    moves = [(node, slot - depth[node], after) for node, after in parent.items()]
    return np.array(moves[::-1], np.int64).reshape(-1, 3)


def broadcast(problem: CollectiveProblem) -> Schedule:
    parent = shortest_tree(problem.net, problem.root)
    first = CollectiveWord(
        (0,),
        problem.root,
        0,
        outward=outward_moves(parent, problem.root, 0),
        destinations=np.array(list(parent), np.int64),
    )
    return _follow(problem, first, "shortest tree")


def reduce(problem: CollectiveProblem) -> Schedule:
    parent, method = _inward_tree(problem, problem.root)
    slot = max(depths(parent, problem.root).values())
    first = CollectiveWord((0,), problem.root, slot, inward=inward_moves(parent, problem.root, slot), kept=True)
    return _follow(problem, first, method)


def all_reduce(problem: CollectiveProblem) -> Schedule | None:
    """None if the ways up and down need a link in the same direction, which links of one direction may force; a few centres are
    tried."""
    for centre in dict.fromkeys([middle(problem.net, problem.nodes), *centres(problem.nodes)]):
        up, method = _inward_tree(problem, centre)
        down = _apart(problem.net, centre, up)
        if down is not None:
            break
    else:
        return None
    slot = max(depths(up, centre).values())
    first = CollectiveWord(
        (0,),
        centre,
        slot,
        inward=inward_moves(up, centre, slot),
        outward=outward_moves(down, centre, slot),
        destinations=np.array(list(down), np.int64),
        kept=True,
    )
    return _follow(problem, first, f"{method}, up and down")


def centres(nodes: tuple[int, ...]) -> tuple[int, ...]:
    """Nodes that are tried as the centre of an all-reduce where links of one direction make some better than others."""
    return nodes[:: max(1, len(nodes) // MOST_CENTRES)]


def _apart(net: RouteProblem, centre: int, up: dict[int, int]) -> dict[int, int] | None:
    """A tree away from ``centre`` that uses no link of ``up``; None if there is none."""
    links = set(net.links)
    if all((v, u) in links for u, v in up.items()):
        return dict(up)
    down = shortest_tree(replace(net, dead_links=net.dead_links | set(up.items())), centre)
    return down if len(down) == len(up) else None


def gather(problem: CollectiveProblem) -> Schedule:
    """A word arrives at the root in each slot, the nearest first; on a tree, words that arrive in different slots never meet."""
    parent = shortest_tree(problem.net, problem.root, inward=True)
    return _one_by_one(problem, parent, to_root=True)


def scatter(problem: CollectiveProblem) -> Schedule:
    """The word for the farthest node starts first."""
    parent = shortest_tree(problem.net, problem.root)
    return _one_by_one(problem, parent, to_root=False)


def _inward_tree(problem: CollectiveProblem, root: int) -> tuple[dict[int, int], str]:
    net = problem.net
    if net.topology.regular and not net.dead_nodes and not net.dead_links:
        by_dimension = dimension_tree(net, root)
        if problem.ordered or net.topology.kind == "mesh":
            return by_dimension, "tree by dimensions"
    return shortest_tree(net, root, inward=True), "shortest tree"


def _follow(problem: CollectiveProblem, first: CollectiveWord, method: str) -> Schedule:
    return Schedule(
        problem.words, Words(problem.words, lambda index: first.later(index, (index,))), f"{method}, a word each slot"
    )


def _one_by_one(problem: CollectiveProblem, parent: dict[int, int], *, to_root: bool) -> Schedule:
    root, words = problem.root, problem.words
    depth = depths(parent, root)
    nodes = [node for node in parent for _ in range(words)]
    period = len(nodes)
    # At the root: slots of arrival, or backwards of starts. No word can be there before it has made its way.
    slots: list[int] = []
    for number, node in enumerate(nodes):
        slots.append(depth[node] if number == 0 else max(slots[-1] + 1, depth[node]))
    while len({slot % period for slot in slots}) < period:  # gaps may let two meet modulo the period
        seen: set[int] = set()
        for number, slot in enumerate(slots):
            while slot % period in seen:
                slot += 1
            seen.add(slot % period)
            slots[number] = slot
    last = max(slots)

    def make(index: int) -> CollectiveWord:
        node = nodes[index]
        way = [node]
        while way[-1] != root:
            way.append(parent[way[-1]])
        hops = len(way) - 1
        start = slots[index] - hops if to_root else last - slots[index]
        if not to_root:
            way.reverse()
        moves = np.array([(way[at], start + at, way[at + 1]) for at in range(hops)], np.int64).reshape(-1, 3)
        return CollectiveWord((node, index % words), way[0], start, outward=moves, destinations=[way[-1]])

    return Schedule(period, Words(period, make), "shortest tree, a word at the root each slot")


def is_connected(net: RouteProblem, nodes: tuple[int, ...]) -> bool:
    """Can every working node reach every other?"""
    return not nodes or (
        len(shortest_tree(net, nodes[0])) == len(nodes) - 1
        and len(shortest_tree(net, nodes[0], inward=True)) == len(nodes) - 1
    )
