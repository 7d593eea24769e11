"""All-to-all on square tori: everything once, and no link or port twice."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from pointsman.connections.algorithms.square_torus import families, square_all_to_all, square_rows_and_columns, suits
from pointsman.network import torus
from pointsman.network.dimension_order import way


def conflicts(configuration, topology, ways) -> int:
    used: Counter = Counter()
    for source, destination in configuration:
        if (source, destination) not in ways:
            ways[source, destination] = way(topology, source, destination)
        used.update(pairwise(ways[source, destination]))
        used["from", source] += 1
        used["to", destination] += 1
    return sum(number > 1 for number in used.values())


@pytest.mark.parametrize("side", [8, 12, 16, 20, 24, 28, 32, 36])
def test_families_have_every_pair_of_a_ring_once(side):
    found = families(side)
    lines = [line for family in found for line in family.configurations]
    assert len(lines) == side * side // 8
    assert sorted(pair for line in lines for pair in line) == [(s, d) for s in range(side) for d in range(side)]
    ring = torus(side)
    assert not any(conflicts([(s, d) for s, d in line if s != d], ring, {}) for line in lines)
    for family in found:
        assert sorted(node for group in family.groups for node in group) == list(range(side))
        for s, line in enumerate(family.configurations):
            nodes = {*family.groups[s], *family.groups[(s + 1) % len(family.groups)]}
            assert {source for source, _ in line} == {destination for _, destination in line} == nodes


@pytest.mark.parametrize(
    ("side", "count"),
    [
        (8, 64),
        (12, 216),
        *(pytest.param(side, count, marks=pytest.mark.slow) for side, count in ((16, 512), (24, 1728))),
    ],
)
def test_all_pairs_take_as_many_configurations_as_the_links_permit(side, count):
    found = square_all_to_all(side)
    assert len(found) == count == side**3 // 8
    topology, ways = torus(side, side), {}
    assert not any(conflicts(configuration, topology, ways) for configuration in found)
    pairs = [pair for configuration in found for pair in configuration]
    assert len(pairs) == len(set(pairs)) == side**4


@pytest.mark.parametrize("side", [20, 24, *(pytest.param(side, marks=pytest.mark.slow) for side in (28, 32))])
def test_counts_are_n_cubed_over_eight_and_ports_are_used_once(side):
    """Links follow from rows and columns, each of which has configurations of a ring."""
    found = square_all_to_all(side)
    assert len(found) == side**3 // 8
    number = np.concatenate([np.full(len(part), index) for index, part in enumerate(found)])
    source, destination = np.array([pair for part in found for pair in part]).T
    assert len(np.unique(source * side**2 + destination)) == side**4
    for port in (source, destination):
        assert len(np.unique(number * side**2 + port)) == len(port)
    # At its turn a connection is in the row of its source and in the column of its destination.
    turn = destination % side + side * (source // side)
    for ends in ((source, turn), (turn, destination)):
        used = np.unique(number * side**4 + ends[0] * side**2 + ends[1])
        assert len(used) == len(source)


@pytest.mark.parametrize(("side", "count"), [(12, None), (16, 32), (20, 50), (24, 72), (32, 128)])
def test_rows_and_columns_take_as_many_configurations_as_published(side, count):
    found = square_rows_and_columns(side)
    assert count is None or len(found) == count
    topology, ways = torus(side, side), {}
    assert not any(conflicts(configuration, topology, ways) for configuration in found)
    pairs = [pair for configuration in found for pair in configuration]
    assert len(pairs) == len(set(pairs)) == side**2 * (2 * side - 2)


def test_only_square_tori_of_multiples_of_four_are_known():
    assert [suits(size) for size in ((8, 8), (16, 16), (8, 12), (10, 10), (4, 4), (8,), (8, 8, 8))] == [
        True,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
