"""Bounded buffers on hardware: room for requests is given back by their receivers, room for replies is kept by who asks.

A node has room for ``window`` requests of each other node. A request takes one, and whatever the receiver sends back once it has
handled it (a reply, a request of its own, or a `Kind.CREDIT` message where there is nothing else) returns it. A node asks for
no more replies than it has room for. So a node holds at most (nodes - 1) * window requests, as many returned credits, and
`replies` replies, and takes every word that comes without waiting for anything: whatever the network holds drains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np

from pointsman.errors import PointsmanError

from .carrier import (
    MOST_CREDITS,
    NO_INTERRUPTS,
    WITH_INTERRUPTS,
    Batch,
    HandleAtOnce,
    Kind,
    Message,
    NodeEndedError,
    message_of,
    words_of,
)

AtOnce = Callable[[int, np.ndarray], tuple[int, list[tuple[int, np.ndarray]]] | None]
"""What an interrupt handler does with a message, by its source and words: the cycles that it takes, and the messages that it
sends (node, words); None if the message waits until the program takes it."""


def check_room(window: int, replies: int) -> None:
    """Refuse buffers that no node can have, or in which nothing has room."""
    if not isinstance(window, int) or not 1 <= window <= MOST_CREDITS:
        raise PointsmanError(
            f"a node must have room for 1 to {MOST_CREDITS} requests of each other, not {window!r}",
            hint="window of the application",
        )
    if not isinstance(replies, int) or replies < 1:
        raise PointsmanError(
            f"a node must have room for 1 reply or more, not {replies!r}", hint="replies of the application"
        )


class Link(Protocol):
    """A node's connection to a network that loses nothing and brings messages of one node whole."""

    number: int
    nodes: int
    in_order: bool

    @property
    def arrived(self) -> deque[tuple[int, np.ndarray]]:
        """Messages that have come, oldest first: source and words."""

    def handle_at_once(self, handle: AtOnce) -> bool:
        """From the start on, have messages handled when they come, whatever the processor does; False: it has no interrupts."""

    async def start(self) -> None:
        """Before the first message."""

    async def send(self, to: int, words: np.ndarray) -> None:
        """Send a message. Takes words that come meanwhile."""

    async def look(self) -> None:
        """Take what has come."""

    async def wait(self) -> None:
        """Until a message has come."""


