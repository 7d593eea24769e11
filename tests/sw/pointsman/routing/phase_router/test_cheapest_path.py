"""One chain: its cheapest starts against all choices, its noise, and what it counts in and out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pointsman.routing.pathfinder.costs import UNIT
from pointsman.routing.phase_router.cheapest_path import NEVER, cheapest_starts, following

SLOTS, PLACES, WIRES = 9, 3, 2
OPS = np.array([[0, 0, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0], [2, 3, -1, -1, 0, 1]], np.int64)
"""Inject at place 0, pass place 1, deliver at place 2 after a wait: (place, slot, wire, link, reads, writes)."""


def prices(seed: int) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    return chance.integers(0, 90, (PLACES, SLOTS)), chance.integers(0, 90, (WIRES, SLOTS))


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_starts_cost_the_least_of_all_that_keep_the_gap(seed: int, words: int) -> None:
    cells, wires = prices(seed)
    none = np.zeros((PLACES, SLOTS), np.int64)
    cost, starts = cheapest_starts(
        OPS, cells, wires, none, none, none, np.zeros(PLACES, np.int64), np.zeros((2, SLOTS), np.bool_), False,
        NEVER, words, 3, 30, UNIT,
    )  # fmt: skip

    def price(start: int) -> int:
        total = 0
        for place, offset, wire, *_ in OPS.tolist():
            slot = (start + offset) % SLOTS
            total += UNIT + int(cells[place, slot]) + (int(wires[wire, slot]) if wire >= 0 else 0)
        return total

    legal = [
        pick for pick in combinations(range(SLOTS), words)
        if all(3 <= (b - a) % SLOTS <= SLOTS - 3 for a, b in combinations(pick, 2))
    ]  # fmt: skip
    assert cost == min(sum(map(price, pick)) for pick in legal)
    assert tuple(starts.tolist()) in legal
    assert sum(map(price, starts.tolist())) == cost


def test_more_words_than_fit_have_no_starts() -> None:
    cells, wires = prices(0)
    none = np.zeros((PLACES, SLOTS), np.int64)
    cost, starts = cheapest_starts(
        OPS, cells, wires, none, none, none, np.zeros(PLACES, np.int64), np.zeros((2, SLOTS), np.bool_), False,
        NEVER, 4, 3, 30, UNIT,
    )  # fmt: skip
    assert cost >= NEVER
    assert len(starts) == 0


def test_the_noise_is_the_minimal_standard_generator() -> None:
    """Park and Miller 1988 with the multiplier 48271: the state after ten thousand steps from 1."""
    state = 1
    for _ in range(10_000):
        state = int(following(state))
    assert state == 399268537
