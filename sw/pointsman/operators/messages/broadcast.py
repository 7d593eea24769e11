"""Broadcasts by messages: separate messages to all readers, a flood fill, or a tree (Metcalf 1997, B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pointsman.artifacts.scripts import Call, Receive, Script, Send
from pointsman.network import Topology
from pointsman.operators.api.operands import box, is_partial
from pointsman.operators.trees.flood_fill import flood_children, flood_parent
from pointsman.operators.trees.in_order_tree import in_order_tree
from pointsman.program.program import Operator

from .decomposition import Decomposition, is_known, value_of


class DynBcast(Decomposition):
    """The source sends a message to each other node (dyn_bcast). If the source is ``:distributed``, readers do not know it and
    take a message from any sender."""

    name = "dyn_bcast"
    kinds = ("broadcast",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        source = value_of(operator, instance, "source", values)
        own = nodes.index(node)
        if source == own:
            # Beginning with the next position, so that different sources do not all send to position 0 first.
            others = (*nodes[own + 1 :], *nodes[:own])
            return Script("write", {"write": (Call(tuple(Send(other) for other in others)),)})
        origin = None if is_partial(operator, "source") else nodes[source]
        return Script("read", {"read": (Call((Receive(origin),), 0),)})


class DynBcastDense(Decomposition):
    """A flood fill along the last dimension first; nodes forward words as they come in (dyn_bcast_dense). Boxes only."""

    name = "dyn_bcast_dense"
    kinds = ("broadcast",)

    def fits(self, operator: Operator, topology: Topology) -> bool:
        if is_partial(operator, "source") or not topology.has_coordinates or topology.dead:
            return False
        return all(box(one.nodes, topology) == frozenset(one.nodes) for one in operator.instances)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        source = nodes[value_of(operator, instance, "source", values)]
        return _forwarding(node, source, flood_children(node, source, frozenset(nodes), topology), topology)


class DynBcastTree(Decomposition):
    """Forwarding down a binary tree from a source known at compile time (dyn_bcast_tree); any subset, also with holes."""

    name = "dyn_bcast_tree"
    kinds = ("broadcast",)

    def fits(self, operator: Operator, topology: Topology) -> bool:
        return is_known(operator, "source")

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        root = value_of(operator, instance, "source", values)
        tree = in_order_tree(len(nodes), root)
        own = nodes.index(node)
        children = tuple(Send(nodes[child]) for child in tree.children[own])
        if own == root:
            return Script("write", {"write": (Call(children),)})
        return Script("read", {"read": (Call((Receive(nodes[tree.parent[own]], forward=children),), 0),)})


def _forwarding(node: int, source: int, children: Sequence[int], topology: Topology) -> Script:
    sends = tuple(Send(child) for child in children)
    if node == source:
        return Script("write", {"write": (Call(sends),)})
    return Script("read", {"read": (Call((Receive(flood_parent(node, source, topology), forward=sends),), 0),)})
