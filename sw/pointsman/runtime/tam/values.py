"""Values of TAM: whole numbers of 64 bits and fractions, what instructions compute of them, and their bytes in messages."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping

from pointsman.errors import PointsmanError

from .program import Value

LEAST, MOST = -(1 << 63), (1 << 63) - 1


def check_value(value: Value) -> Value:
    """A number that a text has, or an argument of a program; one that no processor holds is refused."""
    if not (LEAST <= value <= MOST if isinstance(value, int) else math.isfinite(value)):
        raise PointsmanError("a number has 64 bits, and is not infinite", hint="a whole number, or a fraction: 5, 1e30")
    return value


def whole(value: Value, what: str) -> int:
    """A value that must be a whole number: a node, a frame, a structure, a place in one.

    Raises
    ------
    PointsmanError
        If it is a fraction. Nothing is cut in silence.
    """
    if not isinstance(value, int):
        raise PointsmanError(f"{what} must be a whole number, not {value}")
    return value


def _shifted(one: int, other: int) -> int:
    return one << min(other, 64)  # too large in any case


def _divided(one: Value, other: Value) -> Value:
    return one // other if isinstance(one, int) and isinstance(other, int) else one / other


OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "mov": lambda one: one,
    "float": float,
    "int": int,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divided,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": _shifted,
    "shr": operator.rshift,
    "lt": lambda one, other: int(one < other),
    "le": lambda one, other: int(one <= other),
    "eq": lambda one, other: int(one == other),
    "ne": lambda one, other: int(one != other),
    "min": min,
    "max": max,
}


def packed(values: list[Value]) -> tuple[int, bytes]:
    """Values as 8 bytes each, and a mask of those that are fractions."""
    mask = sum(isinstance(value, float) << place for place, value in enumerate(values))
    try:
        return mask, b"".join(struct.pack("<d" if isinstance(one, float) else "<q", one) for one in values)
    except struct.error:
        raise PointsmanError("a value of a message has 64 bits at most") from None


def unpacked(mask: int, data: bytes) -> list[Value]:
    """The values that `packed` packed."""
    made: list[Value] = []
    for place in range(len(data) // 8):
        made.append(struct.unpack_from("<d" if mask >> place & 1 else "<q", data, 8 * place)[0])
    return made
