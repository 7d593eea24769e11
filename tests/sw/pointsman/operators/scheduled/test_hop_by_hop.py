"""Words passed on in the routers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize("name", ["str_collect_runtime", "str_collect_tree", "str_collect_dim", "sch_collect_dense"])
def test_hops_that_come_in_go_on_but_at_the_destination(name: str, wired: Callable[..., Any]) -> None:
    one = wired(name, f"(collect 'o (runtime) :m 5 :impl '{name})")
    for destination in range(6):
        roles = one.roles((destination,))
        read = {n for n, role in roles.items() if any(lane.data == "in" and not lane.write for lane in role.lanes)}
        assert read == {destination}
        assert {n for n, role in roles.items() if role.kind == "write"} == set(range(6)) - {destination}
        (arrival,) = {s.vfsm.destination for s in roles[destination].settings}
        assert arrival.kind == "register"


def test_a_stream_to_the_node_itself_stays_in_its_processor(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_tree", "(stream 'o (runtime) (runtime) :m 5 :impl 'str_stream_tree)")
    assert one.roles((2, 2))[2].local
    assert [one.roles((2, 5))[node].kind for node in (2, 5)] == ["write", "read"]
