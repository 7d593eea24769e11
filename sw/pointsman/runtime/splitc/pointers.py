"""Global and spread pointers: a processor and an address in its memory (von Eicken 1993, §6.1.2, Figures 6-4 and 6-6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError

from .memory import plain_type


@dataclass(frozen=True, slots=True)
class GlobalPointer:
    """An object of type ``dtype`` at address ``addr`` of processor ``proc``. Arithmetic stays on the processor: <p, l + i S>."""

    proc: int
    addr: int
    dtype: np.dtype[Any]

    def __add__(self, items: int) -> GlobalPointer:
        return to_global(self.proc, self.addr + int(items) * self.dtype.itemsize, self.dtype)

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, GlobalPointer):
            return self + -other
        _check_alike(self, other)
        if self.proc != other.proc:
            raise PointsmanError(f"global pointers to processors {self.proc} and {other.proc} have no difference")
        return _whole(self.addr - other.addr, self.dtype.itemsize)

    def __bool__(self) -> bool:
        return self.addr != 0

    def spread(self, procs: int) -> SpreadPointer:
        """The same object, with the arithmetic of spread pointers on ``procs`` processors."""
        return SpreadPointer(self.proc, self.addr, self.dtype, procs)

    def typed(self, dtype: Any) -> GlobalPointer:
        """The same address, of another type."""
        return replace(self, dtype=plain_type(dtype))

    @property
    def packed(self) -> int:
        """The pointer as 64 bits: the processor in the upper half, the address in the lower."""
        return self.proc << 32 | self.addr


@dataclass(frozen=True, slots=True)
class SpreadPointer:
    """As a global pointer, but the next object is on the next processor: <(p + i) mod P, l + ((p + i) div P) S>."""

    proc: int
    addr: int
    dtype: np.dtype[Any]
    procs: int

    def __add__(self, items: int) -> SpreadPointer:
        rows, proc = divmod(self.proc + int(items), self.procs)
        return SpreadPointer(proc, self.addr + rows * self.dtype.itemsize, self.dtype, self.procs)

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, SpreadPointer):
            return self + -other
        _check_alike(self, other)
        return _whole(self.addr - other.addr, self.dtype.itemsize) * self.procs + self.proc - other.proc

    def __bool__(self) -> bool:
        return self.addr != 0

    @property
    def here(self) -> GlobalPointer:
        """The object as a global pointer."""
        return to_global(self.proc, self.addr, self.dtype)


def to_global(proc: int, addr: int, dtype: Any) -> GlobalPointer:
    """A global pointer. The null pointer is of processor 0 whatever ``proc`` is, so there is only one."""
    return GlobalPointer(proc if addr else 0, addr, np.dtype(dtype))


def unpacked(word: int, dtype: Any) -> GlobalPointer:
    """The pointer that `GlobalPointer.packed` made 64 bits of."""
    return to_global(word >> 32, word & 0xFFFFFFFF, dtype)


NULL = to_global(0, 0, np.int32)


def _check_alike(one: GlobalPointer | SpreadPointer, other: GlobalPointer | SpreadPointer) -> None:
    if one.dtype != other.dtype:
        raise PointsmanError(f"pointers to {one.dtype} and {other.dtype} have no difference")


def _whole(distance: int, size: int) -> int:
    if distance % size:
        raise PointsmanError(f"pointers that are {distance} bytes apart have no difference in objects of {size} bytes")
    return distance // size
