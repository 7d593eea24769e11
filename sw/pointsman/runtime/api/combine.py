"""Functions that combine messages (Metcalf 1997, A.1): of the application, or one of those that every program knows.

An array function takes two inputs and the output, which may be one of them; another takes two items and returns the
result. NumPy's binary functions can be called both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointsman.cop.text.source import suggestion
from pointsman.errors import PointsmanError

from .substrate import Combine, Signature

KNOWN: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sum": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Functions that need no definition."""


def function_named(signature: Signature, functions: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """The function that a COP program names; items are added if it names none.

    Raises
    ------
    PointsmanError
        If neither the application nor Pointsman has it.
    """
    name = signature.function
    if name is None:
        return np.add
    found = functions.get(name, KNOWN.get(name))
    if found is None:
        known = sorted({*functions, *KNOWN})
        where = f"{signature.source}: " if signature.source else ""
        raise PointsmanError(
            f"{where}operator '{signature.label}' names the function {name}, which the application does not have",
            hint=suggestion(name, known)
            or f"give it in the application's functions; without that there are {', '.join(known)}",
        )
    return found


@dataclass(frozen=True)
class Combiner:
    """``function`` on the words of messages of items of type ``dtype``; not ``array``: on a message that is one item."""

    function: Callable[..., Any]
    dtype: np.dtype[Any]
    array: bool

    @property
    def item(self) -> int | None:
        """Words of an item, if it is certain that items are combined one by one."""
        # A ufunc with a signature, like matmul, works on more than one item.
        one = isinstance(self.function, np.ufunc) and self.function.signature is None
        return max(1, self.dtype.itemsize // 4) if one else None

    def __call__(self, a: np.ndarray, b: np.ndarray, out: np.ndarray, /) -> None:
        left, right, result = a.view(self.dtype), b.view(self.dtype), out.view(self.dtype)
        with np.errstate(over="ignore"):
            if isinstance(self.function, np.ufunc):
                self.function(left, right, out=result)
            elif self.array:
                self.function(left, right, result)
            else:
                result[0] = self.function(left[0], right[0])


def combiner(signature: Signature, function: Callable[..., Any]) -> Combine:
    """``function`` on the words of messages of the operator's type."""
    return Combiner(function, np.dtype(signature.type.rstrip("*")), signature.type.endswith("*"))
