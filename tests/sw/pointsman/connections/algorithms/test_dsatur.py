"""Saturation first."""

from __future__ import annotations

import pytest

from pointsman.artifacts.configurations.configurations import ConnectionProblem, Network
from pointsman.connections.algorithms.dsatur import dsatur
from pointsman.connections.conflicts import conflicts_of, load_bound


@pytest.mark.parametrize("seed", range(4))
def test_configurations_use_nothing_twice(seed, random_conflicts, uses_nothing_twice):
    conflicts = random_conflicts(seed)
    colours = dsatur(conflicts)
    assert uses_nothing_twice(conflicts, colours)
    assert colours.min() == 0
    assert colours.max() + 1 >= load_bound(conflicts).value


def test_as_many_configurations_as_a_sender_has_connections_when_nothing_else_is_shared():
    star = conflicts_of(ConnectionProblem(Network("crossbar", (6,)), tuple((0, node) for node in range(6))))
    assert sorted(dsatur(star).tolist()) == list(range(6))


def test_nothing_to_place():
    assert dsatur(conflicts_of(ConnectionProblem(Network("mesh", (3,)), ()))).tolist() == []
