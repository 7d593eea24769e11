"""Reductions, prefixes and barriers by messages over a tree (Metcalf 1997, B.1 and B.2).

Items are combined in the order of the nodes, so the function needs to be associative only. Nodes that are not
``:valid`` take no part: their load and I/O functions do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pointsman.artifacts.scripts import Call, Combine, Receive, Script, Send, Step
from pointsman.network import Topology
from pointsman.operators.api.operands import is_partial
from pointsman.operators.trees.in_order_tree import InOrderTree, in_order_tree
from pointsman.program.program import Operator

from .decomposition import Decomposition, value_of

_OWN, _LEFT, _RIGHT, _ABOVE = 0, 1, 2, 3
_FROM_LEFT, _FROM_RIGHT, _DOWN = 0, 1, 2
"""Channels of messages: from the left child, from the right child, and from the parent or to the destination."""
_SLOTS = 4
_IDLE = Script("func", {"func": (Call((), _OWN),)})
"""Script of a node that is not ``:valid``."""


class DynReduce(Decomposition):
    """Up a tree whose root is the destination or, if that is not valid, the nearest valid position (dyn_reduce).

    Does not fit a ``:distributed`` destination: the root would not know where to send the result.
    """

    name = "dyn_reduce"
    kinds = ("reduce",)
    channels = 3

    def fits(self, operator: Operator, topology: Topology) -> bool:
        return not is_partial(operator, "destination")

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own, destination = nodes.index(node), value_of(operator, instance, "destination", values)
        valid = _valid(operator, len(nodes))
        root = min(range(len(valid)), key=lambda at: (abs(valid[at] - destination), at))
        steps: list[Step] = []
        if own in valid:
            tree, at = in_order_tree(len(valid), root), valid.index(own)
            steps += _up(tree, at, [nodes[position] for position in valid])
            if at == root and own != destination:
                steps.append(Send(nodes[destination], _OWN, _DOWN))
        elif own == destination:
            steps.append(Receive(nodes[valid[root]], _OWN, _DOWN))
        return Script("func", {"func": (Call(tuple(steps), _OWN),)}, slots=_SLOTS)


class DynAllreduce(Decomposition):
    """Up a tree and down again (dyn_allreduce)."""

    name = "dyn_allreduce"
    kinds = ("allreduce",)
    channels = 3

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        place = _place(operator, instance, node)
        if place is None:
            return _IDLE
        nodes, tree, at = place
        steps = _up(tree, at, nodes)
        down = tuple(Send(nodes[child], _OWN, _DOWN) for child in tree.children[at])
        if tree.parent[at] < 0:
            steps += down
        else:
            steps.append(Receive(nodes[tree.parent[at]], _OWN, _DOWN, forward=down))
        return Script("func", {"func": (Call(tuple(steps), _OWN),)}, slots=_SLOTS)


class DynPrefix(Decomposition):
    """Sums of subtrees go up a tree; the sum of all items before a node's subtree comes down to it (dyn_prefix)."""

    name = "dyn_prefix"
    kinds = ("prefix",)
    channels = 3

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        place = _place(operator, instance, node)
        if place is None:
            return _IDLE
        nodes, tree, at = place
        left, right, above = tree.left[at], tree.right[at], tree.parent[at]
        upto, total = 4, 5  # slots: sum of left subtree and own item; sum of the whole subtree
        steps: list[Step] = []
        if left >= 0:
            steps += [Receive(nodes[left], _LEFT, _FROM_LEFT), Combine(upto, _LEFT, _OWN)]
        mine = upto if left >= 0 else _OWN
        whole = mine
        if right >= 0:
            steps.append(Receive(nodes[right], _RIGHT, _FROM_RIGHT))
            if above >= 0:
                steps.append(Combine(total, mine, _RIGHT))
                whole = total
        if above >= 0:
            steps.append(Send(nodes[above], whole, _FROM_LEFT if at < above else _FROM_RIGHT))
        if tree.low[at] > 0:
            before = tuple(Send(nodes[left], _ABOVE, _DOWN) for _ in range(left >= 0))
            steps.append(Receive(nodes[above], _ABOVE, _DOWN, forward=before))
            steps.append(Combine(upto, _ABOVE, mine))
            mine = upto
        if right >= 0:
            steps.append(Send(nodes[right], mine, _DOWN))
        return Script("func", {"func": (Call(tuple(steps), mine),)}, slots=6)


class DynBarrier(Decomposition):
    """A word from each node up a tree, then a word down; nothing is combined, so a single channel is enough (B.1)."""

    name = "dyn_barrier"
    kinds = ("barrier",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        at, tree = nodes.index(node), in_order_tree(len(nodes), len(nodes) // 2)
        steps: list[Step] = [Receive(nodes[child], _LEFT, words=1) for child in tree.children[at]]
        down = tuple(Send(nodes[child], _LEFT, words=1) for child in tree.children[at])
        if tree.parent[at] < 0:
            steps += down
        else:
            parent = nodes[tree.parent[at]]
            steps += [Send(parent, _LEFT, words=1), Receive(parent, _LEFT, words=1, forward=down)]
        return Script("func", {"func": (Call(tuple(steps)),)}, slots=2)


def _valid(operator: Operator, size: int) -> list[int]:
    return list(range(size)) if operator.valid is None else sorted(set(operator.valid))


def _place(operator: Operator, instance: int, node: int) -> tuple[list[int], InOrderTree, int] | None:
    """Valid nodes in the order of the subset, a tree over them with its root in the middle, and the position of ``node`` among
    them; None if ``node`` is not valid."""
    nodes = operator.instances[instance].nodes
    valid = [nodes[position] for position in _valid(operator, len(nodes))]
    return (valid, in_order_tree(len(valid), len(valid) // 2), valid.index(node)) if node in valid else None


def _up(tree: InOrderTree, at: int, nodes: Sequence[int]) -> list[Step]:
    """Steps that combine left subtree, own item and right subtree into slot _OWN and, except at the root, send it up."""
    steps: list[Step] = []
    if tree.left[at] >= 0:
        steps += [Receive(nodes[tree.left[at]], _LEFT, _FROM_LEFT), Combine(_OWN, _LEFT, _OWN)]
    if tree.right[at] >= 0:
        steps += [Receive(nodes[tree.right[at]], _RIGHT, _FROM_RIGHT), Combine(_OWN, _OWN, _RIGHT)]
    above = tree.parent[at]
    if above >= 0:
        steps.append(Send(nodes[above], _OWN, _FROM_LEFT if at < above else _FROM_RIGHT))
    return steps
