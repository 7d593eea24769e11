"""The handlers of Split-C: what a request does at the processor that owns the memory, and a reply at the one that asked.

``state`` is the `SplitCState` of the processor where the handler runs (von Eicken 1993, Figures 6-7 and 6-8).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active import Handlers, Reply
from pointsman.runtime.active.carrier import DATA_BYTES
from pointsman.runtime.active.handlers import HandlerWaitsError

from .memory import AccessError, Memory

BULK_COUNTERS = 64
"""Transfers in many messages that may come to a processor at the same time and are acknowledged once."""
STORE_COUNTERS = 256
"""Counters of stores of a processor. They are there from the start: a store may come before its processor has named the
counter."""
REFUSED = 0xFFFFFFFF
TYPES = tuple(np.dtype(name) for name in ("i4", "u4", "f4", "i8", "u8", "f8", "i2", "u2", "i1", "u1"))
"""Types of atomic calls, by their numbers in messages."""

Atomic = Callable[[Any, Any], tuple[Any, Any]]
"""``(old value, operand)`` to ``(new value, answer)``."""


class StoreCounter:
    """Bytes that have been stored, by this processor and at this processor."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sent = 0
        self.received = 0


class Counter:
    """Gets and puts of a processor that are not complete."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.outstanding = 0


class SplitCState:
    """What the handlers of a processor work on."""

    def __init__(self, memory: Memory, atomics: Mapping[str, Atomic]) -> None:
        self.memory = memory
        self.counters: list[Counter] = []
        self.stores = [StoreCounter(number) for number in range(STORE_COUNTERS)]
        self.named = 0
        """Counters of stores that are in use; the same at all processors once they have all named theirs."""
        self.bulk: list[list[int]] = [[] for _ in range(BULK_COUNTERS)]
        """Bytes that are still to come, and the counter at the sender; empty where the place is free."""
        for name, function in atomics.items():
            if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
                raise HandlerWaitsError(
                    f"atomic call '{name}' is a coroutine, and must not wait",
                    hint="def, not async def: (old value, operand) to (new value, answer)",
                )
        self.atomics = list(atomics.items())
        self.queues: dict[int, int] = {}
        """Bytes of an object of each queue of this processor, by the queue's address."""

    def counter(self) -> Counter:
        made = Counter(len(self.counters))
        self.counters.append(made)
        return made

    def store_counter(self) -> StoreCounter:
        if self.named == STORE_COUNTERS:
            raise PointsmanError(f"a processor has {STORE_COUNTERS} counters of stores")
        self.named += 1
        return self.stores[self.named - 1]


def _get(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    addr, size, local, counter = arguments
    return Reply("get reply", (local, counter), bytes(state.memory.raw[addr : addr + size]))


def _get_reply(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    local, counter = arguments
    state.memory.raw[local : local + len(data)] = data
    state.counters[counter].outstanding -= 1


def _get_replies(
    state: SplitCState, source: int, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int
) -> None:
    scatter(state.memory, firsts, data, size)
    state.counters[rest[0]].outstanding -= len(firsts)


def _put(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    addr, counter = arguments
    state.memory.raw[addr : addr + len(data)] = data
    return Reply("acknowledge", (counter,))


def _acknowledge(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.counters[arguments[0]].outstanding -= 1


def _store(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    addr, counter = arguments
    state.memory.raw[addr : addr + len(data)] = data
    state.stores[counter].received += len(data)


def _stores(state: SplitCState, source: int, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int) -> None:
    scatter(state.memory, firsts, data, size)
    state.stores[rest[0]].received += len(data)


def _open(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    """Reserve one of the counters for a transfer; they were made beforehand, so nothing is allocated."""
    size, counter, answer = arguments
    for place, one in enumerate(state.bulk):
        if not one:
            one[:] = size, counter
            return Reply("opened", (answer, place))
    return Reply("opened", (answer, REFUSED))


def _opened(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    answer, place = arguments
    state.memory.bytes[answer : answer + 4].view(np.uint32)[0] = place
    state.memory.bytes[answer + 4] = 1


def _part(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> Reply | None:
    addr, place = arguments
    state.memory.raw[addr : addr + len(data)] = data
    return _counted(state, place, len(data))


def _parts(
    state: SplitCState, source: int, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int
) -> Reply | None:
    scatter(state.memory, firsts, data, size)
    return _counted(state, rest[0], len(data))


def _counted(state: SplitCState, place: int, size: int) -> Reply | None:
    one = state.bulk[place]
    one[0] -= size
    if one[0]:
        return None
    counter = one[1]
    one.clear()
    return Reply("acknowledge", (counter,))


def _atomic(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    addr, what, local, counter = arguments
    kind = TYPES[what & 255]
    cell = state.memory.bytes[addr : addr + kind.itemsize].view(kind)
    name, function = state.atomics[what >> 8]
    with np.errstate(over="ignore"):  # whole numbers go round, as in C
        given = function(cell[0], np.frombuffer(data, kind)[0])
    if inspect.isawaitable(given):
        if inspect.iscoroutine(given):
            given.close()
        raise HandlerWaitsError(f"atomic call '{name}' gives something to await, and must not wait")
    try:
        new, answer = given
        cell[0] = new
        return Reply("get reply", (local, counter), np.array(answer, kind).tobytes())
    except (TypeError, ValueError, OverflowError):
        raise PointsmanError(
            f"atomic call '{name}' of processor {source} at processor {state.memory.owner} gives {given!r}",
            hint=f"(new value, answer), both {kind}",
        ) from None


def _enqueue(state: SplitCState, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    addr, local, counter = arguments
    size = state.queues.get(addr)
    if size != len(data):
        there = "no queue begins" if size is None else f"a queue of objects of {size} bytes begins"
        raise AccessError(
            f"processor {source} appends {len(data)} bytes to a queue of processor {state.memory.owner} at address {addr:#x}, "
            f"where {there}"
        )
    head = state.memory.bytes[addr : addr + 8].view(np.uint32)
    room, count = head.tolist()
    place = count if count < room else REFUSED
    if count < room:
        start = addr + 8 + count * len(data)
        state.memory.raw[start : start + len(data)] = data
        head[1] = count + 1
    return Reply("get reply", (local, counter), place.to_bytes(4, "little"))


def scatter(memory: Memory, firsts: np.ndarray, data: bytes, size: int) -> None:
    """Put pieces of ``size`` bytes (the last may be shorter) at addresses, one after the other."""
    count = len(firsts)
    if count == 0:
        return
    start = int(firsts[0])
    if size >= DATA_BYTES and int(firsts[-1]) == start + (count - 1) * size:
        memory.raw[start : start + len(data)] = data
        return
    whole = np.frombuffer(data, np.uint8)
    memory.bytes[firsts[:, None] + np.arange(size)] = whole.reshape(count, size)


def splitc_handlers() -> Handlers:
    """The handlers of the library."""
    handlers = Handlers()
    for name, function, batch in (
        ("get", _get, None),
        ("put", _put, None),
        ("store", _store, _stores),
        ("open", _open, None),
        ("part", _part, _parts),
        ("atomic", _atomic, None),
        ("enqueue", _enqueue, None),
    ):
        handlers.add(name, function, batch=batch)
    for name, reply, batch in (
        ("get reply", _get_reply, _get_replies),
        ("acknowledge", _acknowledge, None),
        ("opened", _opened, None),
    ):
        handlers.add(name, reply, reply=True, batch=batch)
    return handlers
