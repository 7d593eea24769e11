"""Lists of lists as flat arrays, with the index at which each list begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def first_rows(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Index at which each of several consecutive lists begins, from their lengths; the last entry is the end of the last list.

    >>> first_rows([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def grouped(keys: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(first, items): the indices of ``keys`` by key 0 to ``count`` - 1, those of key k at ``items[first[k] : first[k + 1]]``.

    >>> first, items = grouped(np.array([1, 0, 1]), 3)
    >>> first.tolist(), items.tolist()
    ([0, 1, 3, 3], [1, 0, 2])
    """
    return first_rows(np.bincount(keys, minlength=count)), np.argsort(keys, kind="stable").astype(np.int32)
