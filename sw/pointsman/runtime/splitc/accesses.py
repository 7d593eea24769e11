"""What all of the library is made of: requests to other memories, and waiting for counters."""

from __future__ import annotations

from collections.abc import Mapping

from pointsman.errors import PointsmanError
from pointsman.runtime.active import Endpoint
from pointsman.runtime.active.carrier import Carrier
from pointsman.runtime.active.layers import AnyEndpoint, LayerEndpoint

from .accessors import Atomic, Counter, SplitCState, StoreCounter, splitc_handlers
from .memory import HandlerMemory


class Accesses:
    """A processor's memory and its access to others.

    Parameters
    ----------
    poll_local : bool
        Take a message with each access to the own memory through a pointer.
    interrupts : bool
        Requests of others are handled when they come (`Endpoint`).
    endpoint : LayerEndpoint, optional
        Where Split-C is one of several layers; its handlers and ``state`` are entered by who made it.
    """

    def __init__(
        self,
        carrier: Carrier,
        memory_bytes: int,
        atomics: Mapping[str, Atomic],
        *,
        poll_local: bool = False,
        interrupts: bool = False,
        endpoint: LayerEndpoint | None = None,
    ) -> None:
        self.own, self.procs = carrier.number, carrier.nodes
        self.poll_local = poll_local
        self.state = SplitCState(HandlerMemory(self.own, memory_bytes, self._refuse_in_handler), atomics)
        self.memory = self.state.memory
        self.endpoint: AnyEndpoint = endpoint or Endpoint(carrier, splitc_handlers(), self.state, interrupts=interrupts)
        self.uncounted = self.state.store_counter()
        """Of stores whose arrival something else tells."""

    def _refuse_in_handler(self, kind: type[PointsmanError], doing: str) -> None:
        self.endpoint.refuse_in_handler(kind, doing)

    async def polled(self) -> None:
        if self.poll_local:
            await self.endpoint.poll()

    async def sync(self, counter: Counter) -> None:
        """Wait until all gets and puts of a counter are complete."""
        await self.endpoint.until(lambda: not counter.outstanding)

    async def store_bytes(self, proc: int, addr: int, data: bytes, counter: StoreCounter) -> None:
        """Store what fits a message."""
        counter.sent += len(data)
        if proc == self.own:
            await self.polled()
            self.memory.raw[addr : addr + len(data)] = data
            counter.received += len(data)
            return
        await self.endpoint.request(proc, "store", (addr, counter.number), data, replies=0)

    async def store_sync(self, size: int, counter: StoreCounter) -> None:
        """Wait until ``size`` bytes more have been stored here."""
        if size < 0:
            raise PointsmanError(f"store_sync waits for 0 bytes or more, not {size}")
        await self.endpoint.until(lambda: counter.received >= size)
        # At the owner both go down, so that `SplitC.all_store_sync` still adds up over all processors.
        counter.received -= size
        counter.sent -= size
