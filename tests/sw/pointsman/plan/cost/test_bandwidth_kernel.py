"""The choice among ways, against the same without what is left out because it cannot win."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.plan.cost.bandwidth_kernel import best_ways, together

NODES = 4


def plainly(first: np.ndarray, choices: np.ndarray, *problem: object) -> tuple[float, list[int]]:
    """Changes of one way as long as they pay, each worked out whole."""
    chosen = choices[first[:-1]].copy()
    best, better = together(chosen, *problem)
    while better:
        better = False
        for i in range(len(chosen)):
            for choice in choices[first[i] : first[i + 1]]:
                changed = chosen.copy()
                changed[i] = choice
                cycles, _ = together(changed, *problem)
                if cycles < best:
                    best, chosen, better = cycles, changed, True
    return float(best), chosen.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_the_choice_is_that_without_short_cuts(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(1, 4, size=random.integers(1, 7))
    first = np.array([0, *np.cumsum(counts)])
    ways = int(first[-1])
    usage = random.integers(0, 4, size=(ways, NODES + 3)).astype(float)
    ends = random.integers(0, 3, size=(ways, NODES)).astype(float)
    limits, fixed = random.choice([0.1, 0.4, 0.5, 1.0], size=ways), random.integers(0, 200, size=ways).astype(float)
    per_word = random.integers(1, 500, size=ways).astype(float)
    traffic = random.integers(1, 1000, size=len(counts)).astype(float)
    capacity = random.choice([1.0, 2.0, 4.0], size=NODES + 3)
    carried = random.choice([1.0, 1.0, 5.0], size=ways)
    problem = (usage, ends, limits, fixed, per_word, carried, traffic, capacity, 16, 12.0, 14.0)
    best, rows = best_ways(first, np.arange(ways), *problem)
    assert (best, rows.tolist()) == plainly(first, np.arange(ways), *problem)


def test_the_problems_are_of_all_kinds() -> None:
    """Operators that hinder each other, that do not, and too many for the nodes."""
    usage, ends, one = np.ones((2, NODES)), np.ones((2, NODES)), np.ones(2)
    for capacity, most, hindered, possible in (
        (2.0, 9.0, False, True),
        (1.0, 9.0, True, True),
        (1.0, 1.0, True, False),
    ):
        cycles, slowed = together(
            np.arange(2), usage, ends, one, one, one, one, one, np.full(NODES, capacity), 16, most, 9.0
        )
        assert (slowed, np.isfinite(cycles)) == (hindered, possible)
