"""Load functions that meet."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pointsman.artifacts.images.images import SYNC, LaneImage
from pointsman.operators.scheduled.synchronised import Synchronised, shifted


def test_lanes_of_the_meeting_come_first_and_join_all_nodes(wired: Callable[..., Any]) -> None:
    roles = wired("str_stream_rtdest", "(stream 'o 1 (runtime) :m 5)").roles((4,))
    for role in roles.values():
        meeting = [lane.turn == SYNC for lane in role.lanes]
        assert any(meeting)
        assert meeting == sorted(meeting, reverse=True)
        assert all(lane.words == 1 for lane in role.lanes if lane.turn == SYNC)


def test_lanes_behind_others_name_each_other_by_their_new_numbers() -> None:
    lanes = [LaneImage(True, (0,), pair=1, window=4), LaneImage(False, (1,), after=0)]
    assert [(lane.pair, lane.after) for lane in shifted(lanes, 3)] == [(4, None), (None, 3)]


def test_the_common_part_is_no_implementation_by_itself() -> None:
    assert inspect.isabstract(Synchronised)
