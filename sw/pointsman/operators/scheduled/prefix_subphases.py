"""A prefix with two schedules, between which each node changes while it runs (Metcalf 1997, B.1 sch_prefix, §8.2.2).

Sums of subtrees go up a tree as in `StrPrefix`. Downwards a node sends the same words to all its children; its router duplicates
them. First, for each child, it sends the sum of the node's own items (its message, its children's sums) that come before that
child, while sums may still be on their way up. Then it sends the sum of all items before its own subtree, to which each child
adds its part. So a message from above costs a node a single message to all its children, not a message to each.

While words go up, most slots belong to the streams up; while words go down, to the streams down: two schedules of the same
streams (`pointsman.routing.subphases`). Each node changes when it has sent its sum, and changes back when its call ends.
"""

from __future__ import annotations

from functools import lru_cache

from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import keep_in, stream_name, taking_part
from pointsman.operators.api.role_script import RoleScript
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import ANY, ReductionTree, build_tree, centre, distances, halving_tree
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .reduce import idle, items_of

CHILDREN = 3
"""Most children of a node: in a plane a node has four links, of which its parent takes a link."""
DISTANCES = (1, 2, 3, ANY)
"""Limits, in hops, of the distance between a node and its parent, all of which are tried. The thesis's generator wants
neighbours (1); some orders of nodes have no such tree, or only a deep tree."""
HOP = 9.0
"""Estimated cycles from processor to processor, up and down the tree, besides a cycle for each link."""
OUT, OWN, BASE, REST, BELOW = 0, 40, 41, 42, 43
"""Numbers of messages: OUT + 20 and on: sums of the node's own items; OWN: sum of the parent's items before this node; BASE: sum
of all items before the parent's subtree; REST: a sum meant for a sibling; BELOW: sum of all items before this node's subtree."""


