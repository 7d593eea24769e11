"""Split-C at a processor: reads and writes, gets and puts, stores, and their counters (von Eicken 1993, §6.1.2).

The functions that may have to wait, or to take messages, are coroutines. ``sync`` and its kin are as in the text: until
``sync`` the value of a variable that a get or put assigns is undefined, gets and puts between two of them take effect in any
order, and any number may be under way.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active.carrier import DATA_BYTES, Carrier
from pointsman.runtime.active.layers import LayerEndpoint
from pointsman.runtime.api.node import Node

from .accesses import Accesses
from .accessors import Atomic, Counter, StoreCounter
from .atomic import BUILT_IN, AtomicCalls
from .bulk import BulkTransfers
from .collectives import Collectives
from .memory import STACK_BYTES
from .pointers import GlobalPointer, SpreadPointer, to_global

Pointer = GlobalPointer | SpreadPointer


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
        self._packers: dict[np.dtype[Any], struct.Struct] = {}
        self.bulk = BulkTransfers(self.accesses)
        self.collectives = Collectives(self.accesses, self.bulk)
        self.atomic_calls = AtomicCalls(self.accesses, list(functions))

    # -- memory ----------------------------------------------------------------------------------------------

    def pointer(self, proc: int, addr: int, dtype: Any) -> GlobalPointer:
        """A global pointer (``toGlobal``); address 0 gives the null pointer."""
        return to_global(proc, addr, dtype)

    def allocate(self, items: int, dtype: Any) -> GlobalPointer:
        """Room for ``items`` objects in this processor's heap."""
        kind = np.dtype(dtype)
        return to_global(self.MYPROC, self.memory.allocate(items * kind.itemsize), kind)

    def free(self, pointer: GlobalPointer) -> None:
        """Give back what `allocate` gave here."""
        if pointer.proc != self.MYPROC:
            raise PointsmanError(f"processor {self.MYPROC} frees memory of processor {pointer.proc}")
        self.memory.free(pointer.addr)

    async def all_spread_allocate(self, items: int, dtype: Any) -> SpreadPointer:
        """Room for ``items`` objects, spread over all processors; called by all, with the same values. Gives object 0."""
        kind = np.dtype(dtype)
        rows = -(-items // self.PROCS)
        # Before the others hear of it: whoever has, may write here at once.
        addr = self.memory.grow_spread(rows * kind.itemsize)
        await self._agreed(rows * kind.itemsize, "bytes to allocate in the spread segment")
        return SpreadPointer(0, addr, kind, self.PROCS)

    async def all_spread_free(self, pointer: SpreadPointer) -> None:
        """Give back the newest block of the spread segment; called by all."""
        await self._agreed(pointer.addr, "the address to free in the spread segment")
        self.memory.shrink_spread(pointer.addr)

    async def _agreed(self, value: int, what: str) -> None:
        most = await self.collectives.reduce(np.array([value, -value], np.int64), np.maximum)
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
        await self.endpoint.request(pointer.proc, "get", (pointer.addr, size, self._scratch, own.number))
        await self.sync(own)
        return self._value(pointer.dtype, self._scratch)

    async def write(self, pointer: Pointer, value: Any) -> None:
        """Assign to an object, and wait until that is done."""
        await self.put(pointer, value, self._own)
        await self.sync(self._own)

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
        counted = counter or self._gets
        counted.outstanding += 1
        await self.endpoint.request(pointer.proc, "get", (pointer.addr, size, local.addr, counted.number))

    async def put(self, pointer: Pointer, value: Any, counter: Counter | None = None) -> None:
        """``object := value``: begin to write; done after `sync`."""
        self._checked(pointer, "puts to")
        data = self._packed(pointer.dtype, value)
        if pointer.proc == self.MYPROC:
            await self.accesses.polled()
            self.memory.raw[pointer.addr : pointer.addr + len(data)] = data
            return
        counted = counter or self._gets
        counted.outstanding += 1
        await self.endpoint.request(pointer.proc, "put", (pointer.addr, counted.number), data)

    async def sync(self, counter: Counter | None = None) -> None:
        """Wait until all gets and puts of a counter are complete."""
        await self.accesses.sync(counter or self._gets)

    # -- stores ----------------------------------------------------------------------------------------------

    def store_counter(self) -> StoreCounter:
        """A counter of stores: for a data structure, a direction, a wave. All processors make theirs in the same order."""
        return self.state.store_counter()

    async def store(self, pointer: Pointer, value: Any, counter: StoreCounter | None = None) -> None:
        """``object :- value``: write, with no answer."""
        self._checked(pointer, "stores to")
        data = self._packed(pointer.dtype, value)
        await self.accesses.store_bytes(pointer.proc, pointer.addr, data, counter or self._stores)

    async def store_many(
        self, base: Pointer, places: Sequence[int] | np.ndarray, values: np.ndarray, counter: StoreCounter | None = None
    ) -> None:
        """For each k: ``*(base + places[k]) :- values[k]``, each a message of its own, in this order."""
        index = np.asarray(places, np.int64)
        kind = base.dtype
        given = np.ascontiguousarray(values, kind)
        if len(index) != len(given):
            raise PointsmanError(f"there are {len(index)} places to store to and {len(given)} values")
        if not len(index):
            return
        if isinstance(base, SpreadPointer):
            rows, procs = np.divmod(base.proc + index, base.procs)
        else:
            rows, procs = index, np.full(len(index), base.proc)
        addrs = base.addr + rows * kind.itemsize
        for addr in (int(addrs.min()), int(addrs.max())):
            self.memory.check(self.MYPROC, addr, kind.itemsize, kind.itemsize, "stores to")
        counted = counter or self._stores
        counted.sent += given.nbytes
        await self.endpoint.request_many(procs, "store", addrs, (counted.number,), given.tobytes(), kind.itemsize)

    async def store_sync(self, size: int, counter: StoreCounter | None = None) -> None:
        """Wait until ``size`` bytes more have been stored here."""
        await self.accesses.store_sync(size, counter or self._stores)

    async def all_store_sync(self, counter: StoreCounter | None = None) -> None:
        """Wait until all stores of all processors are complete; called by all (Figure 6-8)."""
        await self._all_done([counter or self._stores])

    async def all_stores_done(self) -> None:
        """As `all_store_sync`, of all counters of stores together."""
        await self._all_done([one for one in self.state.stores[: self.state.named] if one not in self.collectives.own])

    async def _all_done(self, counters: Sequence[StoreCounter]) -> None:
        await self.collectives.barrier()
        mine = 0
        while True:
            for counted in counters:
                mine += counted.sent - counted.received
                counted.sent = counted.received = 0
            if not (await self.collectives.reduce(np.array([mine], np.int64), np.add))[0]:
                return

    # -- bulk, collectives, atomic calls ---------------------------------------------------------------------

    async def bulk_read(self, local: GlobalPointer, pointer: GlobalPointer, items: int) -> None:
        """Copy ``items`` objects here, and wait for them."""
        await self.bulk.get(local, pointer, items, self._own)
        await self.sync(self._own)

    async def bulk_write(self, pointer: GlobalPointer, local: GlobalPointer, items: int) -> None:
        """Copy ``items`` objects from here, and wait until they are there."""
        await self.bulk.put(pointer, local, items, self._own)
        await self.sync(self._own)

    async def bulk_get(
        self, local: GlobalPointer, pointer: GlobalPointer, items: int, counter: Counter | None = None
    ) -> None:
        """Begin to copy ``items`` objects here; done after `sync`."""
        await self.bulk.get(local, pointer, items, counter or self._gets)

    async def bulk_put(
        self, pointer: GlobalPointer, local: GlobalPointer, items: int, counter: Counter | None = None
    ) -> None:
        """Begin to copy ``items`` objects from here; done after `sync`."""
        await self.bulk.put(pointer, local, items, counter or self._gets)

    async def bulk_store(
        self, pointer: GlobalPointer, local: GlobalPointer, items: int, counter: StoreCounter | None = None
    ) -> None:
        """Copy ``items`` objects from here, with no answer."""
        await self.bulk.store(pointer, local, items, counter or self._stores)

    async def barrier(self) -> None:
        """Wait until all processors have called it."""
        await self.collectives.barrier()

    async def broadcast(self, value: Any, root: int = 0) -> np.ndarray:
        """The value of processor ``root``, everywhere. All call it, with arrays of the same type and length."""
        return await self.collectives.broadcast(np.atleast_1d(np.asarray(value)), root)

    async def reduce(self, value: Any, function: Any = np.add) -> np.ndarray:
        """The values of all processors combined, item by item, everywhere. ``function``: of two arrays, associative; the
        order is that of the processors."""
        return await self.collectives.reduce(np.atleast_1d(np.asarray(value)), function)

    async def scan(self, value: Any, function: Any = np.add) -> np.ndarray:
        """The values of the processors up to this one combined."""
        return await self.collectives.scan(np.atleast_1d(np.asarray(value)), function)

    async def fetch_add(self, pointer: Pointer, value: Any) -> Any:
        """Add to an object; gives its value from before."""
        return await self.atomic_calls.call("fetch_add", pointer, value)

    async def atomic(self, name: str, pointer: Pointer, operand: Any) -> Any:
        """Call an atomic function where the object is; gives its answer."""
        return await self.atomic_calls.call(name, pointer, operand)

    async def enqueue(self, queue: GlobalPointer, value: Any) -> int | None:
        """Append to a queue; gives the place, or None if it is full."""
        return await self.atomic_calls.enqueue(queue, value)

    def queue(self, items: int, dtype: Any) -> GlobalPointer:
        """A queue in this processor's heap, with room for ``items`` objects."""
        return self.atomic_calls.queue(items, np.dtype(dtype))

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

    async def poll(self) -> None:
        """Take a message, if one has come."""
        await self.endpoint.poll()

    # -- inside ----------------------------------------------------------------------------------------------

    def _checked(self, pointer: Pointer, doing: str) -> int:
        if not 0 <= pointer.proc < self.PROCS:
            raise PointsmanError(f"processor {self.MYPROC} {doing} processor {pointer.proc}, of {self.PROCS}")
        size = pointer.dtype.itemsize
        if size > DATA_BYTES:
            raise PointsmanError(
                f"an object of {size} bytes is too large for a message", hint="bulk_get, bulk_put, bulk_store"
            )
        self.memory.check(self.MYPROC, pointer.addr, size, size, f"{doing} processor {pointer.proc},")
        return size

    def _check_local(self, local: GlobalPointer, size: int) -> None:
        if local.proc != self.MYPROC:
            raise PointsmanError(f"processor {self.MYPROC} gets a value into the memory of processor {local.proc}")
        self.memory.check(self.MYPROC, local.addr, size, local.dtype.itemsize, "uses its own")

    def _value(self, dtype: np.dtype[Any], addr: int) -> Any:
        return self.memory.bytes[addr : addr + dtype.itemsize].view(dtype)[0].copy()

    def _packed(self, dtype: np.dtype[Any], value: Any) -> bytes:
        if dtype.kind not in "iuf" or dtype.char == "e":
            return np.array(value, dtype).tobytes()
        packer = self._packers.get(dtype)
        if packer is None:
            packer = self._packers[dtype] = struct.Struct("<" + {8: "q", 4: "i", 2: "h", 1: "b"}[dtype.itemsize])
            if dtype.kind == "f":
                packer = self._packers[dtype] = struct.Struct("<" + {8: "d", 4: "f"}[dtype.itemsize])
            elif dtype.kind == "u":
                packer = self._packers[dtype] = struct.Struct(packer.format.upper())
        try:
            return packer.pack(value)
        except struct.error:
            raise PointsmanError(f"{value!r} is no {dtype}") from None
