"""The basic patterns."""

from __future__ import annotations

import pytest

from pointsman.connections.channels.patterns import gray_hypercube, pattern
from pointsman.errors import PointsmanError


def test_a_gray_coded_hypercube_has_six_neighbours_a_node_and_as_many_ring_neighbours_as_possible():
    pairs = gray_hypercube((8, 8))
    assert len(pairs) == len(set(pairs)) == 64 * 6
    assert {(v, u) for u, v in pairs} == set(pairs)
    assert sum(abs(u - v) in (1, 7) and u // 8 == v // 8 for u, v in pairs) == 64 * 2


def test_unknown_patterns_and_sides_are_refused():
    with pytest.raises(PointsmanError, match="there is no pattern 'ring'"):
        pattern("ring", (4,), 1)
    with pytest.raises(PointsmanError, match="must be powers of two"):
        pattern("hypercube", (6, 6), 1)
