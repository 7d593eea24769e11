"""Edge colouring of crossbars: always as many colours as the busiest port has connections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.connections import colour_crossbar
from pointsman.connections.algorithms.crossbar import edge_colours
from pointsman.errors import PointsmanError


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_the_degree_is_that_of_the_busiest_port(case):
    ports, pairs = case
    answer = colour_crossbar(list(pairs), ports)
    busiest = max((sum(p[side] == port for p in pairs) for side in (0, 1) for port in range(ports)), default=0)
    assert len(answer) == busiest
    assert sorted(pair for part in answer for pair in part) == sorted(pairs)
    for part in answer:
        assert len({s for s, _ in part}) == len({d for _, d in part}) == len(part)


@pytest.mark.parametrize("ports", [1, 7, 64])
def test_a_full_crossbar_takes_as_many_as_it_has_ports(ports):
    pairs = [(u, v) for u in range(ports) for v in range(ports)]
    np.random.default_rng(ports).shuffle(pairs)
    assert len(colour_crossbar(list(map(tuple, pairs)), ports)) == ports


def test_parallel_edges_have_different_colours():
    pairs = np.array([(0, 0)] * 3 + [(1, 0)] * 2 + [(1, 1)] * 3)
    colours = edge_colours(pairs, 2)
    assert colours.max() == 4
    for port in (0, 1):
        for side in (0, 1):
            mine = colours[pairs[:, side] == port]
            assert len(set(mine.tolist())) == len(mine)


def test_ports_that_are_not_there_are_refused():
    with pytest.raises(PointsmanError, match=r"connections\[0\]: a node must be one of 0\.\.1, not 2"):
        colour_crossbar([(0, 2)], 2)
