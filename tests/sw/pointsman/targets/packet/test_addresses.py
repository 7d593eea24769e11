"""Interface addresses: those that conflict are apart, and every arrival has a name of its own."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from packet_router.header import TAGS
from pointsman.targets.packet.addresses import Address, allocate
from pointsman.targets.packet.arrivals import Arrival


@pytest.mark.parametrize("seed", range(20))
def test_every_arrival_at_a_node_has_a_name_of_its_own(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.choice([10, 10, 40, 200])
    arrivals = {Arrival(i, 0, i % 2): chance.choice([1.0, 5.0, 20.0]) for i in range(count)}
    conflicts: dict[int, set[frozenset[Arrival]]] = {node: set() for node in range(2)}
    for one, other in combinations(arrivals, 2):
        if one.node == other.node and chance.random() < 0.6:
            conflicts[one.node].add(frozenset((one, other)))
    most = chance.choice([2, 3, 16])
    found = allocate(arrivals, conflicts, most)
    assert found.keys() == arrivals.keys()
    assert all(1 <= address.number < most for address in found.values())
    for node in range(2):
        here = [address for arrival, address in found.items() if arrival.node == node]
        assert len(set(here)) == len(here)
        second = {address.number for address in here if address.virtual is not None}
        for address in here:
            assert (address.virtual is not None) == (address.number in second and address.tag == TAGS - 1)
        # A second header word is for what no tag is left for.
        assert not second or len(here) > (most - 1) * TAGS


def test_arrivals_that_conflict_wait_in_different_queues_while_there_are_enough() -> None:
    arrivals = {Arrival(i, 0, 0): 1.0 for i in range(15)}
    conflicts = {0: {frozenset(pair) for pair in combinations(arrivals, 2)}}
    assert {address.number for address in allocate(arrivals, conflicts, 16).values()} == set(range(1, 16))


def test_the_busiest_keep_addresses_of_their_own() -> None:
    arrivals = {Arrival(i, 0, 0): float(i) for i in range(4)}
    conflicts = {0: {frozenset(pair) for pair in combinations(arrivals, 2)}}
    found = allocate(arrivals, conflicts, 3)
    assert found[Arrival(3, 0, 0)] == Address(1)
    assert [found[Arrival(i, 0, 0)] for i in (2, 1, 0)] == [Address(2, 0), Address(2, 1), Address(2, 2)]


def test_without_conflicts_all_share_one() -> None:
    found = allocate({Arrival(i, 0, 0): 1.0 for i in range(5)}, {}, 16)
    assert {address.number for address in found.values()} == {1}


def test_what_is_in_no_known_order_is_spread_evenly() -> None:
    found = allocate({Arrival(i, 0, 0): float(40 - i) for i in range(40)}, None, 16)
    assert len(set(found.values())) == 40
    assert [found[Arrival(i, 0, 0)] for i in (0, 14, 15, 30)] == [Address(1), Address(15), Address(1, 1), Address(1, 2)]


def test_where_tags_are_too_few_a_second_header_word_tells_messages_apart() -> None:
    found = allocate({Arrival(i, 0, 0): float(20 - i) for i in range(20)}, {}, 2)
    last = TAGS - 1
    assert [found[Arrival(i, 0, 0)] for i in range(last)] == [Address(1, tag) for tag in range(last)]
    assert [found[Arrival(i, 0, 0)] for i in range(last, 20)] == [Address(1, last, k) for k in range(20 - last)]
