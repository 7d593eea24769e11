"""Operators whose load functions meet in a barrier before and after they rewrite the router.

What a load function rewrites must not meet words that belong to the values before: these would come to the wrong place,
and so would words of a node that is ahead. Message-bound operators know from their own words that nobody is behind;
the others meet: (1) all have finished with the old values, and words that the router drops have had time to go, (2) all
have rewritten. The barrier is the operator's own, so it runs in its phase beside anything else. A load with the values of
the one before skips both.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import replace

from pointsman.artifacts.images.images import SYNC, LaneImage
from pointsman.operators.api.implementation import Context, Implementation
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .barrier import StrBarrierTree

MEETING = StrBarrierTree(prefix="meet-")


class Synchronised(Implementation, ABC):
    """What is common to implementations whose load functions rewrite in step."""

    loading = Loading.SYNCHRONISED
    traceable = False

    def meeting_streams(self, operator: Operator, context: Context) -> list[Stream]:
        """Streams of the barrier, to be routed with the operator's own."""
        return MEETING.streams(operator, context)

    def meeting_lanes(self, operator: Operator, wiring: Wiring, instance: int, node: int) -> tuple[LaneImage, ...]:
        """The node's part in the barrier; these lanes come first in its role."""
        draft = MEETING.gen_io(operator, wiring, instance, node, ())
        return tuple(replace(lane, turn=SYNC) for lane in draft.lanes)


def shifted(lanes: list[LaneImage], by: int) -> tuple[LaneImage, ...]:
    """Lanes that stand behind ``by`` others."""
    return tuple(
        replace(
            lane,
            after=None if lane.after is None else lane.after + by,
            pair=None if lane.pair is None else lane.pair + by,
        )
        for lane in lanes
    )
