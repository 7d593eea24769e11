"""Free slots as bit masks, against a search slot by slot."""

from __future__ import annotations

import random

from pointsman.runtime.numesh.scheduling.free_slots import FreeSlots, Hop

PERIOD = 12


def hops() -> list[Hop]:
    """A stream from node 0 by way of node 1 to node 2, over port 1 of each and into register 40."""
    return [Hop(0, 30, 1, True, False), Hop(1, 0, 1, False, False), Hop(2, 0, 40, False, True)]


def fits(free: FreeSlots, hop: Hop, p: int, slot: int) -> bool:
    """May the hop take the slot? Said of single slots."""
    before, after = 1 << (slot - 1) % PERIOD, 1 << (slot + 1) % PERIOD
    bit, place = 1 << slot, (hop.node, p)
    if free.busy[place] & bit or hop.own & (before | after):
        return False
    if hop.injects and free.delivers[place] & before:
        return False
    if hop.delivers:
        return not free.reads[place] & after
    return not free.links[hop.node, hop.destination] & bit


def taken(seed: int) -> FreeSlots:
    choose = random.Random(seed)
    free = FreeSlots(PERIOD, 2, {(node, p): [4, 3, 2] for node in range(3) for p in range(2)})
    for place in free.numbers:
        for slot in range(PERIOD):
            if choose.random() < 0.4:
                free.busy[place] |= 1 << slot
                choose.choice((free.reads, free.delivers, free.links))[place] |= 1 << slot
    return free


def test_a_word_gets_the_first_slots_that_a_search_slot_by_slot_finds() -> None:
    found = 0
    for seed in range(200):
        free, stream = taken(seed), hops()
        wanted = [
            start
            for start in range(PERIOD)
            if all(any(fits(free, hop, p, (start + i) % PERIOD) for p in range(2)) for i, hop in enumerate(stream))
        ]
        assert free.copy().place(hops()) == bool(wanted)
        if not wanted:
            continue
        found += 1
        assert free.place(stream)
        assert [hop.own for hop in stream] == [1 << (wanted[0] + i) % PERIOD for i in range(3)]
        more = [
            start
            for start in range(PERIOD)
            if all(fits(free, hop, hop.pipeline, (start + i) % PERIOD) for i, hop in enumerate(stream))
        ]
        before = [hop.own for hop in stream]
        assert free.more(stream) == bool(more)
        if more:
            assert [hop.own ^ own for hop, own in zip(stream, before, strict=True)] == [
                1 << (more[0] + i) % PERIOD for i in range(3)
            ]
    assert 20 < found < 200


def test_without_a_number_for_a_vfsm_there_is_no_place() -> None:
    free = FreeSlots(PERIOD, 1, {(0, 0): [2], (1, 0): [], (2, 0): [2]})
    assert not free.place(hops())
    free.numbers[1, 0].append(5)
    assert free.place(hops())
    assert not free.place(hops())


def test_a_copy_is_taken_alone_and_looks_are_counted() -> None:
    free = taken(3)
    other = free.copy()
    other.place(hops())
    assert other.tests > 0
    assert free.tests == 0
    assert all(len(left) == 3 for left in free.numbers.values())
