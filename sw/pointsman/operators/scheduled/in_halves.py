"""All-reduces of long messages on two trees, a half of the message on each (Sanders, Speck and Träff 2009).

With n nodes each index of a vector takes 3n - 2 accesses in all until every node has the outcome. Two chains spread them evenly,
three a processor, and have n / 2 levels; a tree of two children a node has few levels, and four accesses of the nodes inside it.
Of two trees (`pointsman.operators.trees.two_trees`) one has as leaves those that are inside the other: few levels, and six
accesses of a processor for a word of each half.
"""

from __future__ import annotations

from dataclasses import replace

from pointsman.artifacts.images.images import Combination, LaneImage
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import taking_part
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring, with_suffix
from pointsman.operators.trees.multicast_trees import Links
from pointsman.operators.trees.reduction_trees import ReductionTree, dimension_tree
from pointsman.operators.trees.two_trees import two_trees
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .reduce import StrAllreduce, surely_by_item

SUFFIXES = "~0", "~1"
"""Ends of the names of the streams of each half."""
HOP = 12.0
"""Cycles per level of the trees, measured on the cycle model: words of the two wait for each other's accesses, and for slots."""
LEAST = 3
"""Words of the shortest message of which both halves have some."""

WORTH = 3
"""Nodes from which on processors may have fewer accesses than on a single tree."""


class _OnOneTree(StrAllreduce):
    """On the first or the second of two trees, as if it had the whole message."""

    def __init__(self, half: int) -> None:
        super().__init__(by_item=True)
        self.half = half

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        nodes = operator.instances[instance].nodes
        return two_trees(nodes, topology, operator.valid and taking_part(operator, instance))[self.half]

    def down_links(self, operator: Operator, instance: int, context: Context) -> Links | None:
        """Links of the multicast, in a box along one dimension after the other. The roots of the two trees of a mesh are in its
        first and its last column, so where words of the one turn off into rows, those of the other come to the ends of theirs."""
        root, listeners = self.down(operator, instance, context.topology)
        nodes = self.inside(operator, instance, context)
        valid = [k for k, node in enumerate(nodes) if node in listeners]
        return dimension_tree(nodes, context.topology, root, valid).links


class StrAllreduceHalves(Implementation):
    """Two trees that keep the order of the subset, for a half of the message each (str_allreduce_halves; our name)."""

    name = "str_allreduce_halves"
    kinds = ("allreduce",)
    traceable = False
    share = 0.5

    def __init__(self) -> None:
        self.halves = _OnOneTree(0), _OnOneTree(1)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if operator.m < LEAST or not surely_by_item(operator):
            return None
        most = max(len(taking_part(operator, i)) for i in range(len(operator.instances)))
        if most < WORTH and operator.impl is None:
            return None
        accesses, depth = 0, 1
        for i, instance in enumerate(operator.instances):
            trees = [half.tree(operator, i, context.topology) for half in self.halves]
            depth = max(depth, *(tree.depth for tree in trees))
            for node in instance.nodes:
                here = [tree.nodes[node] for tree in trees if node in tree.nodes]
                accesses = max(accesses, sum(2 - (one.parent is None) + len(one.children) for one in here))
        return Metric(words_per_cycle=2 / max(4, accesses), latency=HOP * depth)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            replace(with_suffix(stream, suffix), weight=self.share * stream.weight)
            for half, suffix in zip(self.halves, SUFFIXES, strict=True)
            for stream in half.streams(operator, context)
        ]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        drafts = [
            (half, one.gen_io(operator, wiring.ending_in(suffix), instance, node, values))
            for half, (one, suffix) in enumerate(zip(self.halves, SUFFIXES, strict=True))
        ]
        # Of all accesses that it can make the processor makes the last in this order: first those of a leaf. Where they had to
        # wait, words of the other half missed slots, and went on missing them, in a schedule without a slot to spare.
        drafts.sort(key=lambda one: -len(one[1].lanes))
        lanes: list[LaneImage] = []
        combines: list[Combination] = []
        for half, draft in drafts:
            before = len(lanes)
            combines += (replace(one, step=before + one.step) for one in draft.combines)
            lanes += (
                replace(lane, half=half, after=None if lane.after is None else before + lane.after)
                for lane in draft.lanes
            )
        return replace(drafts[0][1], lanes=tuple(lanes), combines=tuple(combines))


IN_HALVES: tuple[Implementation, ...] = (StrAllreduceHalves(),)
