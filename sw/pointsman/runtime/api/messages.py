"""What an application sends, as items of an operator's type: no value changes in silence.

Taken are arrays of the type itself and of types that it holds (int16 for int32, float32 for float64), whole numbers of any
type as long as all of them fit, and plain Python numbers. Refused are fractions for a type of whole numbers, wider fractions
(an array of float64 for float32, whose digits would be cut), complex numbers, texts, and all else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.foreign import shown


def as_items(message: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """``message`` as a contiguous array of ``dtype``.

    Raises
    ------
    PointsmanError
        If a value would change; the message says what was given, and the hint what helps.
    """
    if isinstance(message, np.ma.MaskedArray) and np.ma.is_masked(message):
        raise PointsmanError("a masked array", hint="fill it first: numpy.ma.filled")
    strict = isinstance(message, np.ndarray | np.generic)
    try:
        given = np.asarray(message)
    except Exception as error:  # whatever an object's own conversion to an array raises
        raise PointsmanError(f"{_kind_of(message)} ({type(error).__name__})") from None
    if given.dtype == dtype or (given.dtype.kind in "biuf" and np.can_cast(given.dtype, dtype, "safe")):
        return np.ascontiguousarray(given, dtype)
    if given.dtype.kind in "iu" or (given.dtype == object and _all_whole(given)):
        return _whole_numbers(given, dtype)
    if given.dtype.kind == "f" and dtype.kind == "f" and not strict:
        return _fractions(given, dtype)
    what = f"an array of {given.dtype}" if given.ndim else _kind_of(message)
    raise PointsmanError(what, hint=_hint(given, dtype))


def _whole_numbers(given: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Whole numbers of any type, if ``dtype`` has all of them."""
    if given.size == 0:
        return np.zeros(given.shape, dtype)
    least, most = int(given.min()), int(given.max())
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
    else:
        high = 1 << (np.finfo(dtype).nmant + 1)  # up to here every whole number is exact
        low = -high
    if least < low or most > high:
        raise PointsmanError(
            f"{least if least < low else most}",
            hint=f"{dtype} holds the whole numbers from {low} to {high}",
        )
    return np.ascontiguousarray(given.astype(dtype))


def _fractions(given: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Python's fractions, rounded to ``dtype``, if none of them becomes infinite by that."""
    with np.errstate(over="ignore"):
        items = np.ascontiguousarray(given.astype(dtype))
    lost = np.isinf(items) & np.isfinite(given)
    if lost.any():
        raise PointsmanError(
            f"{given.reshape(-1)[int(np.argmax(lost))]:g}", hint=f"{dtype} ends at {np.finfo(dtype).max:g}"
        )
    return items


def _all_whole(given: np.ndarray) -> bool:
    return all(type(value) is int for value in given.reshape(-1)[:100_000])


def _kind_of(message: Any) -> str:
    if isinstance(message, list | tuple):
        return f"a {type(message).__name__} that holds {shown(message[0]) if message else 'nothing'}"
    return shown(message)


def _hint(given: np.ndarray, dtype: np.dtype[Any]) -> str | None:
    if given.dtype.kind in "fc" and dtype.kind in "iu":
        return f"round it yourself, with numpy.rint(…).astype(numpy.{dtype}), or give the operator a :type of fractions"
    if given.dtype.kind in "fciu":
        return f"convert it yourself, with .astype(numpy.{dtype}), if that loses nothing that matters"
    return None
