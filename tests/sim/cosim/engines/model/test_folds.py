"""The model's folds do with single words what NumPy does with arrays."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cosim.engines.model.folds import fold_item
from pointsman.runtime.api.folds import FOLDED, TYPES, Fold, foldable

NUMBERS = (0, 1, -1, 7, -(2**31), 2**31 - 1)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_function_gives_what_numpy_gives(dtype: np.dtype):
    values = [*NUMBERS, *((np.nan, np.inf, 1.5) if dtype.kind == "f" else ())]
    one, two = (np.array(side, dtype).view(np.uint32) for side in zip(*product(values, repeat=2), strict=True))
    for function in (None, *FOLDED):
        if function is not None and not foldable(function, dtype):
            continue
        expected, found = np.zeros_like(one), np.zeros_like(one)
        Fold(function, dtype, one, two, expected).apply(0, one.size)
        code = Fold(function, dtype, one, two, found).code
        fold_item(code, one.ctypes.data, two.ctypes.data, found.ctypes.data, one.size)
        if dtype.kind == "f":
            np.testing.assert_array_equal(found.view(dtype), expected.view(dtype))
        else:
            assert found.tolist() == expected.tolist()
