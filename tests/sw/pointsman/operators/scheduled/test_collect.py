"""Trees of streams that join on their way to the destination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_all_write_and_the_destination_reads_at_one_register(wired: Callable[..., Any]) -> None:
    one = wired("str_collect", "(collect 'o 3 :m 5)")
    roles = one.roles()
    assert {node for node, role in roles.items() if role.kind == "both"} == {3}
    assert {node for node, role in roles.items() for lane in role.lanes if lane.write} == set(range(6)) - {3}
    assert len(roles[3].lanes) == 1


def test_streams_lead_to_the_destination(wired: Callable[..., Any]) -> None:
    streams = wired("str_collect", "(collect 'o 3 :m 5)").wiring.routed.streams
    onward = {stream.source: stream.destinations[0] for stream in streams}
    for node in range(6):
        for _ in range(6):
            node = onward.get(node, node)
        assert node == 3


def test_direct_streams_share_the_register_at_the_destination(wired: Callable[..., Any]) -> None:
    one = wired("str_collect_direct", "(collect 'o 3 :m 5 :valid '(0 1 3))")
    streams = one.wiring.routed.streams
    assert {(stream.source, stream.destinations) for stream in streams} == {(0, (3,)), (1, (3,))}
    assert one.wiring.registers_used == {0: 1, 1: 1, 3: 1}
    roles = one.roles()
    assert [len(roles[node].lanes) for node in range(6)] == [1, 1, 0, 1, 0, 0]


def test_a_source_at_run_time_writes_and_the_others_rest(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_rtsrc", "(stream 'o (runtime :values (list 0 4)) 3 :m 5 :impl 'str_stream_rtsrc)")
    kinds = {node: role.kind for node, role in one.roles((4,)).items()}
    assert kinds == {0: "none", 1: "none", 2: "none", 3: "read", 4: "write", 5: "none"}
