"""Folds do with words what their functions do with arrays."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.runtime.api.folds import FOLDED, TYPES, Fold, foldable


def test_only_functions_that_the_engines_have_are_folded():
    whole, real = np.dtype("int64"), np.dtype("float32")
    assert foldable(np.add, real)
    assert foldable(np.bitwise_xor, whole)
    assert not foldable(np.bitwise_xor, real)
    assert not foldable(np.hypot, real)
    assert not foldable(np.matmul, real)
    assert not foldable(max, whole)
    assert not foldable(np.add, np.dtype("int16"))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("function", FOLDED, ids=lambda one: one.__name__)
def test_an_item_is_combined_and_no_other(function: np.ufunc, dtype: np.dtype):
    if not foldable(function, dtype):
        return
    words = dtype.itemsize // 4
    one, two = np.array([3, -7, 5], dtype), np.array([4, 2, -9], dtype)
    result = np.zeros(3 * words, np.uint32)
    fold = Fold(function, dtype, one.view(np.uint32), two.view(np.uint32), result)
    fold.apply(words, 2 * words)
    assert result.view(dtype).tolist() == [0, function(one, two)[1], 0]
    assert (fold.code >> 2, fold.code & 3) == (FOLDED[function], TYPES[dtype])


def test_without_a_function_the_left_side_is_copied():
    words, result = np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32)
    Fold(None, np.dtype("int32"), words, None, result).apply(1, 3)
    assert result.tolist() == [0, 1, 2, 0]
