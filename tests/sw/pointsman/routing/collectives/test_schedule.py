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