class SchPrefix(Implementation):
    """Sums go up a tree; downwards a node's message to all its children is duplicated by its router (sch_prefix)."""

    name = "sch_prefix"
    kinds = ("prefix",)
    traceable = False
    alone = True
    loading = Loading.SUBPHASES

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        depth = max(1, *(self.tree(operator, i, context.topology).depth for i in range(len(operator.instances))))
        return Metric(words_per_cycle=1 / (11 * depth), latency=16.0 * depth + 8)

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        """The tree of an instance, in the order of the subset, with at most CHILDREN children per node."""
        nodes = operator.instances[instance].nodes
        return quickest_tree(nodes, topology, taking_part(operator, instance))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            inside = keep_in(instance, context)
            tree = self.tree(operator, i, context.topology)
            for here in tree.nodes.values():
                ends: list[tuple[str, tuple[int, ...], int]] = []
                if here.parent is not None:
                    ends.append(("up", (here.parent,), 1))
                if below := self.below(tree, here.node):
                    ends.append(("down", below, 2))
                streams += [
                    Stream(
                        stream_name(operator, i, f"{way}{here.node}"),
                        here.node,
                        destinations,
                        max_words=1,
                        group=f"{operator.label} {way}",
                        keep_in=inside,
                        subphase=subphase,
                    )
                    for way, destinations, subphase in ends
                ]
        return streams

    def below(self, tree: ReductionTree, node: int) -> tuple[int, ...]:
        """Children to which the node sends words: those with some valid node before their subtrees."""
        some = tree.preceded
        return tuple(child for child in tree.nodes[node].children if child in some)

    def own_sums(self, tree: ReductionTree, node: int) -> list[int]:
        """Children before which the node has items of its own, whose sum it sends down; in order."""
        here = tree.nodes[node]
        names = items_of(tree, node)
        return [child for k, child in enumerate(here.children) if names.index(f"t{k}") > 0]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        tree = self.tree(operator, instance, wiring.routed.topology)
        void = operator.instances[instance].nodes.index(node) not in taking_part(operator, instance)
        if (resting := idle(operator, instance, tree, node)) is not None:
            return resting
        here, some = tree.nodes[node], tree.preceded
        script = RoleScript()

        def registers(way: str, at: int, end: str) -> tuple[int, ...]:
            return wiring.registers(stream_name(operator, instance, f"{way}{at}"), node, end)

        for k, child in enumerate(here.children):
            script.move(False, registers("up", child, "deliver"), f"t{k}")
        # before[k]: name of the sum of the node's items 0 … k - 1; the last entry is the sum of all.
        names = items_of(tree, node)
        before: list[str] = [""]
        for k, name in enumerate(names):
            if before[-1] and (k < len(names) - 1 or here.parent is not None or name == "out"):
                script.combine(before[-1], name, f"t{OUT + 20 + k}")
                before.append(f"t{OUT + 20 + k}")
            else:
                before.append(before[-1] or name)
        if here.parent is not None:
            script.wait()
            script.move(True, registers("up", node, "inject"), before[-1])
        script.wait()
        # With a single valid node nothing goes down, and the phase has no second schedule.
        switch = script.step if any(self.below(tree, other) for other in tree.nodes) else None
        mine = {child: before[names.index(f"t{k}")] for k, child in enumerate(here.children)}
        down = registers("down", node, "inject") if self.below(tree, node) else ()
        for child in self.own_sums(tree, node):
            script.wait()
            script.move(True, down, mine[child])
        base = self._from_above(script, tree, node, registers, down) if node in some else ""
        if "out" in names:
            at = names.index("out")
            if base and before[at]:
                script.combine(base, before[at + 1], "in")
            elif base:
                script.combine(base, "out", "in")
            else:
                script.combine(before[at + 1], "", "in")
        return script.role(by_item=False, result=not void, void=void, switch=switch)

    def _from_above(self, script: RoleScript, tree: ReductionTree, node: int, registers, down: tuple[int, ...]) -> str:  # type: ignore[no-untyped-def]
        """Read the parent's messages, send on the sum of all items before this node's subtree; gives that message's name."""
        parent = tree.nodes[node].parent
        assert parent is not None
        come = registers("down", parent, "deliver")
        all_sums = self.own_sums(tree, parent)
        higher = parent in tree.preceded
        base, beside = "", False
        for child in all_sums:
            if not beside:
                script.wait()
            beside = False
            script.move(False, come, f"t{OWN if child == node else REST}")
            if child == node and not higher:
                base = f"t{OWN}"
                script.wait()
                if down:
                    script.move(True, down, base)
                    beside = True  # the sum for the next sibling is read in the same step
        if higher:
            script.wait()
            script.move(False, come, f"t{BASE}")
            base = f"t{BASE}"
            if node in all_sums:
                script.combine(base, f"t{OWN}", f"t{BELOW}")
                base = f"t{BELOW}"
            if down:
                script.wait()
                script.move(True, down, base)
        return base


@lru_cache(maxsize=256)
def quickest_tree(nodes: tuple[int, ...], topology: Topology, valid: tuple[int, ...]) -> ReductionTree:
    """The tree with the least estimated latency to its farthest node, of the trees with at most CHILDREN children per node for
    several roots and distance limits, and of the flattest tree; on a tie the shortest distance limit."""
    roots = dict.fromkeys((centre(nodes, topology), 0, len(nodes) - 1, len(nodes) // 2))
    found: list[tuple[float, int, ReductionTree]] = []
    for distance in DISTANCES:
        for root in roots:
            tree = build_tree(nodes, topology, start=root, valid=valid, max_children=CHILDREN, max_distance=distance)
            if tree is not None:
                found.append((_farthest(tree, topology), distance, tree))
    tree = halving_tree(nodes, valid)
    found.append((_farthest(tree, topology), ANY, tree))
    return min(found, key=lambda one: one[:2])[2]


def _farthest(tree: ReductionTree, topology: Topology) -> float:
    ways = distances(tuple(tree.nodes), topology)
    cost = {tree.root: 0.0}
    stack = [tree.root]
    while stack:
        node = stack.pop()
        here = tree.nodes[node]
        for child in here.children:
            cost[child] = cost[node] + HOP + ways(node, child) + len(here.children)
            stack.append(child)
    return max(cost.values())


PREFIX: tuple[Implementation, ...] = (SchPrefix(),)
