"""Levels that counting leaves possible."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.errors import RoutingError
from pointsman.routing.phase_router.counting import Counting
from pointsman.routing.phase_router.problem import NodeLimits, split
from pointsman.routing.streams import Stream


def counting(*streams: Stream, period: int = 8, registers: int = 16) -> Counting:
    parts = split(streams, mesh(3), NodeShape(), ())
    limits = NodeLimits(2, 32, registers, phase_change=True)
    return Counting(streams, parts, limits, period, list(range(len(streams))))


def test_a_stream_of_one_chain_has_a_word_every_other_slot_at_most() -> None:
    found = counting(Stream("a", 0, (1,)), Stream("b", 2, (1,)))
    assert found.limits([16, 16]) == [4, 4]
    assert found.possible([(1, 1), (4, 4), (5, 1)]) == [(1, 1), (4, 4)]


def test_chains_are_as_many_as_registers_allow() -> None:
    two = [Stream("a", 0, (1,), chains=4), Stream("b", 0, (1,), chains=4)]
    assert counting(*two).most_chains == 4
    assert counting(*two, registers=6).most_chains == 2
    assert counting(*two, registers=5).most_chains == 1


def test_what_there_is_too_little_of_is_said() -> None:
    with pytest.raises(
        RoutingError, match="node 1 has too few interface registers for one word of every stream in 8 slots"
    ):
        counting(Stream("a", 0, (1,)), Stream("b", 2, (1,)), registers=3).refuse()
    with pytest.raises(RoutingError, match="stream s cannot reach all its destinations from node 0"):
        counting(Stream("s", 0, (2,), keep_in=frozenset({0, 2})))
