"""Online messages: the header word and the words behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HEADER_BITS = 32


@dataclass(frozen=True)
class HeaderLayout:
    """Fields of a header word, lowest bits first: destination, source, queue, round; the round has the remaining bits.

    A reader that does not know its source tells rounds of an operator apart as long as no sender is 2^``round_bits`` rounds
    ahead of it.
    """

    node_bits: int
    queue_bits: int

    @classmethod
    def of(cls, nodes: int, queues: int) -> HeaderLayout:
        return cls(max(1, (nodes - 1).bit_length()), max(1, (queues - 1).bit_length()))

    @property
    def round_bits(self) -> int:
        return HEADER_BITS - 2 * self.node_bits - self.queue_bits

    def pack(self, destination: int, source: int, queue: int, round_: int) -> int:
        low = destination | source << self.node_bits | queue << 2 * self.node_bits
        return low | (round_ % (1 << self.round_bits)) << (HEADER_BITS - self.round_bits)

    def unpack(self, word: int) -> tuple[int, int, int, int]:
        """Destination, source, queue and round."""
        mask = (1 << self.node_bits) - 1
        queue = word >> 2 * self.node_bits & ((1 << self.queue_bits) - 1)
        return word & mask, word >> self.node_bits & mask, queue, word >> (HEADER_BITS - self.round_bits)


@dataclass(eq=False)
class OnlineMessage:
    """A message that arrives, has arrived, or goes out. ``have``: words of ``data`` that are here."""

    source: int
    queue: int
    round: int
    data: np.ndarray
    have: int = 0
    passing: bool = False
    """For another node."""

    @property
    def total(self) -> int:
        return len(self.data)

    @property
    def whole(self) -> bool:
        return self.have == self.total


@dataclass(eq=False)
class OnlineSending:
    """A message that is being sent: the header, then those words of the message that have come so far."""

    header: int
    message: OnlineMessage
    own: bool
    """Whether this node's program sends it; otherwise it only passes through."""
    begun: bool = False
    """The header has gone."""
    next: int = 0
    """Words that have gone."""

    @property
    def ready(self) -> bool:
        """Is there a word to send now?"""
        return not self.begun or self.next < self.message.have

    @property
    def sent(self) -> bool:
        return self.begun and self.next == self.message.total
