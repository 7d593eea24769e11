"""What an endpoint needs of whatever carries its messages, and the words of a message.

A message has at most `ARGUMENTS` words of arguments and `DATA_BYTES` bytes of data. In 32-bit words it is a header, the
arguments, the data; one that fits `SHORT_WORDS` goes as a short message where lengths are fixed, any other as a long one::

     31   28 27      20 19     13 12  10 9    8 7        0
    +-------+----------+---------+------+------+----------+
    |   –   | credits  |  bytes  | args | kind | handler  |
    +-------+----------+---------+------+------+----------+
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np

from pointsman.errors import PointsmanError

ARGUMENTS = 4
DATA_BYTES = 64
SHORT_WORDS = 5
"""A header and four words more, as in the packets of the CM-5."""
LONG_WORDS = 1 + ARGUMENTS + DATA_BYTES // 4
HANDLERS = 256
MOST_CREDITS = 255


class Kind(IntEnum):
    """What a message is: only a request may be answered, and only by a reply. ``CREDIT`` gives back room for requests."""

    REQUEST = 0
    REPLY = 1
    CREDIT = 2


class NodeEndedError(PointsmanError):
    """A message goes to a node that has ended, or is under way to one, and nobody is there to handle it."""

    def __init__(self, number: int, doing: str) -> None:
        super().__init__(
            f"node {number} has ended, and {doing}",
            hint="a node goes on until nobody needs it: a barrier of all nodes, or a count of requests, before it ends",
        )


class Message(NamedTuple):
    """A message at its receiver. ``source``: the node that sent it; ``arguments``: whole numbers from 0 to 2^32 - 1."""

    source: int
    kind: Kind
    handler: int
    arguments: tuple[int, ...] = ()
    data: bytes = b""
    credits: int = 0


class Batch(NamedTuple):
    """Many messages to the same handler: message k has the arguments ``(firsts[k], *rest)`` and ``data[k * size : (k + 1) *
    size]``."""

    source: int
    kind: Kind
    handler: int
    firsts: np.ndarray
    rest: tuple[int, ...]
    data: bytes
    size: int


HandleAtOnce = Callable[[Message], tuple[int, list[Message]]]
"""What an interrupt handler does with a request: the cycles that it takes, and the messages that it sends to its source."""
NO_INTERRUPTS = "active messages that interrupt need a processor with an interrupt handler"
WITH_INTERRUPTS = "--target numesh has one; elsewhere a node takes messages when it communicates"


def words_of(message: Message) -> np.ndarray:
    """A message as words, an array of uint32 without padding. The source is not among them: the network tells it."""
    head = (
        message.handler
        | message.kind << 8
        | len(message.arguments) << 10
        | len(message.data) << 13
        | message.credits << 20
    )
    padded = message.data + bytes(-len(message.data) % 4)
    front = np.array((head, *message.arguments), np.uint32)
    return np.concatenate([front, np.frombuffer(padded, "<u4")]) if padded else front


def length_of(head: int) -> int:
    """Words of the message that begins with this header word."""
    return 1 + (head >> 10 & 7) + ((head >> 13 & 127) + 3) // 4


def message_of(source: int, words: np.ndarray) -> Message:
    """The message that `words_of` made words of; words behind it are left out."""
    head = int(words[0])
    arguments = 1 + (head >> 10 & 7)
    size = head >> 13 & 127
    return Message(
        source,
        Kind(head >> 8 & 3),
        head & 255,
        tuple(words[1:arguments].tolist()),
        words[arguments : arguments + (size + 3) // 4].tobytes()[:size],
        head >> 20 & 255,
    )


class Carrier(Protocol):
    """Carries messages between nodes. Nothing here runs a handler."""

    number: int
    nodes: int
    in_order: bool
    """Do messages between two nodes arrive in the order in which they were sent?"""
    replies: int | None
    """Most replies that may be under way to a node; None: any number."""
    dispatch: int
    """Cycles from a message that has come to its handler and back."""

    batches: bool
    """Are many messages at once handed over as a `Batch`? Otherwise they go one by one."""

    def handle_at_once(self, handle: HandleAtOnce) -> None:
        """From the start on, have requests handled when they come, whatever the program does.

        Raises
        ------
        PointsmanError
            If nothing interrupts this node's processor.
        """

    async def start(self) -> None:
        """Before the first message."""

    async def send(self, to: int, message: Message) -> bool:
        """Send a message, or give False at once: there is no room for it yet."""

    async def send_batch(self, to: np.ndarray, batch: Batch) -> None:
        """Send many messages, each to its node."""

    async def receive(self, *, replies_only: bool) -> Message | Batch | None:
        """The next message that has come; None if there is none."""

    async def wait(self, to: int | None, *, replying: bool) -> None:
        """Wait until a message has come (``replying``: a reply), or there may be room for a request (a reply) to ``to``."""

    async def finish(self) -> None:
        """At the end, after all messages: until nobody needs this node any more."""
