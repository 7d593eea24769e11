"""Tabu search: everybody has a place, or it says that somebody has none."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.connections.algorithms.dsatur import dsatur
from pointsman.connections.algorithms.tabu import FREE, place_all, without_last
from pointsman.connections.conflicts import load_bound


@pytest.mark.parametrize("routing", ["xy", "free"])
def test_all_are_placed_in_one_configuration_less_where_the_bound_allows(routing, random_conflicts, uses_nothing_twice):
    conflicts = random_conflicts(2, 120, routing)
    colours, chosen = dsatur(conflicts), conflicts.ways[:-1].copy()
    degree = max(int(load_bound(conflicts).value), int(colours.max()))
    trial = without_last(colours, conflicts, chosen, degree)
    assert place_all(conflicts, trial, chosen, degree, 20_000, 1)
    assert 0 <= trial.min() <= trial.max() < degree
    assert uses_nothing_twice(conflicts, trial, chosen)


def test_below_the_load_of_a_link_not_all_can_be_placed(random_conflicts):
    conflicts = random_conflicts(3)
    degree = int(load_bound(conflicts).value) - 1
    colours = np.full(conflicts.connections, FREE)
    assert not place_all(conflicts, colours, conflicts.ways[:-1].copy(), degree, 500, 0)


def test_the_configurations_with_the_fewest_links_lose_their_places(random_conflicts):
    conflicts = random_conflicts(4)
    colours = np.zeros(conflicts.connections, np.int64)
    colours[7] = 1  # alone: the shorter configuration of the two
    left = without_last(colours, conflicts, conflicts.ways[:-1], 1)
    assert np.flatnonzero(left == FREE).tolist() == [7]
    assert set(left.tolist()) == {0, FREE}
