"""Prices, conflicts and gaps of a negotiation, against plain counting; when an attempt is given up."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pointsman.routing.phase_router.rip_up import (
    HOPELESS,
    SEVERAL,
    UNMENDED,
    PartUse,
    _conflicts,
    _is_hopeless,
    _least_gap,
    _reprice,
)

PLACES, WIRES, SLOTS, CONDITIONS = 4, 3, 5, 2


def used(seed: int) -> PartUse:
    chance = np.random.default_rng(seed)

    def table(*shape: int, most: int = 3) -> np.ndarray:
        return chance.integers(0, most, shape)

    return PartUse(
        cells=table(PLACES, SLOTS), wires=table(WIRES, SLOTS),
        readers=table(CONDITIONS, PLACES, SLOTS), readers_met=table(CONDITIONS, PLACES, SLOTS),
        writers=table(CONDITIONS, PLACES, SLOTS, most=2), writers_met=table(CONDITIONS, PLACES, SLOTS),
        numbers=table(PLACES, most=9), held=np.full(PLACES, -1),
        cell_history=table(PLACES, SLOTS, most=50), wire_history=table(WIRES, SLOTS, most=50),
        turn_history=table(PLACES, SLOTS, most=50),
        cell_cost=table(PLACES, SLOTS), place_cost=table(PLACES), wire_cost=table(WIRES, SLOTS), whole_cost=table(WIRES),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_costs_of_a_round_are_history_and_use_at_the_price(seed: int) -> None:
    use = used(seed)
    _reprice(use, 7)
    assert np.array_equal(use.cell_cost, use.cell_history + 7 * use.cells)
    assert np.array_equal(use.wire_cost, use.wire_history + 7 * use.wires)
    assert np.array_equal(use.place_cost, use.cell_cost.sum(axis=1))
    assert np.array_equal(use.whole_cost, use.wire_cost.sum(axis=1))


def turns_of(use: PartUse) -> np.ndarray:
    """Deliveries with injections in the next slot that they may meet, by place and slot."""
    return (use.writers * np.roll(use.readers_met, -1, axis=2)).sum(axis=0)


@pytest.mark.parametrize("seed", range(4))
def test_conflicts_are_what_is_used_too_often(seed: int) -> None:
    use = used(seed)
    over = [np.maximum(table - 1, 0) for table in (use.cells, use.wires)]
    wanted = int(over[0].sum() + over[1].sum() + turns_of(use).sum() + np.maximum(use.numbers - 6, 0).sum())
    assert _conflicts(use, 6, 0) == wanted > 0


def test_only_what_is_in_conflict_is_learnt() -> None:
    use = used(1)
    before = [table.copy() for table in (use.cell_history, use.wire_history, use.turn_history)]
    _conflicts(use, 6, 0)
    assert np.array_equal(use.cell_history, before[0])
    _conflicts(use, 6, 10)
    assert np.array_equal(use.cell_history - before[0], 10 * np.maximum(use.cells - 1, 0))
    assert np.array_equal(use.wire_history - before[1], 10 * np.maximum(use.wires - 1, 0))
    assert np.array_equal(use.turn_history - before[2], 10 * turns_of(use))


@pytest.mark.parametrize("turn", range(3))
def test_the_least_gap_is_the_smallest_distance_round_the_period(turn: int) -> None:
    slots = 9
    for count in (1, 2, 3, 4):
        for pick in combinations(range(slots), count):
            starts = np.roll(np.array(pick), turn)
            apart = [(b - a) % slots for a in pick for b in pick if a != b]
            assert _least_gap(starts, slots) == min(apart, default=slots)


@pytest.mark.parametrize(("table", "mending"), [(HOPELESS, False), (UNMENDED, True)])
def test_attempts_with_many_conflicts_are_given_up_sooner(table: np.ndarray, mending: bool) -> None:
    rounds, most = table.T
    assert list(rounds) == sorted(rounds)
    assert list(most) == sorted(most, reverse=True)
    assert not _is_hopeless(int(rounds[0]) - 1, 10**6, 100, mending)
    for start, limit in table.tolist():
        assert not _is_hopeless(start, limit, 100, mending)
        assert _is_hopeless(start, limit + 1, 100, mending)


def test_attempts_that_begin_with_routes_are_given_up_like_others_where_there_are_few_chains() -> None:
    for chains in (1, SEVERAL - 1):
        assert not _is_hopeless(1, 10**6, chains, True)
    assert _is_hopeless(1, 10**6, SEVERAL, True)
