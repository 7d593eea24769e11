"""Bulk transfers: many bytes between a processor's own memory and another's (von Eicken 1993, §6.1.2, "Bulk Assignment").

A get is one request, answered by as many messages as it takes, which the asker counts. A put of a few messages has each
acknowledged. A longer one first has a counter allocated where it goes, which counts its bytes and acknowledges the last; where
messages keep their order, the last one is acknowledged and no counter is needed. A store is one-way.
"""

from __future__ import annotations

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.foreign import shown
from pointsman.runtime.active.carrier import DATA_BYTES

from .accesses import Accesses
from .accessors import REFUSED, Counter, StoreCounter
from .memory import counted
from .pointers import GlobalPointer, SpreadPointer

MIDDLE_BYTES = 4 * DATA_BYTES
"""Puts of so many bytes or less have each message acknowledged."""
MOST_BYTES = 1 << 16
"""Bytes that a get asks for at once."""


class BulkTransfers:
    """Bulk transfers of a processor."""

    def __init__(self, accesses: Accesses) -> None:
        self.accesses = accesses
        self.endpoint, self.memory = accesses.endpoint, accesses.memory
        self.answer = self.memory.size - 8
        """Where the answer of a processor asked for a counter is put."""

    async def get(self, local: GlobalPointer, pointer: GlobalPointer, items: int, counter: Counter) -> None:
        size = self._checked(local, pointer, items, "gets from")
        if pointer.proc == self.accesses.own:
            self.memory.raw[local.addr : local.addr + size] = bytes(self.memory.raw[pointer.addr : pointer.addr + size])
            return
        most = self.endpoint.carrier.replies
        step = MOST_BYTES if most is None else min(MOST_BYTES, most * DATA_BYTES)
        for at in range(0, size, step):
            piece = min(step, size - at)
            parts = -(-piece // DATA_BYTES)
            counter.outstanding += parts
            arguments = (pointer.addr + at, piece, local.addr + at, counter.number)
            await self.endpoint.request(pointer.proc, "get", arguments, replies=parts)

    async def put(self, pointer: GlobalPointer, local: GlobalPointer, items: int, counter: Counter) -> None:
        size = self._checked(local, pointer, items, "puts to")
        data = bytes(self.memory.raw[local.addr : local.addr + size])
        to = pointer.proc
        if to == self.accesses.own:
            self.memory.raw[pointer.addr : pointer.addr + size] = data
        elif size <= MIDDLE_BYTES:
            await self._acknowledged(to, pointer.addr, data, counter)
        elif self.endpoint.carrier.in_order:
            last = (size - 1) // DATA_BYTES * DATA_BYTES
            uncounted = self.accesses.uncounted.number
            await self._one_way(to, "store", pointer.addr, uncounted, data[:last])
            await self._acknowledged(to, pointer.addr + last, data[last:], counter)
        else:
            place = await self._opened(to, size, counter)
            if place == REFUSED:
                await self._acknowledged(to, pointer.addr, data, counter)
                return
            counter.outstanding += 1
            await self.endpoint.expect(1)  # the acknowledgement, by whichever message comes last
            await self._one_way(to, "part", pointer.addr, place, data)

    async def store(self, pointer: GlobalPointer, local: GlobalPointer, items: int, counter: StoreCounter) -> None:
        size = self._checked(local, pointer, items, "stores to")
        await self.store_bytes(
            pointer.proc, pointer.addr, bytes(self.memory.raw[local.addr : local.addr + size]), counter
        )

    async def store_bytes(self, to: int, addr: int, data: bytes, counter: StoreCounter) -> None:
        counter.sent += len(data)
        await self._one_way(to, "store", addr, counter.number, data)

    # -- inside ----------------------------------------------------------------------------------------------

    async def _one_way(self, to: int, handler: str, addr: int, second: int, data: bytes) -> None:
        parts = -(-len(data) // DATA_BYTES)
        firsts = addr + DATA_BYTES * np.arange(parts)
        await self.endpoint.request_many(np.full(parts, to), handler, firsts, (second,), data, DATA_BYTES)

    async def _acknowledged(self, to: int, addr: int, data: bytes, counter: Counter) -> None:
        for at in range(0, len(data), DATA_BYTES):
            counter.outstanding += 1
            await self.endpoint.request(to, "put", (addr + at, counter.number), data[at : at + DATA_BYTES])

    async def _opened(self, to: int, size: int, counter: Counter) -> int:
        """A counter at the processor ``to``, by its number there; REFUSED if it has none left."""
        answer = self.memory.bytes[self.answer : self.answer + 8]
        answer[:] = 0
        await self.endpoint.request(to, "open", (size, counter.number, self.answer))
        await self.endpoint.until(lambda: bool(answer[4]))
        return int(answer[:4].view(np.uint32)[0])

    def _checked(self, local: GlobalPointer, pointer: GlobalPointer, items: int, doing: str) -> int:
        own = self.accesses.own
        for one in (local, pointer):
            if not isinstance(one, (GlobalPointer, SpreadPointer)):
                raise PointsmanError(
                    f"both ends of a bulk transfer of processor {own} are pointers, and {shown(one)} is none",
                    hint="the near end is a pointer to this processor's memory, which all_spread_allocate and allocate give",
                )
        if local.dtype.itemsize != pointer.dtype.itemsize:
            raise PointsmanError(f"a bulk transfer needs objects of one size, not {local.dtype} and {pointer.dtype}")
        if not 0 <= pointer.proc < self.accesses.procs:
            raise PointsmanError(f"processor {own} {doing} processor {pointer.proc}, of {self.accesses.procs}")
        size = counted(items) * pointer.dtype.itemsize
        if local.proc != own:
            raise PointsmanError(f"the near end of a bulk transfer of processor {own} is at processor {local.proc}")
        self.memory.check(own, local.addr, size, local.dtype.itemsize, "uses its own")
        self.memory.check(own, pointer.addr, size, pointer.dtype.itemsize, f"{doing} processor {pointer.proc},")
        return size
