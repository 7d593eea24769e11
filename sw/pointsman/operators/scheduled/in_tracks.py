"""Streams that join in the routers, two sets of them side by side.

A word that passes an interface register on its way holds it for `SHORTEST_RELAY` + `SHORTEST_REFILL` cycles, so a set of streams
that join in registers carries a word every six cycles at best. Two sets carry two: word k of a message takes set k mod 2, as with
a stream of two chains (`pointsman.routing.streams`), which the streams of a set have not: a register joins single chains. Writers
and readers begin each message with the first set, so that what holds for the words of one message behind another's holds in each
set.
"""

from __future__ import annotations

from dataclasses import replace

from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring, with_suffix
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .broadcast_variants import StrBcastTree
from .collect import StrCollect

SUFFIXES = "~0", "~1"
"""Ends of the names of the streams of each set."""


class InTracks(Implementation):
    """``inner``, whose streams join in routers and whose load functions rewrite nothing, with two sets of streams."""

    played_only = True

    def __init__(self, name: str, inner: Implementation) -> None:
        self.name = name
        self.inner = inner
        self.kinds = inner.kinds
        self.processor_bound = inner.processor_bound
        self.traceable = inner.traceable

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        found = self.inner.metric(operator, context)
        return found and Metric(len(SUFFIXES) * found.words_per_cycle, found.latency)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        found = self.inner.streams(operator, context)
        return [with_suffix(stream, suffix) for suffix in SUFFIXES for stream in found]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        views = [wiring.ending_in(suffix) for suffix in SUFFIXES]
        drafts = [self.inner.gen_io(operator, view, instance, node, values) for view in views]
        lanes = zip(*(draft.lanes for draft in drafts), strict=True)
        return replace(drafts[0], lanes=tuple(_in_turn(lane) for lane in lanes))


def _in_turn(lanes: tuple[LaneImage, ...]) -> LaneImage:
    """A lane that uses the registers of all of ``lanes`` in turn."""
    return replace(lanes[0], registers=tuple(register for lane in lanes for register in lane.registers))


IN_TRACKS: tuple[Implementation, ...] = (
    InTracks("str_collect_tracks", StrCollect()),
    InTracks("str_bcast_tree_tracks", StrBcastTree()),
)
