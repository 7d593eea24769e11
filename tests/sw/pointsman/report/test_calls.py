"""What calls of I/O functions show: when messages were under way, and what nodes waited for."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pointsman.report.calls import under_way, united, waits


class Call(NamedTuple):
    node: int
    label: str
    what: str
    start: int
    end: int


BOTH = {"s": [frozenset({0, 1})]}


def test_spans_that_overlap_or_touch_are_one() -> None:
    assert united([(5, 9), (0, 2), (2, 3), (8, 12)]) == [(0, 3), (5, 12)]
    assert united([]) == []


def test_message_is_under_way_from_first_call_to_last_at_any_node() -> None:
    calls = [
        Call(0, "s", "load", 0, 2),
        Call(1, "s", "load", 0, 50),
        Call(0, "s", "write", 2, 12),
        Call(1, "s", "read", 60, 70),
        Call(0, "s", "load", 100, 100),
        Call(1, "s", "load", 100, 100),
        Call(0, "s", "write", 100, 110),
        Call(1, "s", "read", 101, 112),
    ]
    assert under_way(calls, BOTH) == {"s": [(2, 70), (100, 112)]}


def test_messages_that_cannot_be_told_apart_are_under_way_throughout() -> None:
    calls = [
        Call(0, "s", "load", 0, 0),
        Call(0, "s", "write", 0, 4),
        Call(0, "s", "load", 4, 4),
        Call(0, "s", "write", 30, 34),
        Call(1, "s", "load", 0, 0),
        Call(1, "s", "read", 2, 40),
    ]
    assert under_way(calls, BOTH) == {"s": [(0, 40)]}


def test_nodes_of_other_subsets_do_not_count_for_a_message() -> None:
    calls = [
        Call(0, "s", "load", 0, 0),
        Call(0, "s", "func", 0, 4),
        Call(1, "s", "load", 0, 0),
        Call(1, "s", "func", 50, 54),
    ]
    assert under_way(calls, {"s": [frozenset({0}), frozenset({1})]}) == {"s": [(0, 4), (50, 54)]}
    assert under_way([], BOTH) == {}


def test_waiting_is_for_late_nodes_then_for_slots_then_latency() -> None:
    calls = [
        Call(0, "s", "load", 0, 0),
        Call(1, "s", "load", 0, 0),
        Call(0, "s", "func", 0, 100),
        Call(1, "s", "func", 60, 100),
    ]
    (one,) = waits(calls, BOTH, {"s": 10.0}, {"s": 25.0})
    assert (one.calls, one.last) == (2, 1)
    assert one.cycles == (90 + 30) / 2
    assert one.rate == 15
    assert one.late == 60 / 2
    assert one.rest == pytest.approx(60 - 15 - 30)


def test_call_that_never_waits_has_no_cause() -> None:
    calls = [Call(0, "s", "load", 0, 0), Call(0, "s", "func", 0, 10)]
    (one,) = waits(calls, {"s": [frozenset({0})]}, {"s": 10.0}, {"s": 25.0})
    assert (one.cycles, one.rate, one.late, one.rest) == (0, 0, 0, 0)
