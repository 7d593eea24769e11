"""Pointer arithmetic, against its definition element by element."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.splitc import NULL, GlobalPointer, SpreadPointer
from pointsman.runtime.splitc.pointers import to_global, unpacked


@pytest.mark.parametrize("kind", ["i1", "f4", "i8", "i4,f8"])
@pytest.mark.parametrize("procs", [1, 3, 8])
def test_spread_pointers_go_round_the_processors_and_global_ones_stay(kind: str, procs: int) -> None:
    dtype = np.dtype(kind)
    wrapped = SpreadPointer(procs - 1, 64 * dtype.itemsize, dtype, procs)
    stays = to_global(procs - 1, 64 * dtype.itemsize, dtype)
    for i in range(-20, 20):
        p, row = procs - 1, 64
        for _ in range(abs(i)):  # element by element: the next object is on the next processor
            p += 1 if i > 0 else -1
            if p in (procs, -1):
                p, row = (0, row + 1) if i > 0 else (procs - 1, row - 1)
        assert (wrapped + i).here == GlobalPointer(p, row * dtype.itemsize, dtype)
        assert (wrapped + i) - wrapped == i
        assert wrapped + i - i == wrapped
        assert stays + i == GlobalPointer(procs - 1, (64 + i) * dtype.itemsize, dtype)
        assert (stays + i) - stays == i
    assert stays.spread(procs) == wrapped


def test_there_is_one_null_pointer() -> None:
    assert to_global(5, 0, np.int32) == NULL
    assert not NULL
    assert NULL.packed == 0
    assert unpacked(to_global(9, 4096, "f8").packed, "f8") == to_global(9, 4096, "f8")


def test_differences_that_mean_nothing_are_errors() -> None:
    one = to_global(0, 4096, "i4")
    for other, text in ((to_global(1, 4096, "i4"), "processors 0 and 1"), (one.typed("i8"), "int32 and int64")):
        with pytest.raises(PointsmanError, match=text):
            _ = one - other
    with pytest.raises(PointsmanError, match="2 bytes apart"):
        _ = to_global(0, 4098, "i4") - one
