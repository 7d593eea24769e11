"""Turns: no two words at a node, or on a link, in one slot."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.routing.collectives.turns import turns_of


def met(leaves: list[int], turns: list[list[int]], period: int) -> bool:
    """Do two words have one turn where both are? Counts as the head of the module says, node after node."""
    length = len(leaves)
    now = {(at, k): turn for at in range(length) for k, turn in enumerate(turns[at])}
    for at in range(length):
        if at:
            # On the link to the node its own words and those of its leaves are not.
            there = [turn for word, turn in now.items() if word[0] != at]
            if len(set(there)) < len(there):
                return True
            for k in range(len(turns[at])):
                now[at, k] = (turns[at][k] - length) % period
        # Each leaf takes all words but its own, the node's processor all but the node's.
        own = len(turns[at]) - 1
        for absent in range(len(turns[at])) if leaves[at] else [own]:
            there = [turn for word, turn in now.items() if word != (at, absent)]
            if len(set(there)) < len(there):
                return True
    there = [turn for word, turn in now.items() if word[0] != 0]
    return len(set(there)) < len(there)


@pytest.mark.parametrize("seed", range(60))
def test_no_two_words_are_at_a_node_in_one_slot(seed: int) -> None:
    chance = np.random.default_rng(seed)
    length = int(chance.integers(2, 40))
    leaves = [0] * length
    for at in chance.choice(length, min(length, int(chance.integers(1, 5))), replace=False).tolist():
        leaves[at] = int(chance.integers(1, 4))
    words = length + sum(leaves)
    made = 0
    for period in range(words, 2 * words + 3):
        turns = turns_of(leaves, period)
        if turns is not None:
            made += 1
            assert [len(own) for own in turns] == [1 + count for count in leaves]
            assert not met(leaves, turns, period)
        elif period > words:
            assert np.gcd(length, period) > 1
    assert made


def test_one_leaf_takes_as_many_slots_as_there_are_nodes() -> None:
    assert turns_of([1, 0, 0, 0, 0, 0], 7) is not None
    assert turns_of([1, 0, 0, 0, 0, 0], 6) is None


def test_runs_without_leaves_fill_rings_that_have_no_free_place() -> None:
    leaves = [1, *[0] * 43, 1, *[0] * 15]
    turns = turns_of(leaves, 63)
    assert turns is not None, "three rings of 21 places, one of them with a free place"
    assert not met(leaves, turns, 63)
    # No run is long enough here.
    assert turns_of([1, *[0] * 19] * 3, 63) is None
