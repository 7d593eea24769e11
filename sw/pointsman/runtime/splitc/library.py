"""Split-C at a processor: reads and writes, gets and puts, stores, and their counters (von Eicken 1993, §6.1.2).

The functions that may have to wait, or to take messages, are coroutines. ``sync`` and its kin are as in the text: until
``sync`` the value of a variable that a get or put assigns is undefined, gets and puts between two of them take effect in any
order, and any number may be under way.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from operator import index
from typing import Any, TypeVar

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.foreign import shown
from pointsman.runtime.active.carrier import DATA_BYTES, Carrier
from pointsman.runtime.active.layers import LayerEndpoint
from pointsman.runtime.api.node import Node

from .accesses import Accesses
from .accessors import Atomic, Counter, StoreCounter
from .atomic import BUILT_IN, AtomicCalls
from .bulk import BulkTransfers
from .collectives import Collectives
from .memory import STACK_BYTES, counted, packed, plain_type
from .pointers import GlobalPointer, SpreadPointer, to_global

Pointer = GlobalPointer | SpreadPointer
Kind = TypeVar("Kind", Counter, StoreCounter)
IN_MAIN = "in splitc_main"
"""What a processor is doing that does not wait."""


class SplitC:
    """What a processor's ``splitc_main`` works with.

    Parameters
    ----------
    node : Node
        The node that runs it.
    carrier : Carrier
        What carries its active messages.
    memory_bytes : int
        Bytes of each processor's memory; the same everywhere.
    atomics : mapping of str to function
        Atomic calls beside those that are built in: ``(old value, operand)`` to ``(new value, answer)``.
    poll_local : bool
        Take a message with each access to the own memory through a pointer, as the implementation on the CM-5 does.
    interrupts : bool
        Requests of others are handled when they come, also while this processor computes; on ``numesh``.
    endpoint : LayerEndpoint, optional
        Where Split-C shares an endpoint with other layers (`pointsman.runtime.active.layers`).

    Attributes
    ----------
    MYPROC, PROCS : int
        Number of this processor, and how many there are.
    argv : list of str
        Arguments of the program, which processor 0 has told the others.
    """

    def __init__(
        self,
        node: Node,
        carrier: Carrier,
        *,
        memory_bytes: int = 1 << 20,
        atomics: Mapping[str, Atomic] | None = None,
        poll_local: bool = False,
        interrupts: bool = False,
        endpoint: LayerEndpoint | None = None,
    ) -> None:
        self.node = node
        self.MYPROC, self.PROCS = carrier.number, carrier.nodes
        self.argv: list[str] = []
        functions = {**BUILT_IN, **(atomics or {})}
        self.accesses = Accesses(
            carrier, memory_bytes, functions, poll_local=poll_local, interrupts=interrupts, endpoint=endpoint
        )
        self.state, self.memory = self.accesses.state, self.accesses.memory
        self.endpoint = self.accesses.endpoint
        self._own = self.state.counter()
        """Of blocking reads and writes."""
        self._gets = self.state.counter()
        """The static one of gets and puts."""
        self._stores = self.state.store_counter()
        """The static one of stores."""
        self._scratch = self.memory.stack_start + STACK_BYTES - 2 * DATA_BYTES
        self.bulk = BulkTransfers(self.accesses)
        self.collectives = Collectives(self.accesses, self.bulk)
        self.atomic_calls = AtomicCalls(self.accesses, list(functions))

    # -- memory ----------------------------------------------------------------------------------------------

    def pointer(self, proc: int, addr: int, dtype: Any) -> GlobalPointer:
        """A global pointer (``toGlobal``); address 0 gives the null pointer."""
        kind = plain_type(dtype)
        try:
            return to_global(index(proc), index(addr), kind)
        except TypeError:
            raise PointsmanError(f"a pointer is a processor and an address, not {proc!r} and {addr!r}") from None

    def allocate(self, items: int, dtype: Any) -> GlobalPointer:
        """Room for ``items`` objects in this processor's heap."""
        kind = plain_type(dtype)
        return to_global(self.MYPROC, self.memory.allocate(counted(items) * kind.itemsize), kind)

    def free(self, pointer: GlobalPointer) -> None:
        """Give back what `allocate` gave here."""
        if pointer.proc != self.MYPROC:
            raise PointsmanError(f"processor {self.MYPROC} frees memory of processor {pointer.proc}")
        self.memory.free(pointer.addr)
        self.state.queues.pop(pointer.addr, None)

    async def all_spread_allocate(self, items: int, dtype: Any) -> SpreadPointer:
        """Room for ``items`` objects, spread over all processors; called by all, with the same values. Gives object 0."""
        kind = plain_type(dtype)
        rows = -(-counted(items) // self.PROCS)
        # Before the others hear of it: whoever has, may write here at once.
        addr = self.memory.grow_spread(rows * kind.itemsize)
        await self._agreed(rows * kind.itemsize, "bytes to allocate in the spread segment")
        return SpreadPointer(0, addr, kind, self.PROCS)

    async def all_spread_free(self, pointer: SpreadPointer) -> None:
        """Give back the newest block of the spread segment; called by all."""
        await self._agreed(pointer.addr, "the address to free in the spread segment")
        self.memory.shrink_spread(pointer.addr)

    async def _agreed(self, value: int, what: str) -> None:
        agreeing = self.collectives.reduce(np.array([value, -value], np.int64), np.maximum)
        most = await self._waits(f"agreeing on {what}", agreeing)
        if most[0] != -most[1]:
            raise PointsmanError(
                f"the processors do not agree on {what}: {-most[1]} to {most[0]}",
                hint="all call it with the same values",
            )

    def local(self, pointer: Pointer, items: int = 1) -> np.ndarray:
        """``items`` objects of this processor's own memory, as an array that is the memory itself."""
        if pointer.proc != self.MYPROC:
            raise PointsmanError(
                f"processor {self.MYPROC} uses address {pointer.addr:#x} of processor {pointer.proc} as its own",
                hint="read, get or bulk_get bring it here",
            )
        return self.memory.view(pointer.addr, items, pointer.dtype)

    # -- blocking --------------------------------------------------------------------------------------------

    async def read(self, pointer: Pointer) -> Any:
        """The value of an object."""
        size = self._checked(pointer, "reads")
        if pointer.proc == self.MYPROC:
            await self.accesses.polled()
            return self._value(pointer.dtype, pointer.addr)
        own = self._own
        own.outstanding += 1
        self.node.activity = "in read"
        await self.endpoint.request(pointer.proc, "get", (pointer.addr, size, self._scratch, own.number))
        await self.accesses.sync(own)
        self.node.activity = IN_MAIN
        return self._value(pointer.dtype, self._scratch)

    async def write(self, pointer: Pointer, value: Any) -> None:
        """Assign to an object, and wait until that is done."""
        self.node.activity = "in write"
        await self.put(pointer, value, self._own)
        await self.accesses.sync(self._own)
        self.node.activity = IN_MAIN

    # -- split-phase -----------------------------------------------------------------------------------------

    def counter(self) -> Counter:
        """A counter of gets and puts, for `sync`."""
        return self.state.counter()

    async def get(self, pointer: Pointer, local: GlobalPointer, counter: Counter | None = None) -> None:
        """``local := object``: begin to read; the value is there after `sync`."""
        size = self._checked(pointer, "gets")
        self._check_local(local, size)
        if pointer.proc == self.MYPROC:
            await self.accesses.polled()
            self.memory.raw[local.addr : local.addr + size] = bytes(self.memory.raw[pointer.addr : pointer.addr + size])
            return
        one = _given(counter, self._gets)
        one.outstanding += 1
        await self.endpoint.request(pointer.proc, "get", (pointer.addr, size, local.addr, one.number))

    async def put(self, pointer: Pointer, value: Any, counter: Counter | None = None) -> None:
        """``object := value``: begin to write; done after `sync`."""
        self._checked(pointer, "puts to")
        data = packed(pointer.dtype, value)
        if pointer.proc == self.MYPROC:
            await self.accesses.polled()
            self.memory.raw[pointer.addr : pointer.addr + len(data)] = data
            return
        one = _given(counter, self._gets)
        one.outstanding += 1
        await self.endpoint.request(pointer.proc, "put", (pointer.addr, one.number), data)

    async def sync(self, counter: Counter | None = None) -> None:
        """Wait until all gets and puts of a counter are complete."""
        one = _given(counter, self._gets)
        await self._waits("in sync", self.accesses.sync(one), lambda: f"{one.outstanding} messages have not come")

    # -- stores ----------------------------------------------------------------------------------------------

    def store_counter(self) -> StoreCounter:
        """A counter of stores: for a data structure, a direction, a wave. All processors make theirs in the same order."""
        return self.state.store_counter()

    async def store(self, pointer: Pointer, value: Any, counter: StoreCounter | None = None) -> None:
        """``object :- value``: write, with no answer."""
        self._checked(pointer, "stores to")
        data = packed(pointer.dtype, value)
        await self.accesses.store_bytes(pointer.proc, pointer.addr, data, _given(counter, self._stores))

    async def store_many(
        self, base: Pointer, places: Sequence[int] | np.ndarray, values: np.ndarray, counter: StoreCounter | None = None
    ) -> None:
        """For each k: ``*(base + places[k]) :- values[k]``, each a message of its own, in this order."""
        kind = base.dtype
        where = np.asarray(places)
        given = np.asarray(values)
        if where.ndim != 1 or where.shape != given.shape:
            raise PointsmanError(f"there are {where.size} places to store to and {given.size} values")
        if not len(where):
            return
        if where.dtype.kind not in "iu":
            raise PointsmanError(f"places are whole numbers, not {where.dtype}")
        for place in (int(where.min()), int(where.max())):  # all between them are as good
            self._checked(base + place, "stores to")
        where = where.astype(np.int64)
        if isinstance(base, SpreadPointer):
            rows, procs = np.divmod(base.proc + where, self.PROCS)
        else:
            rows, procs = where, np.full(len(where), base.proc)
        addrs = base.addr + rows * kind.itemsize
        one = _given(counter, self._stores)
        data = _all_packed(kind, given)
        one.sent += len(data)
        await self.endpoint.request_many(procs, "store", addrs, (one.number,), data, kind.itemsize)

    async def store_sync(self, size: int, counter: StoreCounter | None = None) -> None:
        """Wait until ``size`` bytes more have been stored here."""
        one = _given(counter, self._stores)
        waiting = self.accesses.store_sync(size, one)
        await self._waits("in store_sync", waiting, lambda: f"{one.received} of {size} bytes have come")

    async def all_store_sync(self, counter: StoreCounter | None = None) -> None:
        """Wait until all stores of all processors are complete; called by all (Figure 6-8)."""
        await self._waits("in all_store_sync", self._all_done([_given(counter, self._stores)]))

    async def all_stores_done(self) -> None:
        """As `all_store_sync`, of all counters of stores together."""
        await self._all_done([one for one in self.state.stores if one not in self.collectives.own])

    async def _all_done(self, counters: Sequence[StoreCounter]) -> None:
        await self.collectives.barrier()
        mine = 0
        while True:
            for one in counters:
                mine += one.sent - one.received
                one.sent = one.received = 0
            if not (await self.collectives.reduce(np.array([mine], np.int64), np.add))[0]:
                return

    # -- bulk, collectives, atomic calls ---------------------------------------------------------------------

    async def bulk_read(self, local: GlobalPointer, pointer: GlobalPointer, items: int) -> None:
        """Copy ``items`` objects here, and wait for them."""
        await self.bulk.get(local, pointer, items, self._own)
        await self._waits("in bulk_read", self.accesses.sync(self._own))

    async def bulk_write(self, pointer: GlobalPointer, local: GlobalPointer, items: int) -> None:
        """Copy ``items`` objects from here, and wait until they are there."""
        await self.bulk.put(pointer, local, items, self._own)
        await self.sync(self._own)

    async def bulk_get(
        self, local: GlobalPointer, pointer: GlobalPointer, items: int, counter: Counter | None = None
    ) -> None:
        """Begin to copy ``items`` objects here; done after `sync`."""
        await self.bulk.get(local, pointer, items, _given(counter, self._gets))

    async def bulk_put(
        self, pointer: GlobalPointer, local: GlobalPointer, items: int, counter: Counter | None = None
    ) -> None:
        """Begin to copy ``items`` objects from here; done after `sync`."""
        await self.bulk.put(pointer, local, items, _given(counter, self._gets))

    async def bulk_store(
        self, pointer: GlobalPointer, local: GlobalPointer, items: int, counter: StoreCounter | None = None
    ) -> None:
        """Copy ``items`` objects from here, with no answer."""
        await self.bulk.store(pointer, local, items, _given(counter, self._stores))

    async def barrier(self) -> None:
        """Wait until all processors have called it."""
        await self._together("barrier", "", self.collectives.barrier())

    async def broadcast(self, value: Any, root: int = 0) -> np.ndarray:
        """The value of processor ``root``, everywhere. All call it, with arrays of the same type and length."""
        array = np.atleast_1d(np.asarray(value))
        return await self._together(f"broadcast from {root}", _shape(array), self.collectives.broadcast(array, root))

    async def reduce(self, value: Any, function: Any = np.add) -> np.ndarray:
        """The values of all processors combined, item by item, everywhere. ``function``: of two arrays, associative; the
        order is that of the processors."""
        array = np.atleast_1d(np.asarray(value))
        return await self._together("reduce", _shape(array), self.collectives.reduce(array, function))

    async def scan(self, value: Any, function: Any = np.add) -> np.ndarray:
        """The values of the processors up to this one combined."""
        array = np.atleast_1d(np.asarray(value))
        return await self._together("scan", _shape(array), self.collectives.scan(array, function))

    async def fetch_add(self, pointer: Pointer, value: Any) -> Any:
        """Add to an object; gives its value from before."""
        return await self.atomic("fetch_add", pointer, value)

    async def atomic(self, name: str, pointer: Pointer, operand: Any) -> Any:
        """Call an atomic function where the object is; gives its answer."""
        self._checked(pointer, f"calls '{name}' at")
        return await self._waits("in an atomic call", self.atomic_calls.call(name, pointer, operand))

    async def enqueue(self, queue: GlobalPointer, value: Any) -> int | None:
        """Append to a queue; gives the place, or None if it is full."""
        self._checked(queue, "appends to a queue of")
        return await self._waits("in enqueue", self.atomic_calls.enqueue(queue, value))

    def queue(self, items: int, dtype: Any) -> GlobalPointer:
        """A queue in this processor's heap, with room for ``items`` objects."""
        return self.atomic_calls.queue(counted(items), plain_type(dtype))

    def queued(self, queue: GlobalPointer) -> np.ndarray:
        """What has been appended to a queue of this processor."""
        return self.atomic_calls.queued(queue)

    # -- time ------------------------------------------------------------------------------------------------

    @property
    def time(self) -> int:
        """Cycles since the run began."""
        return self.node.time

    async def compute(self, cycles: int) -> None:
        """Work for ``cycles`` cycles, in which no message is taken."""
        await self.node.compute(cycles)
        self.node.activity = IN_MAIN

    async def poll(self) -> None:
        """Take a message, if one has come."""
        await self.endpoint.poll()

    # -- inside ----------------------------------------------------------------------------------------------

    async def _waits(
        self, doing: str, waiting: Coroutine[Any, Any, Any], explain: Callable[[], str] | None = None
    ) -> Any:
        """Wait, and say so to who asks what this processor is doing."""
        node = self.node
        before = node.activity
        node.activity, node.explain = doing, explain
        result = await waiting
        node.explain = None
        node.activity = before
        return result

    async def _together(self, name: str, shape: str, waiting: Coroutine[Any, Any, Any]) -> Any:
        """Take part in a collective call, once it is known to be that of the others."""
        called = f"{name} {shape}".rstrip()
        layer = self.endpoint.layer if isinstance(self.endpoint, LayerEndpoint) else ""
        other = self.node.claims.meets(layer, self.MYPROC, called)
        if other is not None:
            waiting.close()
            raise PointsmanError(
                f"processor {self.MYPROC} calls {called}, and processor {other[0]} calls {other[1]}",
                hint="all processors make the same collective calls in the same order, with arrays of the same type and length",
            )
        return await self._waits(f"in {name.split()[0]}", waiting, (lambda: shape) if shape else None)

    def _checked(self, pointer: Pointer, doing: str) -> int:
        if not isinstance(pointer, (GlobalPointer, SpreadPointer)):  # a union is much slower
            raise PointsmanError(f"processor {self.MYPROC} {doing} {pointer!r}, which is no pointer")
        if not 0 <= pointer.proc < self.PROCS:
            raise PointsmanError(f"processor {self.MYPROC} {doing} processor {pointer.proc}, of {self.PROCS}")
        size = pointer.dtype.itemsize
        if not 0 < size <= DATA_BYTES:
            raise PointsmanError(
                f"an object of {size} bytes is none for a message, which has 1 to {DATA_BYTES}",
                hint="bulk_get, bulk_put, bulk_store",
            )
        self.memory.check(self.MYPROC, pointer.addr, size, size, f"{doing} processor {pointer.proc},")
        return size

    def _check_local(self, local: GlobalPointer, size: int) -> None:
        if not isinstance(local, (GlobalPointer, SpreadPointer)):
            raise PointsmanError(f"processor {self.MYPROC} gets a value into {shown(local)}, which is no pointer")
        if local.proc != self.MYPROC:
            raise PointsmanError(f"processor {self.MYPROC} gets a value into the memory of processor {local.proc}")
        if local.dtype.itemsize != size:
            raise PointsmanError(
                f"processor {self.MYPROC} gets an object of {size} bytes into one of {local.dtype.itemsize}"
            )
        self.memory.check(self.MYPROC, local.addr, size, size, "uses its own")

    def _value(self, dtype: np.dtype[Any], addr: int) -> Any:
        return self.memory.bytes[addr : addr + dtype.itemsize].view(dtype)[0].copy()


def _given(counter: Kind | None, static: Kind) -> Kind:
    """A counter that a program names, or the static one of this kind."""
    if counter is None:
        return static
    if type(counter) is not type(static):
        made = {Counter: "counter(), for gets and puts", StoreCounter: "store_counter(), for stores"}
        raise PointsmanError(
            f"this takes a counter that is made by {made[type(static)]}, not a {type(counter).__name__}"
        )
    return counter


def _shape(array: np.ndarray) -> str:
    return f"of {len(array)} {array.dtype}"


def _all_packed(kind: np.dtype[Any], values: np.ndarray) -> bytes:
    """The bytes of objects with these values; nothing is cut in silence."""
    with np.errstate(invalid="ignore"):
        made = values.astype(kind)
    if kind.kind in "iu" and not np.array_equal(made, values):
        wrong = next(value for value, one in zip(values.tolist(), made.tolist(), strict=True) if value != one)
        raise PointsmanError(f"{wrong!r} is no {kind}")
    return made.tobytes()
