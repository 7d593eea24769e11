"""Messages as they come to a node of a packet network: taken from the queues of all addresses, whatever the node waits for.

A processor that waits, to send or for a message, uses the cycles in which it can do neither to take words that have come at
any address, and keeps them in memory. So no message for later is ever in the way of one for now: every word that comes to a
node leaves the network after a finite time, on which the routers' freedom from deadlock rests (docs/packet_router.md).

Takes interface addresses with the lengths of the messages that come there. Leaves alone: what messages mean.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from packet_router.header import TAGS, source_of, tag_of
from pointsman.errors import PointsmanError
from pointsman.targets.packet.addresses import Address

from .api.requests import Attend, Lane, Transfer

Words = np.ndarray
ROOM = 128
"""Words that are taken at an address before they are sorted into messages."""


@dataclass
class Partial:
    """A message that has come in part. ``address`` is None until all of its header has come."""

    head: list[int] = field(default_factory=list)
    address: Address | None = None
    source: int = -1
    body: Words = field(default_factory=lambda: np.zeros(0, np.uint32))
    have: int = 0
    """Words of ``body`` that have come."""


class Inbox:
    """All messages that have come to a node and have not been read.

    Parameters
    ----------
    lengths : mapping of Address to int
        Words, without header, of the messages at each of the node's addresses.
    """

    def __init__(self, lengths: Mapping[Address, int]) -> None:
        self.lengths = lengths
        self.virtual = {address.number for address in lengths if address.virtual is not None}
        """Interface addresses where messages with the last tag have a second header word."""
        numbers = sorted({address.number for address in lengths})
        self.partial = {number: Partial() for number in numbers}
        self.spare = {number: np.zeros(ROOM, np.uint32) for number in numbers}
        self.lanes = {number: Lane(False, number, ROOM, self.spare[number]) for number in numbers}
        self.waiting: dict[Address, deque[tuple[int, Words]]] = defaultdict(deque)
        """Messages by address, with their sources, oldest first."""

    def count(self) -> int:
        """Messages that wait to be read."""
        return sum(map(len, self.waiting.values()))

    def keep(self, address: Address, source: int, words: Words) -> None:
        """Put a message where `receive` will find it."""
        self.waiting[address].append((source, words))

    async def send(self, lanes: Sequence[Lane]) -> None:
        """Send words."""
        await self._move(lanes, [0] * len(lanes))

    async def receive(
        self,
        address: Address,
        source: int | None,
        into: Words,
        *,
        first: int | None = None,
        beside: Sequence[Lane] = (),
        onward: Sequence[Lane] = (),
    ) -> tuple[int, bool]:
        """Receive the oldest message for ``address`` from ``source`` (None: from any node).

        Parameters
        ----------
        into : array of uint32
            Room for the message.
        first : int or None
            Take a message with this first word only.
        beside : sequence of Lane
            Words to be sent meanwhile.
        onward : sequence of Lane
            Sends the message on while it comes: lanes of a transfer in which lane 0 is the message.

        Returns
        -------
        int, bool
            The message's source, and whether ``onward`` has been sent; it has not if all of the message had come before.
        """
        out, sent = list(beside), [0] * len(beside)
        number = address.number
        while True:
            found = self._found(address, source, first)
            if found is not None:
                origin, into[:] = found
                if out:
                    await self._move(out, sent)
                return origin, False
            partial = self.partial[number]
            if partial.address == address and source in (None, partial.source) and first is None:
                into[: partial.have] = partial.body[: partial.have]
                self.partial[number] = Partial()
                read, sends = Lane(False, number, len(into), into), [*out, *onward]
                moved = [partial.have, *sent, *(0 for _ in onward)]
                moved = await self._move([read, *sends], moved, either=bool(sends))
                if moved[0] < len(into):
                    await self._move([read], moved[:1])
                elif moved[1:] != [lane.words for lane in sends]:
                    # All of the message has come: while the rest is sent, the next one may come at the same address.
                    await self._move([Lane(True, lane.registers, lane.words, lane.data) for lane in sends], moved[1:])
                return partial.source, True
            sent = await self._read_on(number, partial, out, sent)
            if all(count == lane.words for count, lane in zip(sent, out, strict=True)):
                out, sent = [], []

    # -- inside ----------------------------------------------------------------------------------------------

    def _found(self, address: Address, source: int | None, first: int | None) -> tuple[int, Words] | None:
        """Take the oldest such message that has come whole."""
        messages = self.waiting.get(address)
        if messages:
            for place, (origin, words) in enumerate(messages):
                if source in (None, origin) and (first is None or words[0] == first):
                    del messages[place]
                    return origin, words
        return None

    async def _read_on(self, number: int, partial: Partial, out: list[Lane], sent: list[int]) -> list[int]:
        """Read the next word of a header, or the rest of a message that nobody waits for now, or send all of ``out``,
        whatever is done first. Gives what has been sent."""
        words = np.zeros(1, np.uint32) if partial.address is None else partial.body[partial.have :]
        lane = Lane(False, number, len(words), words)
        moved = await self._move([lane, *out], [0, *sent], either=bool(out))
        self._take(number, words[: moved[0]])
        return moved[1:]

    async def _move(self, lanes: Sequence[Lane], moved: list[int], *, either: bool = False) -> list[int]:
        """Move words until all lanes are complete (``either``: the first, or all the others), and keep what comes meanwhile at
        addresses that no lane reads. Gives the words that each lane has moved."""
        busy = {lane.registers[0] for lane in lanes if not lane.write}
        others = [number for number in self.lanes if number not in busy]
        transfer = Transfer((*lanes, *(self.lanes[number] for number in others)))
        beside = (*((0,) if either else ()), *range(len(lanes), len(transfer.lanes)))
        first = int(either)
        while True:
            request = Attend(transfer, beside=beside)
            request.moved[: len(lanes)] = moved
            await request
            counts = request.moved.tolist()
            moved = counts[: len(lanes)]
            for number, count in zip(others, counts[len(lanes) :], strict=True):
                if count:
                    self._take(number, self.spare[number][:count])
            if all(count == lane.words for count, lane in zip(moved[first:], lanes[first:], strict=True)) or (
                either and moved[0] == lanes[0].words
            ):
                return moved

    def _take(self, number: int, words: Words) -> None:
        """Sort words that have come at an address into messages."""
        at = 0
        while at < len(words):
            partial = self.partial[number]
            if partial.address is None:
                partial.head.append(int(words[at]))
                at += 1
                self._begin(number, partial)
                continue
            count = min(len(words) - at, len(partial.body) - partial.have)
            partial.body[partial.have : partial.have + count] = words[at : at + count]
            partial.have += count
            at += count
            if partial.have == len(partial.body):
                self.keep(partial.address, partial.source, partial.body)
                self.partial[number] = Partial()

    def _begin(self, number: int, partial: Partial) -> None:
        """See from the header, if all of it has come, what message it is."""
        header, *more = partial.head
        tag = tag_of(header)
        if tag == TAGS - 1 and number in self.virtual:
            if not more:
                return
            partial.address = Address(number, tag, more[0])
        else:
            partial.address = Address(number, tag)
        if partial.address not in self.lengths:
            raise PointsmanError(
                f"a message with header {header:#x} came to interface address {number}, where none is due"
            )
        partial.source = source_of(header)
        partial.body = np.zeros(self.lengths[partial.address], np.uint32)
