"""A node's endpoint of active messages: requests, replies, polling. The same on every carrier.

Takes a carrier and handlers. Freedom from deadlock rests on three rules that are kept here: a node that waits, for whatever,
takes messages meanwhile; a handler sends nothing but replies; and a node that waits for room for a reply takes replies only,
whose handlers send nothing (docs/active_messages.md has the argument).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Category, Wait

from .carrier import DATA_BYTES, Batch, Carrier, Kind, Message
from .handlers import Handlers, HandlerSendsError, HandlerWaitsError, Reply, check_size
from .trace import NodeTrace

AWAITED = "replies awaited"
"""Counter of a trace."""


class Endpoint:
    """A node's side of active messages.

    Parameters
    ----------
    carrier : Carrier
        What carries them.
    handlers : Handlers
        The same at all nodes.
    state : object
        Handed to every handler that runs at this node.
    interrupts : bool
        Requests are handled when they come, whatever the program does, by nodes that have an interrupt handler.

    Attributes
    ----------
    sent, handled : list of int
        Messages so far: requests, replies.
    trace : NodeTrace or None
        Told of messages to and from other nodes.
    """

    def __init__(self, carrier: Carrier, handlers: Handlers, state: Any, *, interrupts: bool = False) -> None:
        self.carrier = carrier
        self.handlers = handlers
        self.state = state
        self.number = carrier.number
        self.nodes = carrier.nodes
        self.running = ""
        """Name of the handler that runs; "" if none does."""
        self.due = 0
        """Replies that are under way to this node, or will be."""
        self.sent = [0, 0]
        self.handled = [0, 0]
        self.trace: NodeTrace | None = None
        if interrupts:
            carrier.handle_at_once(self._interrupted)

    def refuse_in_handler(self, kind: type[PointsmanError], doing: str) -> None:
        """Raise an error of this kind if a handler runs."""
        if self.running:
            raise kind(
                f"handler '{self.running}' at node {self.number} {doing}, which a handler must not",
                hint="a handler stores what has come, counts, and gives a reply; the program does the rest",
            )

    def request(
        self, to: int, handler: str, arguments: tuple[int, ...] = (), data: bytes = b"", *, replies: int = 1
    ) -> Coroutine[Any, Any, None]:
        """Send a request to a node, this one included; to be awaited until it is sent.

        Parameters
        ----------
        replies : int
            Replies that its handler will give; 0 for one-way messages.
        """
        self.refuse_in_handler(HandlerSendsError, "sends a request")
        return self._request(to, handler, arguments, data, replies)

    def request_many(
        self, to: np.ndarray, handler: str, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int
    ) -> Coroutine[Any, Any, None]:
        """Send many one-way requests; to be awaited until they are sent.

        Parameters
        ----------
        to, firsts : integer arrays
            Node and first argument of each.
        rest : tuple of int
            The other arguments of all.
        data, size
            Message k has ``data[k * size : (k + 1) * size]``; the last may have less.
        """
        self.refuse_in_handler(HandlerSendsError, "sends requests")
        return self._request_many(to, handler, firsts, rest, data, size)

    def poll(self) -> Coroutine[Any, Any, bool]:
        """Handle a message if one has come; to be awaited. Gives whether there was one."""
        self.refuse_in_handler(HandlerWaitsError, "polls")
        return self._poll()

    def until(self, condition: Callable[[], bool]) -> Coroutine[Any, Any, None]:
        """Handle messages until ``condition`` holds; to be awaited."""
        self.refuse_in_handler(HandlerWaitsError, "waits")
        return self._until(condition)

    async def expect(self, replies: int) -> None:
        """Keep room for replies, once there is room; for those of requests that do not say how many they ask for."""
        most = self.carrier.replies
        while most is not None and self.due + replies > most:
            await self._progress(None)
        self.due += replies

    # -- inside ----------------------------------------------------------------------------------------------

    async def _request(self, to: int, handler: str, arguments: tuple[int, ...], data: bytes, replies: int) -> None:
        number = self.handlers.numbered(handler, reply=False)
        check_size(handler, arguments, data)
        if not 0 <= to < self.nodes:
            raise PointsmanError(f"a request to '{handler}' must go to a node 0 to {self.nodes - 1}, not {to}")
        most = self.carrier.replies
        if most is not None and replies > most:
            raise PointsmanError(
                f"a request to '{handler}' asks for {replies} replies, and this target takes {most} at once"
            )
        message = Message(self.number, Kind.REQUEST, number, arguments, data)
        self.sent[0] += 1
        if to == self.number:
            self.due += replies
            await self._handle(message)
            return
        await self.expect(replies)
        while not await self.carrier.send(to, message):
            await self._progress(to)
        self._trace_sent(to, 1)

    def _trace_sent(self, to: int, count: int) -> None:
        if self.trace is not None:
            self.trace.sent(to, count)
            self.trace.counts(AWAITED, self.due)

    def _trace_handled(self, source: int, count: int) -> None:
        if self.trace is not None and source != self.number:
            self.trace.handled(source, count)
            self.trace.counts(AWAITED, self.due)

    async def _request_many(
        self, to: np.ndarray, handler: str, firsts: np.ndarray, rest: tuple[int, ...], data: bytes, size: int
    ) -> None:
        number = self.handlers.numbered(handler, reply=False)
        if not self.carrier.batches or self.handlers.batches[number] is None:
            for k, (node, first) in enumerate(zip(to.tolist(), firsts.tolist(), strict=True)):
                await self._request(node, handler, (first, *rest), data[k * size : (k + 1) * size], 0)
            return
        check_size(handler, (0, *rest), b"")
        if len(to) and not 0 <= int(to.min()) <= int(to.max()) < self.nodes:
            raise PointsmanError(f"requests to '{handler}' must go to nodes 0 to {self.nodes - 1}")
        batch = Batch(self.number, Kind.REQUEST, number, firsts, rest, data, size)
        own = to == self.number
        if own.any():
            await self._handle_batch(part_of(batch, np.flatnonzero(own)))
            batch, to = part_of(batch, np.flatnonzero(~own)), to[~own]
        self.sent[0] += len(to)
        if len(to):
            await self.carrier.send_batch(to, batch)
            for node, count in zip(*np.unique(to, return_counts=True), strict=True):
                self._trace_sent(int(node), int(count))

    async def _handle_batch(self, batch: Batch) -> None:
        name, function = self.handlers.names[batch.handler], self.handlers.batches[batch.handler]
        assert function is not None
        is_reply = batch.kind == Kind.REPLY
        self.handled[is_reply] += len(batch.firsts)
        self.due -= len(batch.firsts) * is_reply
        self._trace_handled(batch.source, len(batch.firsts))
        self.running = name
        try:
            answer = function(self.state, batch.source, batch.firsts, batch.rest, batch.data, batch.size)
        finally:
            self.running = ""
        await self._answer(batch.source, name, is_reply, answer)

    async def _poll(self) -> bool:
        message = await self.carrier.receive(replies_only=False)
        if message is not None:
            await self._handle(message)
        return message is not None

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._progress(None)

    async def _progress(self, to: int | None, *, replying: bool = False) -> None:
        """Wait, until a message has come or there may be room for one to ``to``, and handle one message."""
        await self.carrier.wait(to, replying=replying)
        message = await self.carrier.receive(replies_only=replying)
        if message is not None:
            await self._handle(message)

    async def _handle(self, message: Message | Batch) -> None:
        if isinstance(message, Batch):
            await self._handle_batch(message)
            return
        if self.carrier.dispatch:
            await Wait(self.carrier.dispatch, Category.CPU)
        name, answer = self._run(message)
        if answer is not None:
            await self._answer(message.source, name, message.kind == Kind.REPLY, answer)

    def _run(self, message: Message) -> tuple[str, Any]:
        """Run a message's handler; gives its name and what it gives."""
        is_reply = message.kind == Kind.REPLY
        handlers = self.handlers
        if message.handler >= len(handlers.functions) or handlers.is_reply[message.handler] != is_reply:
            raise PointsmanError(
                f"node {self.number} got a {message.kind.name.lower()} of node {message.source} to handler "
                f"{message.handler}, which there is not"
            )
        self.handled[is_reply] += 1
        self.running = name = handlers.names[message.handler]
        try:
            answer = handlers.functions[message.handler](self.state, message.source, message.arguments, message.data)
        finally:
            self.running = ""
        if is_reply:
            self.due -= 1
        self._trace_handled(message.source, 1)
        return name, answer

    def _interrupted(self, message: Message) -> tuple[int, list[Message]]:
        """Handle a request at once, between two requests of the program. Gives the cycles that it takes, and its replies."""
        name, answer = self._run(message)
        made = [part for reply in self._replies(name, False, answer) for part in self._parts(reply)]
        self.sent[1] += len(made)
        if made:
            self._trace_sent(message.source, len(made))
        return self.carrier.dispatch, made

    async def _answer(self, to: int, name: str, is_reply: bool, answer: Any) -> None:
        """Send what a handler has given."""
        for reply in self._replies(name, is_reply, answer):
            await self._reply(to, reply)

    def _replies(self, name: str, is_reply: bool, answer: Any) -> Sequence[Reply]:
        """What a handler has given, as replies."""
        if answer is None:
            return ()
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise HandlerWaitsError(
                f"handler '{name}' at node {self.number} gives something to await, and must not wait"
            )
        if is_reply:
            raise HandlerSendsError(
                f"handler '{name}' at node {self.number} answers a reply, and only requests are answered"
            )
        made: Sequence[Reply] = (answer,) if isinstance(answer, Reply) else answer
        return made

    async def _reply(self, to: int, reply: Reply) -> None:
        """Send a reply; one with more data than a message holds as several, whose first arguments are addresses one behind
        the other."""
        number = self.handlers.numbered(reply.handler, reply=True)
        in_parts = self.handlers.batches[number] is not None
        check_size(reply.handler, reply.arguments, reply.data, parts=in_parts)
        parts = max(1, -(-len(reply.data) // DATA_BYTES))
        self.sent[1] += parts
        if parts > 1 and (self.carrier.batches or to == self.number):
            first, *rest = reply.arguments
            firsts = first + DATA_BYTES * np.arange(parts)
            batch = Batch(self.number, Kind.REPLY, number, firsts, tuple(rest), reply.data, DATA_BYTES)
            if to == self.number:
                await self._handle_batch(batch)
            else:
                await self.carrier.send_batch(np.full(parts, to), batch)
                self._trace_sent(to, parts)
            return
        for message in self._parts(reply):
            if to == self.number:
                await self._handle(message)
                continue
            while not await self.carrier.send(to, message):
                await self._progress(to, replying=True)
            self._trace_sent(to, 1)

    def _parts(self, reply: Reply) -> list[Message]:
        """A reply as messages."""
        number = self.handlers.numbered(reply.handler, reply=True)
        check_size(reply.handler, reply.arguments, reply.data, parts=self.handlers.batches[number] is not None)
        made = []
        for at in range(0, max(1, len(reply.data)), DATA_BYTES):
            arguments = (reply.arguments[0] + at, *reply.arguments[1:]) if at else reply.arguments
            made.append(Message(self.number, Kind.REPLY, number, arguments, reply.data[at : at + DATA_BYTES]))
        return made


def part_of(batch: Batch, which: np.ndarray) -> Batch:
    """Some of the messages of a batch, by their numbers in ascending order."""
    size, count = batch.size, len(batch.firsts)
    if len(which) == count:
        return batch
    if len(batch.data) == count * size:
        rows = np.frombuffer(batch.data, np.uint8).reshape(count, size)
        data = rows[which].tobytes()
    else:
        data = b"".join(batch.data[k * size : (k + 1) * size] for k in which.tolist())
    return batch._replace(firsts=batch.firsts[which], data=data)
