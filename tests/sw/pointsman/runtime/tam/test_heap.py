"""I- and M-structures against a naive account of who waits for what."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.tam.heap import DESCRIPTORS, Deferred, Heap


@pytest.mark.parametrize("take", [False, True])
def test_every_read_gets_the_value_once_in_any_order(take: bool) -> None:
    rng = random.Random(4)
    heap = Heap(3)
    pointer = heap.allocate(5)
    readers = [Deferred(k, k, 0, take) for k in range(40)]
    steps = [("fetch", k) for k in range(40)]
    steps += [("store", k) for k in range(40 if take else 5)]
    rng.shuffle(steps)
    got: Counter[int] = Counter()
    full: set[int] = set()
    later = []
    for kind, k in steps:
        if kind == "fetch":
            value = heap.fetch(pointer, k % 5, readers[k])
            if value is not None:
                got[k] += 1
                if take:
                    full.discard(k % 5)
        elif k % 5 in full:
            later.append(k)
        else:
            answered = heap.store(pointer, k % 5, 100 + k)
            got.update(one.node for one in answered)
            assert len(answered) <= 1 or not take
            if not (take and answered):
                full.add(k % 5)
    assert set(got.values()) == {1}
    assert take or set(got) == set(range(40))
    assert len(got) == 40 - len(later) if not take or len(later) == 0 else len(got) <= 40


def test_descriptors_are_allocated_many_at_a_time_and_used_again() -> None:
    heap = Heap(0)
    for _ in range(4):
        pointer = heap.allocate(DESCRIPTORS)
        for k in range(DESCRIPTORS):
            assert heap.fetch(pointer, k, Deferred(1, 2, 3, False)) is None
        with pytest.raises(PointsmanError, match="reads of it are deferred"):
            heap.free(pointer)
        for k in range(DESCRIPTORS):
            assert heap.store(pointer, k, k) == [Deferred(1, 2, 3, False)]
        heap.free(pointer)
    assert heap.growths == 1


def test_a_structure_has_a_size() -> None:
    with pytest.raises(PointsmanError, match="cannot have -1 elements"):
        Heap(0).allocate(-1)
    with pytest.raises(PointsmanError, match=r"cannot have 1\.5 elements"):
        Heap(0).allocate(1.5)
