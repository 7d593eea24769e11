"""Interface addresses: those that conflict are apart, and what does not fit shares the multiplex address."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from pointsman.targets.packet.addresses import Address, allocate
from pointsman.targets.packet.arrivals import Arrival


@pytest.mark.parametrize("seed", range(20))
def test_arrivals_that_conflict_have_different_addresses(seed: int) -> None:
    chance = random.Random(seed)
    arrivals = {Arrival(i, 0, i % 2): chance.choice([1.0, 5.0, 20.0]) for i in range(10)}
    conflicts: dict[int, set[frozenset[Arrival]]] = {node: set() for node in range(2)}
    for one, other in combinations(arrivals, 2):
        if one.node == other.node and chance.random() < 0.6:
            conflicts[one.node].add(frozenset((one, other)))
    most = chance.choice([2, 3, 16])
    found = allocate(arrivals, conflicts, most)
    assert found.keys() == arrivals.keys()
    assert all(1 <= address.number < most for address in found.values())
    for one, other in (tuple(pair) for pairs in conflicts.values() for pair in pairs):
        assert found[one] != found[other]


def test_the_busiest_keep_addresses_of_their_own() -> None:
    arrivals = {Arrival(i, 0, 0): float(i) for i in range(4)}
    conflicts = {0: {frozenset(pair) for pair in combinations(arrivals, 2)}}
    found = allocate(arrivals, conflicts, 3)
    assert found[Arrival(3, 0, 0)] == Address(1)
    shared = [found[Arrival(i, 0, 0)] for i in range(3)]
    assert {address.number for address in shared} == {2}
    assert len({address.virtual for address in shared}) == 3


def test_without_conflicts_all_share_one() -> None:
    assert set(allocate({Arrival(i, 0, 0): 1.0 for i in range(5)}, {}, 16).values()) == {Address(1)}
