"""The messages of a call, by name: which of their words lanes move, and how two become one."""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.images.images import Combination, LaneImage
from pointsman.runtime.api.requests import Lane
from pointsman.runtime.api.substrate import Combine


def combine_messages(one: Combination, messages: dict[str, np.ndarray], m: int, combine: Combine | None) -> None:
    """Make the message of m words that ``one`` names, of its left and its right one; of its left one if it names no right one."""
    result = messages.setdefault(one.result, np.zeros(m, np.uint32))
    if one.right:
        assert combine is not None
        combine(messages[one.left], messages[one.right], result)
    else:
        result[:] = messages[one.left]


def lane_request(lane: LaneImage, m: int, messages: dict[str, np.ndarray]) -> Lane:
    """Request for the words of a lane. An intermediate message that ``messages`` lacks is added to it, m words of 0."""
    words = m if lane.words is None else lane.words
    data = None if lane.data == "token" else messages.get(lane.data)
    if data is None and lane.data != "token":
        data = messages[lane.data] = np.zeros(m, np.uint32)
    return Lane(
        lane.write,
        lane.registers,
        words,
        data,
        after=lane.after,
        after_all=lane.after_all,
        pair=lane.pair,
        window=lane.window,
    )
