"""Messages of variable length through interface registers: the links of the switch and of packet routers.

A node reads words wherever they come, also while it sends or waits, and sorts them into messages. A message tells its length
in its first word, behind ``lead`` words of the network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

import numpy as np

from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer
from pointsman.runtime.api.substrate import CycleClock

from .carrier import LONG_WORDS, length_of
from .credits import AtOnce


class _Incoming:
    """The message that comes at a register. ``words``: what is known to come; ``have``: what has come."""

    def __init__(self, register: int, lead: int) -> None:
        self.register = register
        self.lead = lead
        self.room = np.zeros(lead + LONG_WORDS, np.uint32)
        self.words = lead + 1
        self.have = 0

    def lane(self) -> Lane:
        return Lane(False, self.register, self.words - self.have, self.room[self.have :])

    def take(self, words: int) -> np.ndarray | None:
        """Note words that have come; gives the message once it is whole."""
        self.have += words
        if self.have < self.words:
            return None
        whole = self.lead + length_of(int(self.room[self.lead]))
        if self.have < whole:
            self.words = whole
            return None
        message = self.room[:whole].copy()
        self.words, self.have = self.lead + 1, 0
        return message


class RegisterLink(ABC):
    """Reads messages at registers.

    Parameters
    ----------
    registers : sequence of int
        Where messages come.
    lead : int
        Words of the network before a message.
    """

    in_order = True

    def __init__(self, number: int, nodes: int, clock: CycleClock, registers: Sequence[int], lead: int) -> None:
        self.number = number
        self.nodes = nodes
        self.clock = clock
        self.lead = lead
        self.incoming = [_Incoming(register, lead) for register in registers]
        self.lanes = [one.lane() for one in self.incoming]
        self.arrived: deque[tuple[int, np.ndarray]] = deque()

    def handle_at_once(self, handle: AtOnce) -> bool:
        """Nothing interrupts a processor for a word in a register."""
        return False

    @abstractmethod
    def source(self, place: int, message: np.ndarray) -> int:
        """The node that sent a message, which came at the register with this place among all."""

    async def look(self) -> None:
        await self._move((), until=self.clock.time + 1)
        while any(one.have for one in self.incoming):
            await self._move(())

    async def wait(self) -> None:
        while not self.arrived:
            await self._move(())

    async def _move(self, out: Sequence[Lane], until: int | None = None) -> None:
        """Send all of ``out`` and keep what comes meanwhile. Without words to send: until a piece of a message has come, or
        ``until``."""
        sent = np.zeros(len(out), np.int64)
        while True:
            lanes = (*out, *self.lanes)
            category = None if out else Category.READ
            request = Attend(Transfer(lanes, category), until=until, beside=range(len(out), len(lanes)))
            request.moved[: len(out)] = sent
            await request
            counts = request.moved.tolist()
            sent = request.moved[: len(out)].copy()
            for place, count in enumerate(counts[len(out) :]):
                if count:
                    one = self.incoming[place]
                    message = one.take(count)
                    if message is not None:
                        self.arrived.append((self.source(place, message), message[self.lead :]))
                    self.lanes[place] = one.lane()
            if all(count == lane.words for count, lane in zip(counts, out, strict=False)):
                return
