"""All-reduces and reductions of long messages on two trees, a half of the message on each (Sanders, Speck and Träff 2009).

With n nodes each index of a vector takes 3n - 2 accesses in all until every node has the outcome. Two chains spread them evenly,
three a processor, and have n / 2 levels; a tree of two children a node has few levels, and four accesses of the nodes inside it.
Of two trees (`pointsman.operators.trees.two_trees`) one has as leaves those that are inside the other: few levels, and six
accesses of a processor for a word of each half. Of a reduction they have four, two a word, as on a chain.
"""

from __future__ import annotations

from dataclasses import replace

from pointsman.artifacts.images.images import Combination, LaneImage
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import is_constant, taking_part
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring, with_suffix
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream, accesses

from .reduce import StrAllreduce, StrReduce, TreeShape, surely_by_item

SUFFIXES = "~0", "~1"
"""Ends of the names of the streams of each half."""
HOP = 12.0
"""Cycles per level of the trees, measured on the cycle model: words of the two wait for each other's accesses, and for slots."""
LEAST = 3
"""Words of the shortest message of which both halves have some."""

WORTH = {"allreduce": 3, "reduce": 5}
"""Nodes of an instance from which on processors have fewer accesses than on a single tree, or words pass fewer of them."""


class StrHalves(Implementation):
    """Two trees that keep the order of the subset, for a half of the message each (str_allreduce_halves, str_reduce_halves; our
    names)."""

    traceable = False
    share = 0.5

    def __init__(self, name: str, halves: tuple[StrAllreduce, StrAllreduce] | tuple[StrReduce, StrReduce]) -> None:
        self.name = name
        self.halves = halves
        self.kinds = halves[0].kinds

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if operator.m < LEAST or not surely_by_item(operator):
            return None
        if operator.kind == "reduce" and not is_constant(operator, "destination"):
            return None
        most = max(len(taking_part(operator, i)) for i in range(len(operator.instances)))
        if most < WORTH[operator.kind] and operator.impl is None:
            return None
        depth = max(half.depth(operator, context) for half in self.halves)
        ends = accesses(self.streams(operator, context))
        return Metric(words_per_cycle=2 / max(4, *ends.values(), 0), latency=HOP * max(1, depth))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            replace(
                with_suffix(stream, suffix),
                weight=self.share * stream.weight,
                turn=None if stream.turn is None else stream.turn._replace(part=part),
            )
            for part, (half, suffix) in enumerate(zip(self.halves, SUFFIXES, strict=True))
            for stream in half.streams(operator, context)
        ]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        drafts = [
            (half, one.gen_io(operator, wiring.ending_in(suffix), instance, node, values))
            for half, (one, suffix) in enumerate(zip(self.halves, SUFFIXES, strict=True))
        ]
        # Of all accesses that it can make the processor makes the last in this order, and which of them have to wait decides
        # whether words miss slots, and go on missing them, in a schedule without a slot to spare. Where some do in any order,
        # those of a leaf come first.
        order = wiring.parts_in_pace(operator.label, node)
        drafts.sort(key=lambda one: order.index(one[0]) if order else -len(one[1].lanes))
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


def _allreduce(tree_shape: TreeShape) -> StrAllreduce:
    return StrAllreduce(by_item=True, tree_shape=tree_shape)


IN_HALVES: tuple[Implementation, ...] = (
    StrHalves("str_allreduce_halves", (_allreduce(TreeShape.FIRST), _allreduce(TreeShape.SECOND))),
    StrHalves("str_reduce_halves", (StrReduce(TreeShape.FIRST), StrReduce(TreeShape.SECOND))),
)
