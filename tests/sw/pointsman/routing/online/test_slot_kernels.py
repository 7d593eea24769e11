"""The compiled searches for slots against the same in plain Python, on random channels."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from pointsman.routing.online import slot_kernels
from pointsman.routing.online.slot_kernels import FREE, SlotArrays

LEAST = 2
Cells = list[tuple[int, int]]


class Naive:
    """Channels with lists of slots, and a dictionary of who has which cell."""

    def __init__(self, cells: list[Cells], weights: list[float], can: np.ndarray) -> None:
        self.lines, self.weights, self.can = cells, weights, can
        self.period = can.shape[1]
        self.holder: dict[tuple[int, int], int] = {}
        self.slots: list[list[int]] = [[] for _ in cells]

    def cells(self, c: int, slot: int) -> Cells:
        return [(place, (slot + at) % self.period) for place, at in self.lines[c]]

    def holders(self, c: int, slot: int) -> set[int]:
        return {self.holder[cell] for cell in self.cells(c, slot) if cell in self.holder}

    def distance(self, c: int, slot: int) -> int:
        gaps = [(slot - other) % self.period for other in self.slots[c]]
        return min([self.period, *(min(gap, self.period - gap) for gap in gaps)])

    def unevenness(self, c: int) -> int:
        slots = sorted(self.slots[c])
        return sum(((b - a) % self.period or self.period) ** 2 for a, b in pairwise([*slots, *slots[:1]]))

    def take(self, c: int, slot: int) -> None:
        self.holder |= dict.fromkeys(self.cells(c, slot), c)
        self.slots[c].append(slot)

    def drop(self, c: int, slot: int) -> None:
        for cell in self.cells(c, slot):
            del self.holder[cell]
        self.slots[c].remove(slot)

    def allows(self, c: int, slot: int) -> bool:
        return bool(self.can[c, slot]) and self.distance(c, slot) >= LEAST

    def put(self, channels: list[int], slots: list[int]) -> None:
        for c, slot in zip(channels, slots, strict=True):
            if self.allows(c, slot) and not self.holders(c, slot):
                self.take(c, slot)

    def fill(self, turns: int) -> None:
        idle: set[int] = set()
        for _ in range(turns):
            left = [c for c in range(len(self.lines)) if c not in idle]
            for c in sorted(left, key=lambda c: (len(self.slots[c]) / self.weights[c], c)):
                losers = self.grow(c)
                if losers is None:
                    idle.add(c)
                    continue
                if losers:
                    idle.clear()
                break
            else:
                return

    def grow(self, c: int) -> set[int] | None:
        after = (len(self.slots[c]) + 1) / self.weights[c]
        found = []
        for slot in range(self.period):
            losers = self.holders(c, slot)
            if self.allows(c, slot) and all((len(self.slots[o]) - 1) / self.weights[o] >= after for o in losers):
                found.append((-len(losers), self.distance(c, slot), -slot))
        if not found:
            return None
        slot = -max(found)[2]
        losers = self.holders(c, slot)
        for cell in self.cells(c, slot):
            if cell in self.holder:
                loser = self.holder[cell]
                self.drop(loser, next(s for s in self.slots[loser] if cell in self.cells(loser, s)))
        self.take(c, slot)
        return losers

    def even_out(self) -> None:
        for c in range(len(self.lines)):
            while self.move(c):
                pass

    def move(self, c: int) -> bool:
        now = self.unevenness(c)
        for slot in sorted(self.slots[c]):
            self.drop(c, slot)
            found = slot
            for other in range(self.period):
                if self.allows(c, other) and not self.holders(c, other):
                    self.slots[c].append(other)
                    if self.unevenness(c) < now:
                        now, found = self.unevenness(c), other
                    self.slots[c].pop()
            self.take(c, found)
            if found != slot:
                return True
        return False


def channels(seed: int) -> tuple[Naive, SlotArrays]:
    """The same random channels twice; many share places, and some slots cannot be had."""
    rng = random.Random(seed)
    period, places = rng.choice([4, 7, 8, 12, 24]), rng.randint(2, 9)
    lines = [
        [(place, at) for at, place in enumerate(rng.sample(range(places), rng.randint(1, min(4, places))))]
        for _ in range(rng.randint(1, 6))
    ]
    weights = [rng.choice([0.5, 1.0, 1.0, 2.0, 3.0]) for _ in lines]
    can = np.array([[rng.random() < 0.85 for _ in range(period)] for _ in lines])
    flat = np.array([cell for line in lines for cell in line], np.int64)
    arrays = SlotArrays(
        first=np.cumsum([0, *map(len, lines)], dtype=np.int64),
        place=flat[:, 0].copy(),
        at=flat[:, 1].copy(),
        weights=np.array(weights),
        can=can,
        has=np.zeros(can.shape, np.bool_),
        words=np.zeros(len(lines), np.int64),
        holder=np.full((places, period), FREE, np.int64),
    )
    return Naive(lines, weights, can), arrays


def slots_of(arrays: SlotArrays) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in arrays.has]


@pytest.mark.parametrize("seed", range(120))
def test_it_searches_as_plain_python_does(seed: int) -> None:
    naive, arrays = channels(seed)
    rng = random.Random(seed)
    some = [(rng.randrange(len(naive.lines)), rng.randrange(naive.period)) for _ in range(rng.randint(0, 12))]
    wanted = np.array(some, np.int64).reshape(-1, 2)
    naive.put([c for c, _ in some], [slot for _, slot in some])
    slot_kernels.put(arrays, wanted[:, 0].copy(), wanted[:, 1].copy(), LEAST)
    assert slots_of(arrays) == [sorted(slots) for slots in naive.slots]

    turns = rng.choice([3, 400])
    naive.fill(turns)
    slot_kernels.fill(arrays, LEAST, turns)
    assert slots_of(arrays) == [sorted(slots) for slots in naive.slots]

    naive.even_out()
    slot_kernels.even_out(arrays, LEAST)
    assert slots_of(arrays) == [sorted(slots) for slots in naive.slots]
    assert arrays.words.tolist() == [len(slots) for slots in naive.slots]
    for c in range(len(naive.lines)):
        assert slot_kernels.unevenness(arrays, c) == naive.unevenness(c)
    held = {
        (place, slot): int(arrays.holder[place, slot]) for place, slot in np.argwhere(arrays.holder != FREE).tolist()
    }
    assert held == naive.holder


def test_words_are_taken_from_channels_with_more_and_moved() -> None:
    losses = moves = 0
    for seed in range(120):
        naive, arrays = channels(seed)
        slot_kernels.put(arrays, np.zeros(naive.period, np.int64), np.arange(naive.period), LEAST)
        first = int(arrays.words[0])
        slot_kernels.fill(arrays, LEAST, 400)
        losses += int(arrays.words[0]) < first
        before = slots_of(arrays)
        slot_kernels.even_out(arrays, LEAST)
        moves += slots_of(arrays) != before
    assert losses > 5
    assert moves > 5
