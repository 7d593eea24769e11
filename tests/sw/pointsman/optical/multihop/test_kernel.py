"""Queues of the kernel. Its slots are tested in test_hopping.py."""

from __future__ import annotations

import numpy as np

from pointsman.optical.multihop.kernel import _append, _take


def test_queues_are_first_in_first_out():
    head, tail, followers = np.full(2, -1), np.full(2, -1), np.zeros(5, np.int64)
    for item in (3, 0, 4):
        _append(head, tail, followers, 1, item)
    assert [_take(head, followers, 1) for _ in range(3)] == [3, 0, 4]
    assert head.tolist() == [-1, -1]
    _append(head, tail, followers, 1, 2)
    assert _take(head, followers, 1) == 2
