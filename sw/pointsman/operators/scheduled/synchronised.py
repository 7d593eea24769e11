"""Operators whose load functions meet in a barrier before and after they rewrite the router.

Words of the old values must not meet rewritten VFSMs, nor words of the new values VFSMs not yet rewritten: they would go to the
wrong place. Message-bound operators know from their own words that no node still uses the old values. The load functions of the
others meet twice: (1) when all nodes have finished with the old values, and words that routers drop have had time to leave,
(2) when all have rewritten. The barrier belongs to the operator, so it runs in its phase beside other operators. A load with
unchanged values skips both meetings.

A value that only the node knows that it names (``:distributed``) is told in the first meeting: the barrier's words carry it
up the tree and down to all. Then no load skips that meeting, as no node knows whether the value is another.
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

MEETING = StrBarrierTree(prefix="meet-", part=True)


class Synchronised(Implementation, ABC):
    """Base class of implementations whose load functions meet in a barrier."""

    loading = Loading.SYNCHRONISED
    traceable = False

    def meeting_streams(self, operator: Operator, context: Context) -> list[Stream]:
        """Streams of the barrier, to be routed with the operator's own."""
        return MEETING.streams(operator, context)

    def meeting_lanes(self, operator: Operator, wiring: Wiring, instance: int, node: int) -> tuple[LaneImage, ...]:
        """The node's part in the barrier; these lanes come first in its role. They are the same for all run-time values."""
        key = operator.label, instance, node
        found = wiring.meetings.get(key)
        if found is None:
            draft = MEETING.gen_io(operator, wiring, instance, node, ())
            found = wiring.meetings[key] = tuple(replace(lane, turn=SYNC) for lane in draft.lanes)
        return found


def shifted(lanes: list[LaneImage], by: int) -> tuple[LaneImage, ...]:
    """The lanes with their references to each other raised by ``by``, the number of lanes that come before them in the role."""
    return tuple(
        replace(
            lane,
            after=None if lane.after is None else lane.after + by,
            pair=None if lane.pair is None else lane.pair + by,
        )
        for lane in lanes
    )
