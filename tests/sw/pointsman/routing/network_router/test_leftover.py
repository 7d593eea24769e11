"""Words more for streams that have room."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from pointsman.routing.network_router.leftover import fill
from pointsman.routing.network_router.packing import PackingArrays, PackingAttempt, PackingProblem, PackingStream

LINKS = ((0, 1), (1, 0), (1, 2), (2, 1))
STREAMS = (PackingStream(0, (2,)), PackingStream(2, (0,)), PackingStream(1, (0,)))


def filled(pinned: tuple[int, ...] = ()) -> tuple[Counter[int], Counter[tuple[int, int]]]:
    arrays = PackingArrays(PackingProblem(3, 2, LINKS, (0, 1, 2, 3), 30, 14, np.ones(3, np.bool_), STREAMS))
    attempt = PackingAttempt(arrays, 10, [1, 1, 1], [1, 1, 1])
    assert attempt.run(100, 50, 1 << 40)
    before = attempt.outcome().chains
    assert before is not None
    chains = fill(arrays, 10, before, [Fraction(1)] * 3, hold=True, pinned=pinned, seed=0, slack=0)
    for old, new in zip(before, chains, strict=False):
        assert set(old.starts) <= set(new.starts)
        assert (old.ops == new.ops).all()
    words: Counter[int] = Counter()
    cells: Counter[tuple[int, int]] = Counter()
    for chain in chains:
        words[chain.stream] += len(chain.starts)
        cells.update(
            (place, (start + offset) % 10) for place, offset, *_ in chain.ops.tolist() for start in chain.starts
        )
    return words, cells


def test_words_are_added_where_nothing_is_in_use_and_none_moves() -> None:
    words, cells = filled()
    assert min(words.values()) >= 1
    assert sum(words.values()) > 3
    assert max(cells.values()) == 1
    for place in range(6):
        assert sum(place == where for where, _ in cells) <= 9, "a slot is kept for the reprogramming VFSM"


def test_streams_that_are_pinned_get_none() -> None:
    words, _ = filled(pinned=(0,))
    assert words[0] == 1
    assert words[1] > 1
