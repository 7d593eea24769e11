"""Iterated greedy: never more configurations than before."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.connections.algorithms.iterated import iterated_greedy


@pytest.mark.parametrize("routing", ["xy", "free"])
@pytest.mark.parametrize("seed", range(3))
def test_it_improves_one_connection_a_configuration_and_keeps_them_apart(
    seed, routing, random_conflicts, uses_nothing_twice
):
    conflicts = random_conflicts(seed, routing=routing)
    answers = []
    for _ in range(2):
        colours, chosen = np.arange(conflicts.connections), conflicts.ways[:-1].copy()
        count = len(colours)
        for turn in range(4):
            iterated_greedy(conflicts, colours, chosen, 1, 1, turn)
            assert uses_nothing_twice(conflicts, colours, chosen)
            assert colours.max() + 1 <= count
            count = int(colours.max()) + 1
        assert count < conflicts.connections / 3
        answers.append((colours.tolist(), chosen.tolist()))
    assert answers[0] == answers[1]


def test_it_leaves_what_meets_the_bound_already(random_conflicts):
    conflicts = random_conflicts(1)
    colours, chosen = np.arange(conflicts.connections), conflicts.ways[:-1].copy()
    iterated_greedy(conflicts, colours, chosen, conflicts.connections, 5, 0)
    assert colours.tolist() == list(range(conflicts.connections))
