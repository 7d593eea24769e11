"""Combining of words as they come in: what a processor does between a word of one lane and the word of another that waits for it.

A `Fold` belongs to a lane of a transfer (`pointsman.runtime.api.requests.Lane`). Whoever runs the request carries it out, so a
message of many items is combined and passed on in a single request. The engines' compiled loops know the functions of ``FOLDED``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

COPY = 0
"""Code of a fold that copies its left side."""
FOLDED: Mapping[np.ufunc, int] = {
    np.add: 1,
    np.multiply: 2,
    np.minimum: 3,
    np.maximum: 4,
    np.fmin: 5,
    np.fmax: 6,
    np.bitwise_and: 7,
    np.bitwise_or: 8,
    np.bitwise_xor: 9,
}
"""Functions that can be folded, by code; the engines' loops have the same codes (``folds.h``, ``model_folds``)."""
BITWISE = 7
"""The first code of those that whole numbers alone have."""
TYPES: Mapping[np.dtype[Any], int] = {
    np.dtype(name): code for code, name in enumerate(("int32", "float32", "int64", "float64"))
}
"""Codes of the types of items."""


class Fold:
    """``result[k] = function(left[k], right[k])`` for the words of an item, when its lane has moved all of them.

    Parameters
    ----------
    function : ufunc or None
        One that `foldable` knows; None: ``left`` is copied.
    dtype : dtype
        Of the items.
    left, right, result : array of uint32
        Messages as words, as long as the lane. ``right`` means nothing for a copy; ``result`` may be one of the others.
    """

    __slots__ = ("code", "dtype", "function", "left", "result", "right")

    def __init__(
        self,
        function: Callable[..., Any] | None,
        dtype: np.dtype[Any],
        left: np.ndarray,
        right: np.ndarray | None,
        result: np.ndarray,
    ) -> None:
        self.function = function
        self.dtype = dtype
        self.left = left
        self.right = left if right is None else right
        self.result = result
        self.code = TYPES[dtype] + len(TYPES) * (COPY if function is None else FOLDED[function])  # type: ignore[index]
        """Code of the function, times four, and of the type."""

    def of(self, left: np.ndarray, right: np.ndarray, result: np.ndarray) -> Fold:
        """This fold of other messages, as long as its own."""
        other = Fold.__new__(Fold)
        other.function, other.dtype, other.code = self.function, self.dtype, self.code
        other.left, other.right, other.result = left, right, result
        return other

    def apply(self, first: int, end: int) -> None:
        """Combine the words from ``first`` to before ``end``."""
        left, result = self.left[first:end], self.result[first:end]
        if self.function is None:
            result[:] = left
            return
        right = self.right[first:end].view(self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            self.function(left.view(self.dtype), right, out=result.view(self.dtype))


def foldable(function: object, dtype: np.dtype[Any]) -> bool:
    """Do the engines' loops have the function for items of this type?"""
    if not isinstance(function, np.ufunc) or dtype not in TYPES:
        return False
    code = FOLDED.get(function)
    return code is not None and (code < BITWISE or dtype.kind == "i")
