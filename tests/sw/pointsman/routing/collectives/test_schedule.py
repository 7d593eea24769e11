"""Schedules repeated and turned round."""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.routes.collectives import CollectiveWord
from pointsman.routing.collectives.schedule import Schedule, backwards, repeated

ONCE = Schedule(
    2, [CollectiveWord((0, 0), 0, 0, outward=np.array([(0, 0, 1), (1, 1, 2)]), destinations=[1, 2])], "by hand"
)


def test_a_repeated_schedule_goes_on_where_the_first_ends():
    twice = repeated(ONCE, 3)
    assert (twice.period, twice.latency, len(twice.words)) == (6, 6, 3)
    assert [word.item for word in twice.words] == [(0, 0), (0, 1), (0, 2)]
    assert repeated(ONCE, 1) is ONCE


def test_backwards_copies_come_together():
    (word,) = backwards(ONCE).words
    assert word.inward.tolist() == [[2, 0, 1], [1, 1, 0]]
    assert (word.slot, word.kept, word.own) == (2, True, False)


def test_schedules_of_several_words_are_repeated_and_words_left_over_are_left_out():
    pair = Schedule(
        3, [CollectiveWord((0, 1, at), 0, at, outward=np.array([(0, at, 1)])) for at in (0, 1)], "two words"
    )
    made = repeated(pair, 5)
    assert (made.period, made.method) == (9, "two words, 3 times")
    assert [(word.item, word.slot) for word in made.words] == [
        *(((0, 1, 0), 0), ((0, 1, 1), 1), ((0, 1, 2), 3), ((0, 1, 3), 4)),
        ((0, 1, 4), 6),
    ]
    assert repeated(pair, 2) is pair
