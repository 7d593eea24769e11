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
from pointsman.foreign import shown

from .messages import as_items
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
        raise PointsmanError(
            f"{signature.where}operator '{signature.label}' names the function {name}, which the application does not have",
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
    """Applies ``function`` to words of messages with items of type ``dtype``. ``array`` False: a message is a single item.
    ``where``: for errors, whose function it is."""

    function: Callable[..., Any]
    dtype: np.dtype[Any]
    array: bool
    where: str = "a function that combines messages"

    @property
    def item(self) -> int | None:
        """Words of an item if the function combines item k with item k only (a plain ufunc); None if that is not certain."""
        return max(1, self.dtype.itemsize // 4) if takes_items(self.function) else None

    def __call__(self, a: np.ndarray, b: np.ndarray, out: np.ndarray, /) -> None:
        """Combine ``a`` and ``b`` into ``out``.

        Raises
        ------
        PointsmanError
            If the function cannot be called so, or gives what is no item of the type. What it raises itself is passed on.
        """
        left, right, result = a.view(self.dtype), b.view(self.dtype), out.view(self.dtype)
        try:
            if isinstance(self.function, np.ufunc):
                with np.errstate(
                    all="ignore"
                ):  # inf - inf is a result like any other, and no place of the application's to name
                    self.function(left, right, out=result)
                return
            with np.errstate(over="ignore"):
                if self.array:
                    self._refuse_returned(self.function(left, right, result), result)
                    return
                given = self.function(left[0], right[0])
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            takes = "two inputs and the output" if self.array else "two numbers and returns one"
            raise PointsmanError(
                f"{self.where}: {error}", hint=f"for type {self.dtype}{'*' * self.array} it takes {takes}"
            ) from None
        try:
            items = as_items(given.item() if isinstance(given, np.generic) else given, self.dtype)
            if items.size != 1:
                raise PointsmanError(f"an array of {items.size} items")
        except PointsmanError as error:
            raise PointsmanError(
                f"{self.where} gives what is no {self.dtype}: {error.message}", hint=error.hint
            ) from None
        result[:] = items.reshape(-1)

    def _refuse_returned(self, given: Any, result: np.ndarray) -> None:
        """Refuse numbers that a function gives back in place of writing them: the output would have kept what it held."""
        if isinstance(given, np.ndarray | np.generic | int | float) and not np.may_share_memory(given, result):
            raise PointsmanError(
                f"{self.where} returns {shown(given)}, and is to write it into its third argument",
                hint="out[:] = …, for an array type; for a plain one it returns the number",
            )


def combiner(signature: Signature, function: Callable[..., Any]) -> Combine:
    """``function`` on the words of messages of the operator's type."""
    where = f"{signature.where}the function that combines messages of '{signature.label}'"
    return Combiner(function, np.dtype(signature.type.rstrip("*")), signature.type.endswith("*"), where)
