"""Bounds of the degree, where the least number of configurations is known."""

from __future__ import annotations

import pytest

from pointsman.artifacts.configurations.configurations import ConnectionProblem, Network
from pointsman.connections.bounds import bounds_of
from pointsman.connections.conflicts import conflicts_of


def values(problem: ConnectionProblem) -> list[int]:
    return [int(bound.value) for bound in bounds_of(conflicts_of(problem))]


def test_with_fixed_paths_the_busiest_link_counts() -> None:
    # Three connections cross the middle of the row from left to right.
    assert values(ConnectionProblem(Network("mesh", (4,)), ((0, 2), (1, 3), (0, 3)))) == [3]


@pytest.mark.parametrize("side", [3, 4])
def test_with_free_paths_the_tightest_comes_first_and_none_is_above_what_fixed_paths_need(side: int) -> None:
    nodes = side * side
    pairs = tuple((a, b) for a in range(nodes) for b in range(nodes) if a != b)
    free = values(ConnectionProblem(Network("mesh", (side, side)), pairs, "free"))
    assert free == sorted(free, reverse=True)
    assert free[0] >= nodes - 1, "every node sends to all others"
    assert free[0] <= values(ConnectionProblem(Network("mesh", (side, side)), pairs))[0]


def test_a_crossbar_is_bounded_by_its_ports() -> None:
    assert values(ConnectionProblem(Network("crossbar", (4,)), ((0, 1), (0, 2), (3, 2)), "free")) == [2]
