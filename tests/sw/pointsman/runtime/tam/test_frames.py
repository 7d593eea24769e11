"""Frames from bins: used again as if they were new, refused where there is no room."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.tam import assemble
from pointsman.runtime.tam.frames import NODE_SHIFT, Frames, FrameState

PROGRAM = assemble("codeblock main\n slots a\n inlet s a\n thread t 2\n  stop\ncodeblock other\n slots a, b\n")


def test_a_frame_is_used_again_for_as_many_slots_and_nothing_is_left_in_it() -> None:
    frames = Frames(5, PROGRAM, 2)
    one = frames.allocate(0)
    assert one is not None
    frame = frames.at(one, "used")
    frame.slots[0], frame.counters[0] = 7, 1
    assert one >> NODE_SHIFT == 5
    assert frames.allocate(1) is not None
    assert frames.allocate(0) is None
    frames.free(one)
    assert frames.allocate(1) is None
    assert frames.allocate(0) == one
    assert (frame.slots, frame.counters, frame.state) == ([None], [2], FrameState.IDLE)
    assert frames.peak == 2


def test_frames_are_freed_once_and_not_while_threads_are_enabled() -> None:
    frames = Frames(0, PROGRAM, 2)
    one = frames.allocate(0)
    assert one is not None
    frames.at(one, "used").remote.append(0)
    with pytest.raises(PointsmanError, match="a frame of main on node 0 is freed with threads that are enabled"):
        frames.free(one)
    frames.at(one, "used").remote.clear()
    frames.free(one)
    with pytest.raises(PointsmanError, match="frame 0 on node 0 is freed twice"):
        frames.free(one)
    with pytest.raises(PointsmanError, match="frame 9 on node 0 is used, and there is none"):
        frames.at(9, "used")
