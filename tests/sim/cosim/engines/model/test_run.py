"""Transfers as rows of tables; words of 64 bits as patterns."""

from __future__ import annotations

import numpy as np

from cosim.engines.model import requests as rows
from cosim.engines.model.run import PackedTransfer, pattern_of_word, words_of
from pointsman.runtime.api.requests import Attend, Lane, Transfer


def test_words_beside_do_not_count():
    into = np.zeros(3, np.uint64)
    lanes = [Lane(True, (2, 4), 5), Lane(False, 3, 3, into, after=0)]
    packed = PackedTransfer.of(Attend(Transfer(lanes), beside=[1]))
    assert packed.words == 5
    assert packed.turns == [2, 4, 3]
    assert packed.lanes[:, rows.BESIDE].tolist() == [0, 1]
    assert packed.lanes[1, rows.ADDRESS] == into.ctypes.data
    assert packed.lanes[:, rows.AFTER].tolist() == [-1, 0]
    assert packed.category == -1


def test_patterns_are_words():
    for word in (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        assert int(words_of(np.array([pattern_of_word(word)]))[0]) == word
