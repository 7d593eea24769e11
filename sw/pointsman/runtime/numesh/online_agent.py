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
from typing import Any

import numpy as np

from pointsman.artifacts.images.images import Images, OnlineNode
from pointsman.errors import PointsmanError
from pointsman.operators.messages.online import channel_words
from pointsman.protocol.costs import AgentCosts
from pointsman.runtime.api.requests import Attend, Category, Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil
from pointsman.runtime.api.substrate import CycleClock

from .online_messages import HeaderLayout, OnlineMessage, OnlineSending

Steps = Generator[Request, None, None]
"""Requests, one after the other."""


class Service:
    """What a program asks of its own agent, awaited like a request; the engine never sees it."""

    __slots__ = ("steps",)

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def __await__(self) -> Generator[Any, Any, None]:
        return iter((self,))  # type: ignore[return-value]  # as for `Request`


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
        clock: CycleClock,
        costs: AgentCosts,
    ) -> None:
        self.number = number
        self.table = table
        self.layout = layout
        self.lengths = tuple(lengths)
        self.clock = clock
        self.costs = costs
        self.arriving: list[OnlineMessage | None] = [None] * len(table.inputs)
        """By input: the message that is half in."""
        self.out: list[deque[OnlineSending]] = [deque() for _ in table.outputs]
        self.queues: list[list[OnlineMessage]] = [[] for _ in lengths]
        self.input_at = {register: i for i, channel in enumerate(table.inputs) for register in channel}
        self.turns_in = [0] * len(table.inputs)
        self.turns_out = [0] * len(table.outputs)
        """By channel: words before the header of the message that is on it; its registers are used in turn."""
        self.headers = np.zeros(len(table.inputs), np.uint32)
        self.moves = 0
        """Words moved so far, headers included."""
        self.passed = 0
        """Words of others that went through this processor."""
        self.held = self.peak = 0
        """Words in memory, now and at most."""
        self.urgent: tuple[int, ...] = ()
        """Registers of the word that lets the node leave its phase, while it waits for that: the handler stops when it is there,
        so that neighbours know how long the node may still be in the phase (§5.3.2)."""
        self.called = False
        """It is there."""

    # -- what a program asks for -----------------------------------------------------------------------------

    def send(self, to: int, queue: int, words: Sequence[int], round_: int = 0) -> OnlineSending:
        """Put a message into the queue of its channel; see ``flush``."""
        assert len(words) == self.lengths[queue]
        message = OnlineMessage(self.number, queue, round_, np.array(words, np.uint32), len(words))
        return self.forward(message, to, queue, round_)

    def forward(self, message: OnlineMessage, to: int, queue: int, round_: int = 0) -> OnlineSending:
        """As ``send``, of the words of a message that may still be coming in."""
        if to == self.number:
            raise PointsmanError(f"node {to} sends a message to itself")
        channel = self.table.onward[to]
        if channel < 0:
            raise PointsmanError(
                f"node {self.number} has no way for a message to node {to}",
                hint="the run-time value is outside those that the program names",
            )
        sending = OnlineSending(self.layout.pack(to, self.number, queue, round_), message, True)
        self.out[channel].append(sending)
        return sending

    def find(self, source: int | None, queue: int, round_: int | None = None) -> OnlineMessage | None:
        """The first message in a queue from ``source`` (None: anybody) and of a round (None: any), as far as it has come."""
        wrapped = None if round_ is None else round_ % (1 << self.layout.round_bits)
        for message in self.queues[queue]:
            if source in (None, message.source) and wrapped in (None, message.round):
                return message
        return None

    def take(self, message: OnlineMessage) -> None:
        """Remove a message from its queue."""
        self.queues[message.queue].remove(message)
        self.held -= message.have

    def until(self, condition: Callable[[], bool], category: Category) -> Steps:
        """Serve the channels until ``condition`` holds. The program waits, so nothing is interrupted."""
        while not condition():
            yield from self._move(category)

    def idle(self) -> bool:
        """Is nothing of any message here?"""
        return not any(self.out) and not any(self.arriving) and not any(self.queues)

    # -- interrupts ------------------------------------------------------------------------------------------

    def carry_out(self, request: Request) -> Steps:
        """Carry out a request of the program, and serve the channels meanwhile.

        A program that computes, or is in the middle of moving words, is interrupted; one that waits in a function of the run
        time looks at the channels itself.
        """
        costs = self.costs
        if isinstance(request, Transfer):
            moved = np.zeros(len(request.lanes), np.int64)
            while any(int(n) < lane.words for n, lane in zip(moved, request.lanes, strict=True)):
                calling = ((), ()) if self.called else (self._expected(), self._pending())
                piece = Attend(request, full=calling[0], empty=calling[1])
                piece.moved[:] = moved
                yield piece
                stalled = bool((piece.moved == moved).all())
                moved = piece.moved
                if not piece.done:
                    yield from self.serve(costs.poll if stalled else costs.interrupt, costs.patience)
        elif isinstance(request, Wait):
            end = self.clock.time + request.cycles
            while self.clock.time < end:
                yield self._watching(request.category, until=end)
                began = self.clock.time
                if began < end:
                    yield from self.serve(costs.interrupt, costs.interrupt)
                    end += self.clock.time - began
        elif isinstance(request, WaitUntil):
            entry = costs.interrupt if request.category == Category.CPU else costs.poll
            while self.clock.time < request.time:
                yield self._watching(request.category, until=request.time)
                if self.clock.time < request.time:
                    yield from self.serve(entry, costs.patience)
        elif isinstance(request, WaitEmpty):
            while True:
                piece = Attend(
                    full=self._expected(),
                    empty=(request.register, *self._pending()),
                    category=request.category,
                )
                yield piece
                if request.register in piece.calls[1]:
                    return
                yield from self.serve(costs.poll, costs.patience)
        else:
            yield request

    def _pending(self) -> tuple[int, ...]:
        """Registers of channels with a word to send."""
        return tuple(
            _in_turn(channel, turn + (1 + queue[0].next if queue[0].begun else 0))[0]
            for channel, turn, queue in zip(self.table.outputs, self.turns_out, self.out, strict=True)
            if queue and queue[0].ready
        )

    def _expected(self) -> tuple[int, ...]:
        """Registers in which the next words come."""
        return tuple(
            _in_turn(channel, turn + (0 if there is None else 1 + there.have))[0]
            for channel, turn, there in zip(self.table.inputs, self.turns_in, self.arriving, strict=True)
        )

    def _watching(self, category: Category, until: int) -> Attend:
        return Attend(until=until, full=self._expected(), empty=self._pending(), category=category)

    def serve(self, entry: int, patience: int) -> Steps:
        """The handler: move words until none has moved for ``patience`` cycles. To get there takes ``entry`` cycles."""
        yield Wait(entry, Category.ONLINE)
        while True:
            before = self.moves
            yield from self._move(None, self.clock.time + patience)
            if self.moves == before or self.called:
                return

    def _move(self, waiting: Category | None, until: int | None = None) -> Steps:
        """Move words on all channels at once, a word a cycle, until a message begins or ends.

        ``waiting``: the program waits for that in this category, so its own words are its own time. None: it does not, and
        at ``until``, or when there is nothing to move, its turn has come.
        """
        lanes, own = self._lanes()
        silent = tuple(r for r, there in zip(self._expected(), self.arriving, strict=True) if there is None)
        by_direction = waiting is not None and own
        piece = Attend(
            Transfer(lanes, None if by_direction else Category.ONLINE) if lanes else None,
            until=0 if waiting is None and not lanes else until,
            full=(*silent, *self.urgent),
            category=Category.ONLINE if waiting is None else waiting,
            one_lane=True,
        )
        yield piece
        self.called |= any(r in self.urgent for r in piece.calls[0])
        ended = self._keep(piece.moved.tolist())
        if ended:
            yield Wait(ended * self.costs.turn, Category.ONLINE)
        begun = [self.input_at[r] for r in piece.calls[0] if r not in self.urgent]
        if begun:
            yield from self._begin(begun)

    def _lanes(self) -> tuple[list[Lane], bool]:
        """Block moves, of all outputs, then of all inputs; are all words this program's own?

        A word goes out as soon as it is in: a lane of a message that is half in stays behind the lane that it comes by.
        """
        outputs = zip(self.table.outputs, self.turns_out, self.out, strict=True)
        inputs = zip(self.table.inputs, self.turns_in, self.arriving, strict=True)
        going = [(channel, turn, queue[0]) for channel, turn, queue in outputs if queue]
        coming = [(channel, turn, there) for channel, turn, there in inputs if there is not None]
        first = sum((not one.begun) + (one.next < one.message.total) for *_, one in going)
        lane_of = {id(message): first + k for k, (*_, message) in enumerate(coming)}
        lanes = []
        for channel, turn, sending in going:
            message, sent = sending.message, sending.next
            if not sending.begun:
                lanes.append(Lane(True, _in_turn(channel, turn), 1, np.array([sending.header], np.uint32)))
            rest = message.total - sent
            if not rest:
                continue
            data, ahead = message.data[sent:], message.have - sent
            registers = _in_turn(channel, turn + 1 + sent)
            if message.whole:
                lanes.append(Lane(True, registers, rest, data))
            elif ahead:
                lanes.append(Lane(True, registers, rest, data, pair=lane_of[id(message)], window=ahead))
            else:
                lanes.append(Lane(True, registers, rest, data, after=lane_of[id(message)]))
        for channel, turn, message in coming:
            registers = _in_turn(channel, turn + 1 + message.have)
            lanes.append(Lane(False, registers, message.total - message.have, message.data[message.have :]))
        own = all(sending.own for *_, sending in going) and not any(message.passing for *_, message in coming)
        return lanes, own

    def _keep(self, moved: Sequence[int]) -> int:
        """Note what the lanes have moved. Gives the messages of others that have gone on."""
        counts = iter(moved)
        ended = 0
        for channel, queue in enumerate(self.out):
            if not queue:
                continue
            sending = queue[0]
            body = sending.next < sending.message.total
            if not sending.begun:
                sending.begun = bool(next(counts))
            if body:
                sending.next += next(counts)
            if sending.sent:
                queue.popleft()
                self.turns_out[channel] += 1 + sending.message.total
                if not sending.own:
                    ended += 1
                    self.held -= sending.message.total
        for channel, message in enumerate(self.arriving):
            if message is None:
                continue
            words = next(counts)
            message.have += words
            self.held += words
            self.passed += words if message.passing else 0
            if message.whole:
                self.arriving[channel] = None
                self.turns_in[channel] += 1 + message.total
        self.moves += sum(moved)
        self.peak = max(self.peak, self.held)
        return ended

    def _begin(self, inputs: Sequence[int]) -> Steps:
        """Take the headers of new messages. One for another node goes on before its buffer is allocated."""
        expected = self._expected()
        lanes = [Lane(False, expected[i], 1, self.headers[i : i + 1]) for i in inputs]
        yield Transfer(lanes, Category.ONLINE)
        self.moves += len(inputs)
        for i in inputs:
            yield Wait(self.costs.lookup, Category.ONLINE)
            word = int(self.headers[i])
            destination, source, queue, round_ = self.layout.unpack(word)
            if queue >= len(self.lengths):
                raise PointsmanError(f"node {self.number} got a message for queue {queue}, which there is not")
            message = OnlineMessage(source, queue, round_, np.zeros(self.lengths[queue], np.uint32))
            if message.whole:
                self.turns_in[i] += 1
            else:
                self.arriving[i] = message
            if destination == self.number:
                self.queues[queue].append(message)
            else:
                message.passing = True
                channel = self.table.onward[destination]
                sending = OnlineSending(word, message, False)
                self.out[channel].append(sending)
                if len(self.out[channel]) == 1:
                    register = _in_turn(self.table.outputs[channel], self.turns_out[channel])[0]
                    lane = Lane(True, register, 1, np.array([word], np.uint32))
                    attempt = Attend(Transfer(lane, Category.ONLINE), until=self.clock.time + 1)
                    yield attempt
                    sending.begun = attempt.done
                    self.moves += attempt.done
            yield Wait(self.costs.buffer, Category.ONLINE)


def _in_turn(channel: tuple[int, ...], turn: int) -> tuple[int, ...]:
    """The registers of a channel, from the one on that word ``turn`` goes through."""
    at = turn % len(channel)
    return channel[at:] + channel[:at]


def agents_of(images: Images, number: int, clock: CycleClock, costs: AgentCosts | None = None) -> dict[int, Agent]:
    """The agents of a node, by phase: one for all phases of what continues."""
    found: dict[int, Agent] = {}
    known: dict[int, Agent] = {}
    views = dict(images.nodes[number].operators)
    for index, phase in enumerate(images.phases):
        if phase.online is None or phase.online not in views:
            continue
        table = views[phase.online].online
        assert table is not None
        if phase.online not in known:
            lengths = queue_lengths(images, index)
            layout = HeaderLayout.of(images.topology.nodes, len(lengths))
            known[phase.online] = Agent(number, table, layout, lengths, clock, costs or AgentCosts())
        found[index] = known[phase.online]
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
