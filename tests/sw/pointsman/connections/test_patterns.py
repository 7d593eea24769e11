"""Patterns have as many connections as Yuan 1998, Table 5.6, says."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.connections.patterns import (
    all_to_all_pattern,
    hypercube_pattern,
    neighbour_pattern,
    random_distribution,
    random_pattern,
    redistribution,
    ring_pattern,
    shuffle_exchange_pattern,
)
from pointsman.errors import PointsmanError
from pointsman.network import torus


def test_counts_on_64_nodes():
    assert len(ring_pattern(64)) == 128
    assert len(neighbour_pattern(torus(8, 8))) == 256
    assert len(hypercube_pattern(64)) == 384
    assert len(shuffle_exchange_pattern(64)) == 126
    assert len(all_to_all_pattern(64)) == 4032


def test_random_pairs_are_different():
    pairs = random_pattern(64, 4032, 1)
    assert sorted(pairs) == all_to_all_pattern(64)
    assert random_pattern(64, 10, 1) != random_pattern(64, 10, 2)


def test_a_redistribution_is_what_the_owners_of_each_element_say():
    before, after = [(2, 1), (2, 3)], [(4, 2), (1, 5)]
    expected = set()
    for i in range(10):
        for j in range(10):
            old = (i // 1 % 2) * 2 + j // 3 % 2
            new = (i // 2 % 4) * 1 + 0
            expected.add((old, new))
    assert redistribution(10, before, after) == sorted(pair for pair in expected if pair[0] != pair[1])


def test_random_distributions_leave_nobody_without_elements():
    random = np.random.default_rng(1)
    for _ in range(50):
        parts = random_distribution(64, 64, random)
        assert np.prod([processors for processors, _ in parts]) == 64
        assert all(processors * block <= 64 for processors, block in parts)


def test_sizes_that_are_no_powers_of_two_are_refused():
    with pytest.raises(PointsmanError, match="must be a power of two, not 6"):
        hypercube_pattern(6)
