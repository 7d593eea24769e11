"""Functions that combine messages (Metcalf 1997, A.1): the application's own, or built-in ones such as "add" and "max".

For an array type a function takes two inputs and the output, which may be one of the inputs; otherwise it takes two items and
returns the result. NumPy's binary functions can be called both ways.
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
"""Built-in functions, by the name that a COP program uses."""


def function_named(signature: Signature, functions: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """The function that an operator of a COP program names; addition if it names none.

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


def takes_items(function: Callable[..., Any]) -> bool:
    """Does a function surely combine item k of two messages with each other only?"""
    # A ufunc with a signature, like matmul, works on several items at once.
    return isinstance(function, np.ufunc) and function.signature is None


@dataclass(frozen=True)
class Combiner:
    """Applies ``function`` to words of messages with items of type ``dtype``. ``array`` False: a message is a single item."""

    function: Callable[..., Any]
    dtype: np.dtype[Any]
    array: bool

    @property
    def item(self) -> int | None:
        """Words of an item if the function combines item k with item k only (a plain ufunc); None if that is not certain."""
        return max(1, self.dtype.itemsize // 4) if takes_items(self.function) else None

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
