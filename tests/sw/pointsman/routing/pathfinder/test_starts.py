"""When words start: against all choices there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pointsman.routing.pathfinder.starts import choose_starts

NEVER = 1 << 28


def keeps(starts: tuple[int, ...], gap: int, slots: int) -> bool:
    return all(gap <= (b - a) % slots <= slots - gap for a, b in combinations(starts, 2))


@pytest.mark.parametrize("seed", range(40))
def test_starts_are_the_cheapest_of_all(seed: int) -> None:
    chance = np.random.default_rng(seed)
    slots, words, gap = int(chance.integers(2, 13)), int(chance.integers(1, 5)), int(chance.integers(2, 5))
    cost = chance.integers(0, 50, slots).astype(np.int64)
    legal = [pick for pick in combinations(range(slots), words) if keeps(pick, gap, slots)]
    starts = np.zeros(words, np.int64)
    total = choose_starts(cost, words, gap, NEVER, starts)
    if not legal or words * gap > slots:
        assert total == NEVER
        return
    assert total == min(int(cost[list(pick)].sum()) for pick in legal)
    assert tuple(starts) in legal
    assert int(cost[starts].sum()) == total
