"""Circular and end-off shifts, and permutations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def partners(one: Any) -> dict[int, int]:
    return {stream.source: stream.destinations[0] for stream in one.wiring.routed.streams}


def test_a_circular_shift_joins_each_node_with_the_one_so_far_on(wired: Callable[..., Any]) -> None:
    assert partners(wired("str_shift", "(cshift 'o 2 :m 5)")) == {k: (k + 2) % 6 for k in range(6)}


def test_over_the_edge_of_an_end_off_shift_come_zeros(wired: Callable[..., Any]) -> None:
    one = wired("str_shift", "(eoshift 'o 2 :m 5)")
    assert partners(one) == {0: 2, 1: 3, 2: 4, 3: 5}
    roles = one.roles()
    assert [len(roles[node].lanes) for node in range(6)] == [1, 1, 2, 2, 1, 1]
    assert all(role.result for role in roles.values())


def test_a_permutation_leaves_fixed_points_in_their_processors(wired: Callable[..., Any]) -> None:
    one = wired("str_permute", "(permute 'o (list 1 0 2 5 3 4) :m 5)")
    assert partners(one) == {0: 1, 1: 0, 3: 5, 4: 3, 5: 4}
    assert one.roles()[2].local


def test_reading_and_writing_keep_within_a_window_of_each_other(wired: Callable[..., Any]) -> None:
    role = wired("str_shift", "(cshift 'o 1 :m 5)").roles()[0]
    assert [lane.pair for lane in role.lanes] == [1, 0]
    assert {lane.window for lane in role.lanes} == {8}
