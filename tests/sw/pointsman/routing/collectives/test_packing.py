"""Words are packed without conflicts."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.routing.collectives import packing
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


def test_the_period_goes_back_to_the_last_that_failed(monkeypatch: pytest.MonkeyPatch):
    tried = []

    def enough_from_17(words, resources, period, *_):
        tried.append(period)
        return [0] if period >= 17 else None

    monkeypatch.setattr(packing, "_try", enough_from_17)
    assert pack([np.array([(0, 0)])] * 20, 1, 4)[0] == 17
    assert tried[-3:] == [19, 18, 17]
