"""Active messages on a LogP machine: the machine bounds what is under way, requests and replies apart, as two networks would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active.carrier import NO_INTERRUPTS, WITH_INTERRUPTS, Batch, HandleAtOnce, Message
from pointsman.runtime.api.substrate import Port, Signature

from .machine import LogpBatch, LogpMachine, LogpReceive, LogpSend, LogpWait


class LogpCarrier:
    """A processor's access to the machine; see `pointsman.runtime.active.Carrier`."""

    replies: int | None = None
    dispatch = 0
    batches = True

    def __init__(self, machine: LogpMachine, number: int) -> None:
        self.machine = machine
        self.number = number
        self.nodes = machine.nodes
        self.in_order = machine.parameters.in_order

    def handle_at_once(self, handle: HandleAtOnce) -> None:
        raise PointsmanError(NO_INTERRUPTS, hint=WITH_INTERRUPTS)

    async def start(self) -> None:
        """The machine needs no loading."""

    async def send(self, to: int, message: Message) -> bool:
        request = LogpSend(to, message)
        await request
        return request.answer

    async def send_batch(self, to: np.ndarray, batch: Batch) -> None:
        await LogpBatch(to, batch)

    async def receive(self, *, replies_only: bool) -> Message | Batch | None:
        request = LogpReceive(replies_only)
        await request
        return request.answer

    async def wait(self, to: int | None, *, replying: bool) -> None:
        await LogpWait(to, replying)

    async def finish(self) -> None:
        """Nobody needs a processor that has ended."""


class LogpSubstrate:
    """A node on a LogP machine: it has a carrier, and no operators of a COP program."""

    loops: Sequence[str] = ()

    def __init__(self, name: str, machine: LogpMachine, number: int) -> None:
        self.name = name
        self.machine = machine
        self.number = number

    def carrier(self) -> LogpCarrier:
        return LogpCarrier(self.machine, self.number)

    def ports(self) -> Sequence[tuple[Signature, Port | None]]:
        return ()

    async def init(self) -> None:
        """Nothing has to be loaded."""

    async def fini(self) -> None:
        """A processor may stop at once."""

    def where(self) -> str:
        return "on a LogP machine"