class CreditCarrier:
    """Carries active messages over a link.

    Parameters
    ----------
    window, replies : int
        Requests of each other node, and replies, for which this node has room.
    dispatch : int
        Cycles from a message that has come to its handler and back.
    peers : dict of int to CreditCarrier
        The carriers of a run by node, of which this one becomes one: the simulation's own knowledge, by which a message to a
        node that has ended is told. No hardware has it, and nothing else depends on it.

    Attributes
    ----------
    peak : int
        Most messages that this node has held at once.
    """

    def __init__(
        self,
        link: Link,
        *,
        window: int = 4,
        replies: int = 16,
        dispatch: int = 4,
        peers: dict[int, CreditCarrier] | None = None,
    ) -> None:
        check_room(window, replies)
        self.link = link
        self.number, self.nodes, self.in_order = link.number, link.nodes, link.in_order
        self.window = window
        self.replies: int | None = replies
        self.batches = False
        self.dispatch = dispatch
        self.room = [window] * link.nodes
        """Requests that may still be sent to each node."""
        self.owed = [0] * link.nodes
        """Requests of each node that were handled and not given back."""
        self.held = [0] * link.nodes
        """Requests of each node that wait to be handled."""
        self.waiting: tuple[deque[Message], deque[Message]] = (deque(), deque())
        """Requests, replies."""
        self.asked = [0] * link.nodes
        """Requests to each node so far."""
        self.handed = [0] * link.nodes
        """Requests of each node that were handed over to be handled."""
        self.ended = False
        self._at_once = self._noticed = 0
        """Requests that were handled at once, and those of them of which the program has been told by an end of `wait`."""
        self.peers = {} if peers is None else peers
        self.peers[link.number] = self
        self.peak = 0
        self._least = (window + 1) // 2
        """What is owed to a node and is worth a message of its own."""

    async def start(self) -> None:
        await self.link.start()

    async def send(self, to: int, message: Message) -> bool:
        if to in self.peers and self.peers[to].ended:
            raise NodeEndedError(to, f"node {self.number} sends it a {message.kind.name.lower()}")
        if message.kind == Kind.REQUEST:
            if not self.room[to]:
                return False
            self.room[to] -= 1
            self.asked[to] += 1
        credits, self.owed[to] = self.owed[to], 0
        await self.link.send(to, words_of(message._replace(credits=credits)))
        return True

    async def send_batch(self, to: np.ndarray, batch: Batch) -> None:
        raise AssertionError("messages go one by one")

    def handle_at_once(self, handle: HandleAtOnce) -> None:
        def interrupted(source: int, words: np.ndarray) -> tuple[int, list[tuple[int, np.ndarray]]] | None:
            message = message_of(source, words)
            # Those that wait already come first, and room is kept for replies until the program takes them.
            if message.kind != Kind.REQUEST or self.held[source]:
                return None
            cycles, replies = handle(message)
            self._credited(message)
            self.handed[source] += 1
            self.owed[source] += 1
            self._at_once += 1
            if not replies and self.owed[source] >= self._least:
                replies = [Message(self.number, Kind.CREDIT, 0)]
            sent = []
            for reply in replies:
                credits, self.owed[source] = self.owed[source], 0
                sent.append((source, words_of(reply._replace(credits=credits))))
            return cycles, sent

        if not self.link.handle_at_once(interrupted):
            raise PointsmanError(NO_INTERRUPTS, hint=WITH_INTERRUPTS)

    async def receive(self, *, replies_only: bool) -> Message | None:
        requests, replies = self.waiting
        if not replies and (replies_only or not requests):
            await self.link.look()
            self._sort()
        if replies:
            return replies.popleft()
        if replies_only or not requests:
            return None
        message = requests.popleft()
        self.held[message.source] -= 1
        self.handed[message.source] += 1
        await self._give_back(self._least)
        self.owed[message.source] += 1
        return message

    async def wait(self, to: int | None, *, replying: bool) -> None:
        requests, replies = self.waiting
        self._sort()
        # A node without room for another request here has a whole window that is not handled yet, or is given back now.
        await self._give_back(self._least)
        while not (
            replies
            or (requests and not replying)
            or (to is not None and (replying or self.room[to]))
            or self._at_once != self._noticed
        ):
            await self.link.wait()
            self._sort()
        self._noticed = self._at_once

    async def finish(self) -> None:
        await self._give_back(1)
        while min(self.room) < self.window:
            await self.link.wait()
            self._sort()
        self.ended = True
        for source, peer in self.peers.items():
            left = peer.asked[self.number] - self.handed[source]
            if left:
                raise NodeEndedError(self.number, f"has not handled {left} of the requests of node {source}")
        if self.waiting[Kind.REPLY]:
            raise NodeEndedError(self.number, "has not handled a reply")

    # -- inside ----------------------------------------------------------------------------------------------

    async def _give_back(self, least: int) -> None:
        """Give back what is owed to a node, to each to which it is so much or more."""
        for node, owed in enumerate(self.owed):
            if owed >= least:
                await self.send(node, Message(self.number, Kind.CREDIT, 0))

    def _credited(self, message: Message) -> None:
        """Room for requests that a message gives back."""
        source = message.source
        self.room[source] += message.credits
        if self.room[source] > self.window:
            raise PointsmanError(f"node {source} gave node {self.number} more credits than it had requests of it")

    def _sort(self) -> None:
        arrived = self.link.arrived
        while arrived:
            source, words = arrived.popleft()
            message = message_of(source, words)
            self._credited(message)
            if message.kind == Kind.CREDIT:
                continue
            if message.kind == Kind.REQUEST:
                self.held[source] += 1
                if self.held[source] > self.window:
                    raise PointsmanError(
                        f"node {source} sent node {self.number} a request for which it had no room: {self.window} wait"
                    )
            self.waiting[message.kind == Kind.REPLY].append(message)
            self.peak = max(self.peak, len(self.waiting[0]) + len(self.waiting[1]))
