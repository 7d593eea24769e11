"""Online routing at a node's processor: an agent that interrupts serve (Metcalf 1997, §4.2.1).

In a phase with online operators the agent owns the registers of the phase's online streams. A message is a header word, then
its words. The header holds destination, source, destination queue and round; the length follows from the queue. Words for
others go to the queue of the channel on which their message goes on, while more come in; words for this node to a message
buffer, told by queue and source. The agent is served from inside whatever the node's program waits for: each request is
carried out as an ``Attend``, broken off when a channel has a word, or room for one that waits.

Nothing here ever waits for room: what cannot go on stays in the processor's memory, so every word that comes is taken. That is
the whole argument against deadlock; docs/online_routing.md has it in full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.images.image import Images, OnlineNode
from pointsman.operators.online import channel_words

from .face import Clock
from .requests import Attend, Category, Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil

Steps = Generator[Request, None, None]
"""Requests, one after the other."""

HEADER_BITS = 32


@dataclass(frozen=True)
class Costs:
    """Cycles of the agent beside its accesses, each of which takes one (Metcalf 1997, §8.3.3 gives only their sum).

    ``interrupt``: from a channel's call to the first instruction of the handler, and back. ``header``: taking a header apart,
    looking up the next hop, allocating a buffer. ``word``: moving a word into memory and out again. ``patience``: how long a
    handler that has a message half in stays for its next word while the program waits for something; while it computes, no
    longer than an interrupt takes, as going back and being called again would cost that much.
    """

    interrupt: int = 8
    header: int = 4
    word: int = 1
    patience: int = 24


@dataclass(frozen=True)
class HeaderLayout:
    """Fields of a header word, lowest bits first: destination, source, queue, round; the round has what is left.

    Two rounds of one operator are told apart as long as a sender is less than 2^``round_bits`` rounds ahead of a reader that
    does not know whom to read from.
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
class Message:
    """A message that arrives, has arrived, or goes out."""

    source: int
    queue: int
    round: int
    total: int
    words: list[int] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return len(self.words) == self.total


@dataclass(eq=False)
class Sending:
    """A message on its way out: the header, then the words as far as they have come."""

    header: int
    message: Message
    own: bool
    """Sent by this node's program."""
    next: int = 0

    @property
    def ready(self) -> bool:
        """Is there a word to send now?"""
        return self.next <= len(self.message.words) and not self.sent

    @property
    def sent(self) -> bool:
        return self.next > self.message.total

    def word(self) -> int:
        return self.header if self.next == 0 else self.message.words[self.next - 1]


class Service(Request):
    """What a program asks of its own agent; the engine never sees it."""

    __slots__ = ("steps",)

    def __init__(self, steps: Steps) -> None:
        self.steps = steps


