"""One word up and one down: who waits for whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_the_root_writes_after_all_have_come_and_everybody_reads_last(wired: Callable[..., Any]) -> None:
    one = wired("str_barrier_tree", "(barrier 'o)")
    streams = {stream.name: stream for stream in one.wiring.routed.streams}
    down = streams.pop("o[0].down")
    assert set(down.destinations) == set(range(6))
    assert {stream.source for stream in streams.values()} == set(range(6)) - {down.source}
    for node, role in one.roles().items():
        assert [lane.write for lane in role.lanes].count(True) == 1
        assert not role.lanes[-1].write
        assert [lane.after for lane in role.lanes] == [None, *range(len(role.lanes) - 1)]
        assert all(lane.after_all for lane in role.lanes[1:]), node
