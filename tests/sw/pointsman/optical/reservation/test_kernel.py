"""Random numbers and sets of channels of the kernel. Its slots are tested in test_protocol.py."""

from __future__ import annotations

import numpy as np

from pointsman.optical.reservation.kernel import _count, _lowest, _some, drawn


def test_random_numbers_are_those_of_the_second_simulator(reservation_by_hand):
    for message in (0, 1, 77, 3_999_999):
        for attempt in (0, 1, 9):
            for below in (1, 5, 64):
                ours = drawn(np.uint64(3), message, attempt, np.uint64(2), below)
                assert ours == reservation_by_hand.drawn(3, message, attempt, 2, below)


def test_random_numbers_are_even():
    counts = np.bincount([drawn(np.uint64(0), message, 0, np.uint64(1), 5) for message in range(5000)])
    assert len(counts) == 5
    assert counts.min() > 900


def test_some_channels_are_taken_in_a_cycle():
    available = np.uint64(0b1011_0100)
    assert int(_some(available, 2, 0)) == 0b0001_0100
    assert int(_some(available, 2, 3)) == 0b1000_0100
    assert int(_some(np.uint64(2**64 - 1), 64, 5)) == 2**64 - 1
    assert (_count(available), _lowest(available)) == (4, 2)
    assert (_count(np.uint64(0)), _lowest(np.uint64(1 << 63))) == (0, 63)
