"""All-gather of any number of words on a tree without waiting: every word floods the tree, so only its start can be chosen.

The starts are those of the least period (`pointsman.routing.bounds.flooding`): nothing on a tree, such as a line, takes less.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from pointsman.artifacts.routes.collectives import CollectiveWord, Words
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.routing.bounds.flooding import Class, FloodedTree

from .schedule import Schedule
from .spanning import leafy_tree


def on_a_tree(net: RouteProblem, nodes: tuple[int, ...], words: int) -> Schedule | None:
    """All-gather of ``words`` words a node on a tree with many leaves; None if there is none that is joined both ways."""
    beside = leafy_tree(net, nodes) if len(nodes) > 2 else None
    if beside is None:
        return None
    tree = FloodedTree(beside, dict.fromkeys(nodes, words))
    period, starts = start_slots(tree)
    moves = lru_cache(maxsize=1)(lambda node: flooded(beside, node))

    def make(index: int) -> CollectiveWord:
        at, number = divmod(index, words)
        node = nodes[at]
        start = starts[node][number]
        table = moves(node) + np.array((0, start, 0))
        return CollectiveWord((node, number), node, start, outward=table, destinations=table[:, 2])

    leaves = sum(not tree.is_inner(node) for node in nodes)
    return Schedule(period, Words(len(nodes) * words, make), f"flooded tree with {leaves} leaves")


def start_slots(tree: FloodedTree) -> tuple[int, dict[int, list[int]]]:
    """The least period, and the starts of each node's words."""
    period, classes = tree.least_period()
    colour = _colours(tree)
    starts: dict[int, list[int]] = {node: [] for node in tree.beside}
    for parity, words in enumerate(classes):
        length = period if len(classes) == 2 else 2 * period
        for node, slot in _round(tree, words, length):
            # The walk begins in slot 0; so that of the second class begins at its own parity.
            begin = next(iter(words))
            shift = (colour[begin] + parity) % 2
            starts[node].append((slot + shift) % period)
    return period, starts


def _colours(tree: FloodedTree) -> dict[int, int]:
    colour = {next(iter(set(tree.beside) - set(tree.before))): 0}
    for node, before in tree.before.items():
        colour[node] = 1 - colour[before]
    return colour


def _round(tree: FloodedTree, words: Class, length: int) -> list[tuple[int, int]]:
    """The words of a class in the order of a walk round the nodes that have some, from the first one back to it: their nodes and
    slots round a circle of ``length``."""
    begin = next(iter(words))
    order, before = [begin], {begin: -1}
    for node in order:
        for other in tree.beside[node]:
            if other != before[node]:
                before[other] = node
                order.append(other)
    spanned = set(words)
    for node in reversed(order):
        if node in spanned and node != begin:
            spanned.add(before[node])
    made: list[tuple[int, int]] = []
    slot = crossed = 0
    rest = [(begin, True)]
    while rest:
        node, down = rest.pop()
        crossed += 1
        if not down:
            continue
        rest.append((node, False))
        rest += [(other, True) for other in tree.beside[node] if other != before[node] and other in spanned]
        if node in words:
            if made:
                slot += crossed + 2 * tree.is_inner(node)
            crossed = 0
            for number in range(words[node]):
                slot += 2 * (number > 0)
                made.append((node, slot))
    # The last link that was crossed leads away from the node at which the walk began.
    closed = slot + crossed - 1 + 2 * tree.is_inner(begin)
    assert len(made) == 1 or closed <= length, "the walk is longer than the period"
    return made


def flooded(beside: Mapping[int, list[int]], node: int) -> np.ndarray:
    """Moves of a word that starts at ``node`` in slot 0."""
    moves: list[tuple[int, int, int]] = []
    reached = [(node, 0, -1)]
    for one, slot, before in reached:
        for other in beside[one]:
            if other != before:
                moves.append((one, slot, other))
                reached.append((other, slot + 1, one))
    return np.array(moves, np.int64).reshape(-1, 3)