class Agent:
    """Sends, passes on and receives the messages of a node in one phase.

    Parameters
    ----------
    layout : HeaderLayout
        The header of the phase.
    lengths : sequence of int
        Words of a message, by queue.
    """

    def __init__(
        self,
        number: int,
        table: OnlineNode,
        layout: HeaderLayout,
        lengths: Sequence[int],
        clock: Clock,
        costs: Costs,
    ) -> None:
        self.number = number
        self.table = table
        self.layout = layout
        self.lengths = tuple(lengths)
        self.clock = clock
        self.costs = costs
        self.arriving: list[Sending | Message | None] = [None] * len(table.inputs)
        self.left: list[int] = [0] * len(table.inputs)
        self.out: list[deque[Sending]] = [deque() for _ in table.outputs]
        self.queues: list[list[Message]] = [[] for _ in lengths]
        self.input_at = {register: i for i, register in enumerate(table.inputs)}
        self.output_at = {register: i for i, register in enumerate(table.outputs)}
        self.words = np.zeros(len(table.inputs) + len(table.outputs), np.uint32)
        self.passed = 0
        """Words of others that went through this processor."""
        self.held = self.peak = 0
        """Words in memory, now and at most."""

    # -- what a program asks for -----------------------------------------------------------------------------

    def send(self, to: int, queue: int, words: Sequence[int], round_: int = 0) -> Sending:
        """Put a message into the queue of its channel; see ``flush``."""
        message = Message(self.number, queue, round_, self.lengths[queue], list(words))
        return self.forward(message, to, queue, round_)

    def forward(self, message: Message, to: int, queue: int, round_: int = 0) -> Sending:
        """As ``send``, of the words of a message that may still be coming in."""
        if to == self.number:
            raise PointsmanError(f"node {to} sends a message to itself")
        channel = self.table.onward[to]
        if channel < 0:
            raise PointsmanError(
                f"node {self.number} has no way for a message to node {to}",
                hint="the run-time value is outside those that the program names",
            )
        sending = Sending(self.layout.pack(to, self.number, queue, round_), message, True)
        self.out[channel].append(sending)
        return sending

    def find(self, source: int | None, queue: int, round_: int | None = None) -> Message | None:
        """The first message in a queue from ``source`` (None: anybody) and of a round (None: any), as far as it has come."""
        wrapped = None if round_ is None else round_ % (1 << self.layout.round_bits)
        for message in self.queues[queue]:
            if source in (None, message.source) and wrapped in (None, message.round):
                return message
        return None

    def take(self, message: Message) -> None:
        """Remove a message from its queue."""
        self.queues[message.queue].remove(message)
        self.held -= len(message.words)

    def until(self, condition: Callable[[], bool], category: Category) -> Steps:
        """Serve the channels until ``condition`` holds. The program waits, so nothing is interrupted."""
        while not condition():
            yield from self.serve(waiting=True)
            if condition():
                return
            yield self._watching(category)

    def idle(self) -> bool:
        """Is nothing of any message here?"""
        return not any(self.out) and not any(self.left) and not any(self.queues)

    # -- interrupts ------------------------------------------------------------------------------------------

    def carry_out(self, request: Request) -> Steps:
        """Carry out a request of the program, and serve the channels meanwhile."""
        if isinstance(request, Transfer):
            moved = np.zeros(len(request.lanes), np.int64)
            while any(int(n) < lane.words for n, lane in zip(moved, request.lanes, strict=True)):
                piece = Attend(request, full=self.table.inputs, empty=self._pending())
                piece.moved[:] = moved
                yield piece
                moved = piece.moved
                if not piece.done:
                    yield from self.serve(waiting=False, patience=self.costs.patience)
        elif isinstance(request, Wait):
            end = self.clock.time + request.cycles
            while self.clock.time < end:
                yield self._watching(request.category, until=end)
                began = self.clock.time
                if began < end:
                    yield from self.serve(waiting=False)
                    end += self.clock.time - began
        elif isinstance(request, WaitUntil):
            while self.clock.time < request.time:
                yield self._watching(request.category, until=request.time)
                if self.clock.time < request.time:
                    yield from self.serve(waiting=False, patience=self.costs.patience)
        elif isinstance(request, WaitEmpty):
            while True:
                piece = Attend(
                    full=self.table.inputs,
                    empty=(request.register, *self._pending()),
                    category=request.category,
                )
                yield piece
                if request.register in piece.calls[1]:
                    return
                yield from self.serve(waiting=False, patience=self.costs.patience)
        else:
            yield request

    def _pending(self) -> tuple[int, ...]:
        """Registers of channels with a word to send."""
        outputs = self.table.outputs
        return tuple(r for r, queue in zip(outputs, self.out, strict=True) if queue and queue[0].ready)

    def _watching(self, category: Category, until: int | None = None) -> Attend:
        return Attend(until=until, full=self.table.inputs, empty=self._pending(), category=category)

    def serve(self, *, waiting: bool, patience: int | None = None) -> Steps:
        """Move words as long as a channel has one or has room; ``waiting``: the program waits for that, so nobody is
        interrupted, and its own words are its own time.

        A handler that has a message half in stays for its next word: ``patience`` cycles, None: as long as an interrupt takes.
        """
        interrupted = waiting
        stays = self.costs.interrupt if patience is None else patience
        while True:
            look = Attend(until=0, full=self.table.inputs, empty=self._pending(), category=Category.ONLINE)
            yield look
            full, empty = look.calls
            if not full and not empty:
                if waiting or not any(self.left):
                    return
                stay = self._watching(Category.ONLINE, until=self.clock.time + stays)
                yield stay
                full, empty = stay.calls
                if not full and not empty:
                    return
            if not interrupted:
                interrupted = True
                yield Wait(self.costs.interrupt, Category.ONLINE)
            yield from self._move([self.input_at[r] for r in full], [self.output_at[r] for r in empty], waiting)

    def _move(self, inputs: Sequence[int], outputs: Sequence[int], waiting: bool) -> Steps:
        """Read a word from each of these channels and write one to each of those."""
        first = len(self.table.inputs)
        own: list[Lane] = []
        others: list[Lane] = []
        for i in inputs:
            lane = Lane(False, self.table.inputs[i], 1, self.words[i : i + 1])
            (own if waiting and isinstance(self.arriving[i], Message) else others).append(lane)
        for i in outputs:
            at = first + i
            self.words[at] = self.out[i][0].word()
            lane = Lane(True, self.table.outputs[i], 1, self.words[at : at + 1])
            (own if waiting and self.out[i][0].own else others).append(lane)
        if own:
            yield Transfer(own)
        if others:
            yield Transfer(others, Category.ONLINE)
        cycles = 0
        for i in outputs:
            sending = self.out[i][0]
            sending.next += 1
            if sending.sent:
                self.out[i].popleft()
                self.held -= 0 if sending.own else sending.message.total
        for i in inputs:
            cycles += self._take_in(i, int(self.words[i]), waiting)
        self.peak = max(self.peak, self.held)
        if cycles:
            yield Wait(cycles, Category.ONLINE)

    def _take_in(self, channel: int, word: int, waiting: bool) -> int:
        """Put a word where it belongs. Gives the cycles that this takes."""
        there = self.arriving[channel]
        if there is None:
            destination, source, queue, round_ = self.layout.unpack(word)
            if queue >= len(self.lengths):
                raise PointsmanError(f"node {self.number} got a message for queue {queue}, which there is not")
            message = Message(source, queue, round_, self.lengths[queue])
            self.left[channel] = message.total
            if destination == self.number:
                self.queues[queue].append(message)
                self.arriving[channel] = message
            else:
                sending = Sending(word, message, False)
                self.out[self.table.onward[destination]].append(sending)
                self.arriving[channel] = sending
            if not message.total:
                self.arriving[channel] = None
            return self.costs.header
        passing = isinstance(there, Sending)
        message = there.message if isinstance(there, Sending) else there
        message.words.append(word)
        self.held += 1
        self.passed += passing
        self.left[channel] -= 1
        if not self.left[channel]:
            self.arriving[channel] = None
        return 0 if waiting and not passing else self.costs.word


