"""Messages of a call: lanes become requests, and two messages one."""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.images.images import Combination, LaneImage
from pointsman.runtime.numesh.messages import combine_messages, lane_request


def test_a_lane_carries_the_message_that_it_names() -> None:
    messages = {"out": np.arange(4, dtype=np.uint32)}
    lane = lane_request(LaneImage(True, (2, 3)), 4, messages)
    assert (lane.write, lane.registers, lane.words) == (True, (2, 3), 4)
    assert lane.data is messages["out"]
    assert lane_request(LaneImage(True, (2,), 1, "token"), 4, messages).data is None
    kept = lane_request(LaneImage(False, (5,), None, "t0"), 4, messages)
    assert kept.data is messages["t0"], "a message in between is made when it first comes"


def test_two_messages_are_combined_in_their_order_into_a_third() -> None:
    messages = {"low": np.array([1, 2], np.uint32), "own": np.array([10, 20], np.uint32)}
    seen = []

    def combine(left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
        seen.append((left, right))
        np.subtract(right, left, out=out)

    combine_messages(Combination(0, "low", "own", "sum"), messages, 2, combine)
    assert seen == [(messages["low"], messages["own"])]
    assert messages["sum"].tolist() == [9, 18]
    combine_messages(Combination(1, "sum", "", "up"), messages, 2, None)
    assert messages["up"].tolist() == [9, 18]
    assert messages["up"] is not messages["sum"]
