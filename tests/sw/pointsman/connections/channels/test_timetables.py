"""Timetables: no processor does two things at a time, and short ones where that is possible."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.connections.channels.timetables import least, published, timetable


def end(transfers, starts):
    return max(start + one[2] for start, one in zip(starts, transfers, strict=True))


@pytest.mark.parametrize("duplex", [True, False])
def test_timetables_are_shorter_than_twice_the_bound(duplex):
    random = np.random.default_rng(0)
    for _ in range(20):
        pairs = [(u, v, int(random.integers(1, 200))) for u, v in random.integers(0, 9, (25, 2)).tolist() if u != v]
        starts = timetable(pairs, duplex)
        assert least(pairs, duplex) <= end(pairs, starts) <= end(pairs, published(pairs, duplex))
        assert end(pairs, starts) < 2 * least(pairs, duplex)


def test_equal_transfers_meet_the_bound():
    random = np.random.default_rng(1)
    pairs = [(u, v, 8) for u, v in random.integers(0, 12, (80, 2)).tolist() if u != v]
    assert end(pairs, timetable(pairs, True)) == least(pairs, True)


def test_the_published_scheduler_serves_the_busiest_processor_and_its_longest_connection_first():
    # Processor 0 has most to do, 9 clocks: its transfer of 5 first, then those of 3 and 1; the one between 1 and 2 fills a gap.
    transfers = [(0, 1, 5), (0, 2, 3), (0, 3, 1), (1, 2, 2)]
    assert published(transfers, False) == [0, 5, 8, 8]
    assert published(transfers, True) == [0, 5, 8, 0]


def test_an_order_is_kept():
    assert timetable([(0, 1, 5), (2, 3, 4)], True, [(1, 0)]) == [4, 0]


def test_none_take_no_time():
    assert timetable([], True) == []
    assert least([], True) == 0