def agents_of(images: Images, number: int, clock: Clock, costs: Costs | None = None) -> dict[int, Agent]:
    """The agents of a node, by phase."""
    found = {}
    views = dict(images.nodes[number].operators)
    for index, phase in enumerate(images.phases):
        if phase.online is None or phase.online not in views:
            continue
        table = views[phase.online].online
        assert table is not None
        lengths = queue_lengths(images, index)
        layout = HeaderLayout.of(images.topology.nodes, len(lengths))
        found[index] = Agent(number, table, layout, lengths, clock, costs or Costs())
    return found


def queue_lengths(images: Images, phase: int) -> list[int]:
    """Words of a message by queue, of all online operators of a phase."""
    lengths: dict[int, int] = {}
    for index in images.phases[phase].operators:
        operator = images.operators[index]
        if operator.online is not None:
            for channel, queue in enumerate(operator.online.queues):
                lengths[queue] = channel_words(operator.kind, operator.m, channel)
    return [lengths[queue] for queue in range(len(lengths))]


def attended(agent: Callable[[], Agent | None], program: Coroutine[Any, None, Any]) -> Generator[Request, None, Any]:
    """A program whose requests its node's agent carries out, whenever there is one."""
    refusal: PointsmanError | None = None
    while True:
        try:
            request = program.send(None) if refusal is None else program.throw(refusal)
        except StopIteration as end:
            return end.value
        refusal = None
        serving = agent()
        try:
            if isinstance(request, Service):
                yield from request.steps
            elif serving is None:
                yield request
            else:
                yield from serving.carry_out(request)
        except PointsmanError as error:
            refusal = error
