"""Atomic calls: a function runs where the object is, between messages, so nothing comes between (von Eicken 1993, §6.1.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active.carrier import DATA_BYTES

from .accesses import Accesses
from .accessors import REFUSED, TYPES, Atomic
from .memory import packed
from .pointers import GlobalPointer, SpreadPointer, to_global

BUILT_IN: Mapping[str, Atomic] = {
    "fetch_add": lambda old, operand: (old + operand, old),
    "fetch_max": lambda old, operand: (max(old, operand), old),
    "swap": lambda old, operand: (operand, old),
}
"""``(old value, operand)`` to ``(new value, answer)``."""


class AtomicCalls:
    """Atomic calls of a processor. ``names``: of all functions, in the order of their numbers."""

    def __init__(self, accesses: Accesses, names: Sequence[str]) -> None:
        self.accesses = accesses
        self.names = list(names)
        self.counter = accesses.state.counter()
        self.answer = accesses.memory.size - 16
        """Where the answer is put."""

    async def call(self, name: str, pointer: GlobalPointer | SpreadPointer, operand: Any) -> Any:
        accesses, kind = self.accesses, pointer.dtype
        if name not in self.names:
            raise PointsmanError(f"there is no atomic call '{name}'", hint=f"there are {', '.join(self.names)}")
        if kind not in TYPES:
            raise PointsmanError(f"an atomic call works on numbers of {', '.join(map(str, TYPES))}, not on {kind}")
        accesses.memory.check(
            accesses.own, pointer.addr, kind.itemsize, kind.itemsize, f"calls '{name}' at processor {pointer.proc},"
        )
        data = packed(kind, operand)
        what = TYPES.index(kind) | self.names.index(name) << 8
        self.counter.outstanding += 1
        arguments = (pointer.addr, what, self.answer, self.counter.number)
        await accesses.endpoint.request(pointer.proc, "atomic", arguments, data)
        await accesses.sync(self.counter)
        return self._answered(kind)

    def queue(self, items: int, dtype: np.dtype[Any]) -> GlobalPointer:
        if dtype.itemsize > DATA_BYTES or not 0 < items < REFUSED:
            raise PointsmanError(f"a queue must have room for 1 object or more of at most {DATA_BYTES} bytes")
        memory = self.accesses.memory
        made = to_global(self.accesses.own, memory.allocate(8 + items * dtype.itemsize), dtype)
        memory.view(made.addr, 2, np.uint32)[:] = items, 0
        self.accesses.state.queues[made.addr] = dtype.itemsize
        return made

    async def enqueue(self, queue: GlobalPointer, value: Any) -> int | None:
        accesses = self.accesses
        accesses.memory.check(accesses.own, queue.addr, 8, 8, f"appends to a queue of processor {queue.proc},")
        data = packed(queue.dtype, value)
        self.counter.outstanding += 1
        arguments = (queue.addr, self.answer, self.counter.number)
        await accesses.endpoint.request(queue.proc, "enqueue", arguments, data)
        await accesses.sync(self.counter)
        place = int(self._answered(np.dtype(np.uint32)))
        return None if place == REFUSED else place

    def _answered(self, kind: np.dtype[Any]) -> Any:
        return self.accesses.memory.bytes[self.answer : self.answer + kind.itemsize].view(kind)[0].copy()

    def queued(self, queue: GlobalPointer) -> np.ndarray:
        memory = self.accesses.memory
        if queue.proc != self.accesses.own:
            raise PointsmanError(f"processor {self.accesses.own} looks into a queue of processor {queue.proc}")
        return memory.view(queue.addr + 8, int(memory.view(queue.addr, 2, np.uint32)[1]), queue.dtype).copy()
