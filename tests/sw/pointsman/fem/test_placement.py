"""Parts on network nodes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.fem.placement import placed
from pointsman.network import mesh, torus


def cost(words, topology, at):
    pairs = [(i, j) for i in range(len(words)) for j in range(len(words)) if i != j]
    return sum(int(words[i, j]) * topology.across((int(at[i]), int(at[j]))) for i, j in pairs)


@pytest.mark.parametrize("seed", range(3))
def test_small_placements_are_the_best_there_are(seed):
    random = np.random.default_rng(seed)
    words = np.triu(random.integers(0, 9, (5, 5)), 1)
    at, before, after = placed(words, mesh(3, 2))
    assert before == cost(words, mesh(3, 2), range(5))
    assert after == cost(words, mesh(3, 2), at)
    assert after == min(cost(words, mesh(3, 2), chosen) for chosen in permutations(range(6), 5))


def test_a_shuffled_grid_is_put_straight():
    random = np.random.default_rng(0)
    topology, order = torus(4, 4), random.permutation(16)
    words = np.zeros((16, 16), int)
    for link in topology.links:
        words[order[link.node], order[link.other]] = 1
    at, before, after = placed(words, topology)
    assert after <= 1.3 * len(topology.links) < before
    assert sorted(at.tolist()) == list(range(16))


def test_more_parts_than_nodes_are_refused():
    with pytest.raises(PointsmanError, match="5 parts do not fit on 4 nodes of the 2x2 mesh, one each"):
        placed(np.zeros((5, 5), int), mesh(2, 2))
