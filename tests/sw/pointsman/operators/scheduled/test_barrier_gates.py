"""Gates of the barrier in the router."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_gates_of_both_snakes_are_shut_at_first_and_open_in_turn(wired: Callable[..., Any]) -> None:
    one = wired("str_barrier", "(barrier 'o)")
    assert one.implementation.stages(one.operator) == 3
    for role in one.roles().values():
        shut, *open_in_turn = role.each
        assert not shut.lanes
        assert all(setting.vfsm.source.kind == "nop" for setting in shut.settings)
        assert len({stage.settings for stage in open_in_turn}) == (2 if shut.settings else 1)


def test_only_the_head_of_the_snake_sends_and_all_wait(wired: Callable[..., Any]) -> None:
    roles = wired("str_barrier", "(barrier 'o)").roles()
    writers = [node for node, role in roles.items() if any(lane.write for stage in role.each for lane in stage.lanes)]
    assert len(writers) == 1
    assert all(any(not lane.write for lane in stage.lanes) for role in roles.values() for stage in role.each[1:])
