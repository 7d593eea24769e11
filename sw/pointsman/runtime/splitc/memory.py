"""A processor's memory: four segments that begin at the same addresses everywhere (von Eicken 1993, Figure 6-5).

===========  ===========================================================================================
code         from 0: no data, so that an address is never 0
data         the heap, which each processor grows and shrinks by itself
spread       of the same size on all processors: growing and shrinking it is an operation of all of them
stack        the library's own room: a value that a blocking read waits for, slots of the collectives
===========  ===========================================================================================
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from operator import index
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active.handlers import HandlerAllocatesError

CODE_BYTES = 4096
STACK_BYTES = 16384
LEAST_BYTES = CODE_BYTES + 2 * STACK_BYTES
_ALIGNMENT = 8


class AccessError(PointsmanError):
    """An access to memory that is not there, not aligned, or of another kind."""


def plain_type(dtype: Any) -> np.dtype[Any]:
    """A type whose objects are so many bytes and nothing else."""
    kind = np.dtype(dtype)
    if kind.hasobject or not kind.itemsize:
        raise PointsmanError(f"a memory holds objects of a fixed number of bytes, not {kind}")
    return kind


def counted(items: Any) -> int:
    """How many objects are meant."""
    try:
        found = index(items)
    except TypeError:
        found = -1
    if found < 0:
        raise PointsmanError(f"objects are counted by whole numbers, 0 or more, not {items!r}")
    return found


def packed(kind: np.dtype[Any], value: Any) -> bytes:
    """The bytes of an object with this value; no number and no text is cut in silence."""
    try:
        packer = _packer(kind)
        if packer is not None:
            return packer.pack(value)
        if kind.kind in "SU" and len(value) > kind.itemsize // (4 if kind.kind == "U" else 1):
            raise ValueError
        return np.array(value, kind).tobytes()
    except (struct.error, TypeError, ValueError, OverflowError):
        raise PointsmanError(f"{value!r} is no {kind}") from None


@cache
def _packer(kind: np.dtype[Any]) -> struct.Struct | None:
    """What packs numbers of a type, much faster than NumPy one number; None for other types."""
    if kind.kind not in "iuf" or kind.itemsize > 8 or kind.char == "e":
        return None
    letter = {8: "d", 4: "f"} if kind.kind == "f" else {8: "q", 4: "i", 2: "h", 1: "b"}
    order = ">" if kind.byteorder == ">" else "<"
    return struct.Struct(order + (letter[kind.itemsize].upper() if kind.kind == "u" else letter[kind.itemsize]))


class Memory:
    """The memory of processor ``owner``, of ``size`` bytes.

    Attributes
    ----------
    bytes : uint8 array
        All of it.
    raw : memoryview
        The same.
    """

    def __init__(self, owner: int, size: int) -> None:
        if not isinstance(size, int | np.integer) or size < LEAST_BYTES or size % 64 or size > 1 << 30:
            raise PointsmanError(
                f"a memory must have {LEAST_BYTES} to 2^30 bytes, a multiple of 64, not {size!r}",
                hint="most of it is yours: 1048576 is usual",
            )
        self.owner = owner
        self.size = size
        self.bytes = np.zeros(size, np.uint8)
        self.raw = memoryview(self.bytes)  # type: ignore[arg-type]  # an array is a buffer
        self.spread_start = (CODE_BYTES + size - STACK_BYTES) // 2 // 64 * 64
        self.stack_start = size - STACK_BYTES
        self.blocks: dict[int, int] = {}
        """Bytes of allocated blocks of the heap, by address."""
        self.free_blocks: list[tuple[int, int]] = [(CODE_BYTES, self.spread_start - CODE_BYTES)]
        """Address and bytes of what is free in the heap, by address."""
        self.spread: list[tuple[int, int]] = []
        """Address and bytes of spread blocks, oldest first."""

    def check(self, proc: int, addr: int, size: int, itemsize: int, doing: str) -> None:
        """Refuse an access by ``proc`` to this memory, or to that of the same size of the processor that `doing` names: there are
        objects in its heap and its spread segment only."""
        if addr == 0:
            raise AccessError(f"processor {proc} {doing} the null pointer")
        if not CODE_BYTES <= addr <= self.stack_start - size:
            raise AccessError(
                f"processor {proc} {doing} address {addr:#x} ({size} bytes), outside {CODE_BYTES:#x} to {self.stack_start:#x}"
            )
        if itemsize in (2, 4, 8) and addr % itemsize:
            raise AccessError(f"processor {proc} {doing} address {addr:#x}, which is not aligned to {itemsize} bytes")

    def view(self, addr: int, items: int, dtype: Any) -> np.ndarray:
        """``items`` objects at an address, as an array that is the memory itself."""
        kind = np.dtype(dtype)
        size = counted(items) * kind.itemsize
        self.check(self.owner, addr, size, kind.itemsize, "uses its own")
        return self.bytes[addr : addr + size].view(kind)

    def allocate(self, size: int) -> int:
        """Address of a new block of the heap, of 0 bytes each; the first free place that is large enough."""
        wanted = max(_ALIGNMENT, _aligned(size))
        for place, (addr, room) in enumerate(self.free_blocks):
            if room >= wanted:
                self.free_blocks[place : place + 1] = [(addr + wanted, room - wanted)] if room > wanted else []
                self.blocks[addr] = wanted
                self.bytes[addr : addr + wanted] = 0
                return addr
        raise PointsmanError(
            f"processor {self.owner} has no {wanted} bytes left in its heap",
            hint="a larger memory: memory_bytes of the application",
        )

    def free(self, addr: int) -> None:
        """Give back a block of the heap."""
        if addr not in self.blocks:
            raise AccessError(
                f"processor {self.owner} frees address {addr:#x}, where no block begins", hint="a block is freed once"
            )
        self.free_blocks.append((addr, self.blocks.pop(addr)))
        self.free_blocks.sort()
        joined: list[tuple[int, int]] = []
        for at, room in self.free_blocks:
            if joined and sum(joined[-1]) == at:
                joined[-1] = (joined[-1][0], joined[-1][1] + room)
            else:
                joined.append((at, room))
        self.free_blocks = joined

    def grow_spread(self, size: int) -> int:
        """Address of a new block of the spread segment."""
        addr = sum(self.spread[-1]) if self.spread else self.spread_start
        wanted = max(_ALIGNMENT, _aligned(size))
        if addr + wanted > self.stack_start:
            raise PointsmanError(
                f"processor {self.owner} has no {wanted} bytes left in its spread segment",
                hint="a larger memory: memory_bytes of the application",
            )
        self.spread.append((addr, wanted))
        self.bytes[addr : addr + wanted] = 0
        return addr

    def shrink_spread(self, addr: int) -> None:
        """Give back the newest block of the spread segment."""
        if not self.spread or self.spread[-1][0] != addr:
            raise AccessError(
                f"processor {self.owner} frees address {addr:#x}, which is not the newest block of its spread segment"
            )
        self.spread.pop()


def _aligned(size: int) -> int:
    if size < 0:
        raise PointsmanError(f"a block must have 0 bytes or more, not {size}")
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class HandlerMemory(Memory):
    """A memory of which no handler may allocate. ``refuse``: raises an error if a handler runs."""

    def __init__(self, owner: int, size: int, refuse: Callable[[type[PointsmanError], str], None]) -> None:
        super().__init__(owner, size)
        self.refuse = refuse

    def allocate(self, size: int) -> int:
        self.refuse(HandlerAllocatesError, "allocates memory")
        return super().allocate(size)

    def grow_spread(self, size: int) -> int:
        self.refuse(HandlerAllocatesError, "allocates memory")
        return super().grow_spread(size)
