"""Messages to or from several nodes in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pointsman.operators.scheduled.fan_and_chain import StrChain, ends


@pytest.mark.parametrize("name", ["str_gather", "str_gather_chain"])
def test_a_gather_reads_once_for_each_other_node(name: str, wired: Callable[..., Any]) -> None:
    roles = wired(name, f"(gather 'o 1 :m 5 :impl '{name})").roles()
    assert roles[1].kind == "read"
    assert roles[1].turns == 5
    assert {lane.turn for lane in roles[1].lanes if not lane.write and lane.turn >= 0} == set(range(5))
    assert all(role.kind == "write" for node, role in roles.items() if node != 1)


@pytest.mark.parametrize("name", ["str_spread", "str_spread_chain"])
def test_a_spread_writes_once_for_each_other_node(name: str, wired: Callable[..., Any]) -> None:
    roles = wired(name, f"(spread 'o 1 :m 5 :impl '{name})").roles()
    assert roles[1].kind == "write"
    assert {lane.turn for lane in roles[1].lanes if lane.write and lane.turn >= 0} == set(range(5))
    assert all(role.kind == "read" for node, role in roles.items() if node != 1)


def test_a_chain_goes_through_the_nodes_in_their_order(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(seqwrite 'o 2 (list 0 5 3) :m 5)")
    assert ends(operator, 0) == (2, [0, 5, 3])
    chain = StrChain("str_seqwrite", "seqwrite")
    assert chain.links(operator, 0) == [(2, 0), (0, 5), (5, 3)]
    assert chain.stages(operator) == 4
