"""Messages are converted to an operator's type only if no value changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.api.messages import as_items

INT, REAL = np.dtype("int32"), np.dtype("float32")


@pytest.mark.parametrize(
    ("message", "dtype"),
    [
        ([1, 2], INT),
        (np.arange(2), INT),
        (np.array([1, 2], np.int16), INT),
        (np.array([True]), INT),
        (7, INT),
        ([1, 2], REAL),
        ([0.5, 0.1], REAL),
        (np.array([1.5], np.float16), REAL),
        (np.array([1.5], np.float32), np.dtype("float64")),
        (np.array([], np.int64), INT),
    ],
)
def test_what_fits_is_taken(message: Any, dtype: np.dtype[Any]) -> None:
    items = as_items(message, dtype)
    assert items.dtype == dtype
    np.testing.assert_allclose(items, np.atleast_1d(np.asarray(message)), rtol=1e-6)


@pytest.mark.parametrize(
    ("message", "dtype", "said"),
    [
        (np.array([1.5]), INT, "an array of float64"),
        (np.array([np.nan]), INT, "an array of float64"),
        ([1.0], INT, "an array of float64"),
        (np.array([2**40 + 7]), INT, "1099511627783"),
        ([2**31], INT, "2147483648"),
        ([10**30], INT, "1000000000000000000000000000000"),
        (np.array([1j]), REAL, "an array of complex128"),
        (np.array([0.1]), REAL, "an array of float64"),
        ([1e300], REAL, r"1e\+300"),
        ([2**24 + 1], REAL, "16777217"),
        (["1"], INT, "an array of <U1"),
        ([None], INT, "an array of object"),
        ("text", INT, "'text'"),
        ([[1], [2, 3]], INT, "a list that holds"),
        (np.ma.masked_all(2), INT, "a masked array"),
        (object, INT, "<class 'object'>"),
    ],
)
def test_what_would_change_is_refused(message: Any, dtype: np.dtype[Any], said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        as_items(message, dtype)
