"""A prefix with two schedules between which nodes go while it runs (Metcalf 1997, B.1 sch_prefix, §8.2.2).

Sums go up a tree as in `StrPrefix`. What stands before the subtree of a node goes down: every node sends all its children the
same words, which its router duplicates. First, for each child, the sum of what stands before it *among the node's own*; these go
while the sums are still on their way up. Then the sum of what stands before the node itself: each child adds its own to that. So
a message that comes down costs a node one message to all its children, not one to each.

On the way up most slots belong to the streams up, on the way down to those down: two schedules of the same streams
(`pointsman.routing.subphases`). Each node goes over when it has sent its sum, and back when its call ends.
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

from .reduce import idle, items_of, preceded

CHILDREN = 3
"""Most children of a node: what is left of the links of a node of a plane."""
DISTANCES = (1, 2, 3, ANY)
"""Longest ways between a node and its parent that are tried. The thesis's generator wanted neighbours; here that is one of
several, as an order of nodes may have no such tree or only a deep one."""
HOP = 9.0
"""Cycles from processor to processor up and down the tree, about, besides a cycle for each link."""
OUT, OWN, BASE, REST, BELOW = 0, 40, 41, 42, 43
"""Messages: sums of the node's own from OUT + 20 on, what stands before it in its parent's and altogether, what is for
others, what stands before its children."""


class SchPrefix(Implementation):
    """Sums up a tree; down it the router duplicates what comes (sch_prefix)."""

    name = "sch_prefix"
    kinds = ("prefix",)
    traceable = False
    alone = True
    loading = Loading.SUBPHASES

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        depth = max(1, *(self.tree(operator, i, context.topology).depth for i in range(len(operator.instances))))
        return Metric(words_per_cycle=1 / (11 * depth), latency=16.0 * depth + 8)

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        """The tree of an instance, in the order of the subset, with at most CHILDREN children a node."""
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
        """Children to whom the node sends anything: those with something before them."""
        some = preceded(tree)
        return tuple(child for child in tree.nodes[node].children if child in some)

    def own_sums(self, tree: ReductionTree, node: int) -> list[int]:
        """Children for whom there is a sum of what stands before them among the node's own, in order."""
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
        here, some = tree.nodes[node], preceded(tree)
        script = RoleScript()

        def registers(way: str, at: int, end: str) -> tuple[int, ...]:
            return wiring.registers(stream_name(operator, instance, f"{way}{at}"), node, end)

        for k, child in enumerate(here.children):
            script.move(False, registers("up", child, "deliver"), f"t{k}")
        # Sums of the node's own: what stands before each of its items, and all of them.
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
        switch = script.step
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
        """Read what the parent sends all its children and pass on what stands before this node; gives that message's name."""
        parent = tree.nodes[node].parent
        assert parent is not None
        come = registers("down", parent, "deliver")
        all_sums = self.own_sums(tree, parent)
        higher = parent in preceded(tree)
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
                    beside = True  # what still comes for others is read meanwhile
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
    """Of the trees with at most CHILDREN children a node that several roots and longest distances give, and the flattest, the one
    with the quickest way to its farthest node; the shortest distance of several."""
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
