"""Streams that join in the routers, two sets of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.timeline.one_call import call_cycles


def test_each_set_joins_streams_of_its_own(wired: Callable[..., Any]) -> None:
    one = wired("str_collect_tracks", "(collect 'o 3 :m 5)")
    streams = {stream.name: stream for stream in one.wiring.routed.streams}
    assert len(streams) == 10
    assert all(stream.into is None or stream.into[-2:] == name[-2:] for name, stream in streams.items())
    roles = one.roles()
    registers = [lane.registers for node in range(6) for lane in roles[node].lanes]
    assert [len(set(each)) for each in registers] == [2] * 6


def test_long_messages_take_about_half_the_cycles() -> None:
    cycles = []
    for impl in ("str_collect", "str_collect_tracks"):
        program = compile_text(f"(collect 'c 0 :m 60 :impl '{impl})", topology=mesh(4, 1))
        plan = make_plan(program, NodeShape(), name="c", period=12)
        cycles.append(call_cycles(plan, "c", (), 1200, writers=(3,)))
    assert cycles[1] < 0.65 * cycles[0]
