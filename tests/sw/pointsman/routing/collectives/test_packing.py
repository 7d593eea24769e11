"""Words are packed without conflicts."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.routing.collectives.packing import pack
from pointsman.routing.errors import RoutingError


def test_random_words_never_share_a_cell():
    chance = np.random.default_rng(1)
    words = [np.stack([chance.choice(8, 3, replace=False), chance.integers(0, 9, 3)], axis=1) for _ in range(12)]
    period, starts = pack(words, 8, 5)
    cells = [
        (int(row), int(slot + start) % period) for word, start in zip(words, starts, strict=True) for row, slot in word
    ]
    assert len(set(cells)) == len(cells)


def test_a_word_that_meets_itself_in_a_short_period_waits_for_a_longer_one():
    assert pack([np.array([(0, 0), (0, 3)])], 1, 3)[0] == 4


def test_no_most_and_no_schedule_is_an_error():
    with pytest.raises(RoutingError):
        pack([np.array([(0, 0), (0, 0)])], 1, 1)
