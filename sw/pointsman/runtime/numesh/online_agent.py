"""Online routing at a node's processor: an agent that interrupts serve (Metcalf 1997, §4.2.1).

In a phase with online operators the agent owns the registers of the phase's online streams. A message is a header word, then
its words. The header holds destination, source, destination queue and round; the length follows from the queue. Words for
other nodes are sent on, over the next channel, while more come in; words for this node go to a message buffer, found by queue
and source. Of a message that this node has to pass on as a part of its operator,
a broadcast of which all nodes know the source, words go on at once as well, whether its program has asked for them or not.
Whatever request the node's program makes is carried out as an ``Attend``, interrupted when a channel has a word
to read, or room for a waiting word; then the agent is served.

The agent never stops reading for lack of room: words that cannot be sent on stay in the processor's memory. That is why there
is no deadlock; docs/online_routing.md has the argument in full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from pointsman.artifacts.images.images import Images, OnlineNode
from pointsman.errors import PointsmanError
from pointsman.operators.messages.online import channel_words, passed_on, way_named
from pointsman.protocol.costs import AgentCosts
from pointsman.runtime.api.requests import Attend, Category, Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil
from pointsman.runtime.api.substrate import CycleClock

from .online_messages import HeaderLayout, OnlineMessage, OnlineSending

Steps = Generator[Request, None, None]
"""A sequence of requests."""
AtOnce = Callable[[OnlineMessage], tuple[int, Sequence[tuple[int, int, np.ndarray]]] | None]
"""What the interrupt handler does with a message that has come whole, such as to read memory for another node (Metcalf 1997,
§4.2.3): the cycles that it takes and the messages that it sends (node, queue, words); None if the message is to be queued."""


class Service:
    """Steps of a node's own agent that its program awaits like a request; the engine sees only the requests among them."""

    __slots__ = ("steps",)

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def __await__(self) -> Generator[Any, Any, None]:
        return iter((self,))  # type: ignore[return-value]  # as for `Request`


class Agent:
    """Sends, passes on and receives the online messages of a node in a phase.

    Parameters
    ----------
    layout : HeaderLayout
        The header of the phase.
    lengths : sequence of int
        Words of a message, by queue.
    passed_on : mapping
        By source and queue of messages to this node that it passes on as they come in: destinations, each with its queue.
    """

    def __init__(
        self,
        number: int,
        table: OnlineNode,
        layout: HeaderLayout,
        lengths: Sequence[int],
        clock: CycleClock,
        costs: AgentCosts,
        passed_on: Mapping[tuple[int, int], Sequence[tuple[int, int]]] = MappingProxyType({}),
    ) -> None:
        self.number = number
        self.table = table
        self.layout = layout
        self.lengths = tuple(lengths)
        self.clock = clock
        self.costs = costs
        self.passed_on = passed_on
        self.arriving: list[OnlineMessage | None] = [None] * len(table.inputs)
        """By input: the message whose words are still coming."""
        self.out: list[deque[OnlineSending]] = [deque() for _ in table.outputs]
        self.queues: list[list[OnlineMessage]] = [[] for _ in lengths]
        self.input_at = {register: i for i, channel in enumerate(table.inputs) for register in channel}
        self.turns_in = [0] * len(table.inputs)
        self.turns_out = [0] * len(table.outputs)
        """By channel: words before the current message. Word k of a channel goes through its register k mod their number."""
        self.headers = np.zeros(len(table.inputs), np.uint32)
        self.moves = 0
        """Words moved so far, headers included."""
        self.passed = 0
        """Words passed on by this processor that other nodes sent to other nodes."""
        self.held = self.peak = 0
        """Words of messages held in memory, now and at most."""
        self._lookup, self._buffer = (Wait(cycles, Category.ONLINE) for cycles in (costs.lookup, costs.buffer))
        self._own = Wait(costs.lookup + costs.buffer, Category.ONLINE)
        self.urgent: tuple[int, ...] = ()
        """While the node waits to leave its phase: registers of the barrier word that lets it leave. The handler stops when it
        comes, which bounds how long the node stays in the phase (§5.3.2)."""
        self.called = False
        """That barrier word has come."""
        self.at_once: AtOnce | None = None
        self._cycles_at_once = 0

    # -- what a program asks for -----------------------------------------------------------------------------

    def send(self, to: int, queue: int, words: Sequence[int], round_: int = 0) -> OnlineSending:
        """Queue a message of this node on the channel towards node ``to``; the agent sends it while it is served."""
        assert len(words) == self.lengths[queue]
        message = OnlineMessage(self.number, queue, round_, np.array(words, np.uint32), len(words))
        return self.forward(message, to, queue, round_)

    def forward(self, message: OnlineMessage, to: int, queue: int, round_: int = 0) -> OnlineSending:
        """As ``send``, for a message whose words may still be coming in."""
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
        """The first message in a queue from ``source`` (None: any node) and of a round (None: any), complete or not."""
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
        """Is there no word of any message in this processor, to be sent, arriving or unread?"""
        return not any(self.out) and not any(self.arriving) and not any(self.queues)

    # -- interrupts ------------------------------------------------------------------------------------------

    def carry_out(self, request: Request) -> Steps:
        """Carry out a request of the program, and serve the channels meanwhile.

        A program that computes or is moving words is interrupted (``costs.interrupt`` cycles); a program that waits in a
        function of the run time polls the channels (``costs.poll``). A load function, and what else takes no longer than half an
        interrupt, is not interrupted: the message that is about to be sent would have to wait for all those that just come by.
        """
        costs = self.costs
        if isinstance(request, Transfer):
            if any(lane.words for lane in request.lanes):
                yield from self._move_beside(Attend(request))
        elif isinstance(request, Attend):
            yield from self._move_beside(request)
        elif isinstance(request, Wait) and request.cycles <= costs.interrupt // 2:
            yield request
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

    def _move_beside(self, request: Attend) -> Steps:
        """Move the words of a request until it is done, and serve the channels meanwhile."""
        costs = self.costs
        words = Transfer(request.lanes, request.category)
        while not request.done:
            calling = ((), ()) if self.called else (self._expected(), self._pending())
            piece = Attend(words, full=calling[0], empty=calling[1], beside=request.beside)
            piece.moved[:] = request.moved
            yield piece
            stalled = bool((piece.moved == request.moved).all())
            request.moved[:] = piece.moved
            if not piece.done:
                yield from self.serve(costs.poll if stalled else costs.interrupt, costs.patience)

    def _pending(self) -> tuple[int, ...]:
        """Registers through which the next words to be sent go."""
        if not any(self.out):
            return ()
        return tuple(
            [
                channel[(turn + (1 + queue[0].next if queue[0].begun else 0)) % len(channel)]
                for channel, turn, queue in zip(self.table.outputs, self.turns_out, self.out, strict=True)
                if queue and queue[0].ready
            ]
        )

    def _expected(self) -> tuple[int, ...]:
        """Registers in which the next words come."""
        return tuple(
            [
                channel[(turn if there is None else turn + 1 + there.have) % len(channel)]
                for channel, turn, there in zip(self.table.inputs, self.turns_in, self.arriving, strict=True)
            ]
        )

    def _watching(self, category: Category, until: int) -> Attend:
        return Attend(until=until, full=self._expected(), empty=self._pending(), category=category)

    def serve(self, entry: int, patience: int) -> Steps:
        """The handler: after ``entry`` cycles, move words until none has moved for ``patience`` cycles."""
        yield Wait(entry, Category.ONLINE)
        while True:
            before = self.moves
            yield from self._move(None, self.clock.time + patience)
            if self.moves == before or self.called:
                return

    def _move(self, waiting: Category | None, until: int | None = None) -> Steps:
        """Move words on all channels at once, a word a cycle, until a message begins or ends.

        ``waiting``: category in which the program waits for messages; then cycles that move only its own words count as WRITE
        or READ. None: the program is interrupted, and goes on at ``until`` or when no word is left to move.
        """
        lanes, own = self._lanes()
        silent = [
            channel[turn % len(channel)]
            for channel, turn, there in zip(self.table.inputs, self.turns_in, self.arriving, strict=True)
            if there is None
        ]
        by_direction = waiting is not None and own
        piece = Attend(
            Transfer(lanes, None if by_direction else Category.ONLINE) if lanes else None,
            until=0 if waiting is None and not lanes else until,
            full=(*silent, *self.urgent),
            category=Category.ONLINE if waiting is None else waiting,
            beside=range(len(lanes)),
        )
        yield piece
        called = piece.calls[0]
        ended = self._keep(piece.moved.tolist())
        busy, self._cycles_at_once = ended * self.costs.turn + self._cycles_at_once, 0
        if busy:
            yield Wait(busy, Category.ONLINE)
        if called:
            self.called |= any(r in self.urgent for r in called)
            begun = [self.input_at[r] for r in called if r not in self.urgent]
            if begun:
                yield from self._begin(begun)

    def _lanes(self) -> tuple[list[Lane], bool]:
        """Lanes of all outputs, then of all inputs; and whether all their words are sent by or for this node's program.

        A word goes out as soon as it has come: the output lane of an incomplete message stays behind its input lane.
        """
        going = [(k, queue[0]) for k, queue in enumerate(self.out) if queue]
        coming = [(k, message) for k, message in enumerate(self.arriving) if message is not None]
        own = True
        lanes = []
        if going:
            first = sum([(not one.begun) + (one.next < len(one.message.data)) for _, one in going])
            lane_of = {id(message): first + k for k, (_, message) in enumerate(coming)}
        for k, sending in going:
            channel, turn = self.table.outputs[k], self.turns_out[k]
            message, sent = sending.message, sending.next
            own = own and sending.own
            if not sending.begun:
                lanes.append(Lane(True, _in_turn(channel, turn), 1, np.array([sending.header], np.uint32)))
            data, ahead = message.data[sent:], message.have - sent
            rest = len(data)
            if not rest:
                continue
            registers = _in_turn(channel, turn + 1 + sent)
            if ahead == rest:
                lanes.append(Lane(True, registers, rest, data))
            elif ahead:
                lanes.append(Lane(True, registers, rest, data, pair=lane_of[id(message)], window=ahead))
            else:
                lanes.append(Lane(True, registers, rest, data, after=lane_of[id(message)]))
        for k, message in coming:
            data = message.data[message.have :]
            own = own and not message.passing
            registers = _in_turn(self.table.inputs[k], self.turns_in[k] + 1 + message.have)
            lanes.append(Lane(False, registers, len(data), data))
        return lanes, own

    def _keep(self, moved: Sequence[int]) -> int:
        """Note the words that the lanes have moved. Gives how many passing messages have been sent on to their last word."""
        counts = iter(moved)
        ended = 0
        for channel, queue in enumerate(self.out):
            if not queue:
                continue
            sending = queue[0]
            total = len(sending.message.data)
            body = sending.next < total
            if not sending.begun:
                sending.begun = bool(next(counts))
            if body:
                sending.next += next(counts)
            if sending.begun and sending.next == total:
                queue.popleft()
                self.turns_out[channel] += 1 + total
                if not sending.own:
                    ended += 1
                    self.held -= total
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
                self.peak = max(self.peak, self.held)
                self._handle(message)
        self.moves += sum(moved)
        self.peak = max(self.peak, self.held)
        return ended

    def _handle(self, message: OnlineMessage) -> None:
        """Have a message to this node handled at once, if it is one of those."""
        if message.passing or self.at_once is None:
            return
        done = self.at_once(message)
        if done is None:
            return
        self.take(message)
        cycles, replies = done
        self._cycles_at_once += cycles
        for to, queue, words in replies:
            self.send(to, queue, words)  # type: ignore[arg-type]  # an array is a sequence of words

    def _begin(self, inputs: Sequence[int]) -> Steps:
        """Read the headers of new messages. A header for another node is sent on before its message's buffer is allocated."""
        expected = self._expected()
        lanes = [Lane(False, expected[i], 1, self.headers[i : i + 1]) for i in inputs]
        yield Transfer(lanes, Category.ONLINE)
        self.moves += len(inputs)
        for i in inputs:
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
                for to, into in self.passed_on.get((source, queue), ()):
                    self.forward(message, to, into, round_)
                yield self._own
                continue
            message.passing = True
            channel = self.table.onward[destination]
            sending = OnlineSending(word, message, False)
            self.out[channel].append(sending)
            if len(self.out[channel]) > 1:
                yield self._own
                continue
            yield self._lookup
            register = _in_turn(self.table.outputs[channel], self.turns_out[channel])[0]
            lane = Lane(True, register, 1, np.array([word], np.uint32))
            attempt = Attend(Transfer(lane, Category.ONLINE), until=self.clock.time + 1)
            yield attempt
            sending.begun = attempt.done
            self.moves += attempt.done
            yield self._buffer


def _in_turn(channel: tuple[int, ...], turn: int) -> tuple[int, ...]:
    """The registers of a channel in turn, the register of word ``turn`` first."""
    if len(channel) == 1:
        return channel
    at = turn % len(channel)
    return channel[at:] + channel[:at]


def agents_of(images: Images, number: int, clock: CycleClock, costs: AgentCosts | None = None) -> dict[int, Agent]:
    """The agents of a node by phase. Phases through which the same online streams continue share an agent."""
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
            passed = _passed_on(images, index, number)
            layout = HeaderLayout.of(images.topology.nodes, len(lengths))
            known[phase.online] = Agent(number, table, layout, lengths, clock, costs or AgentCosts(), passed)
        found[index] = known[phase.online]
    return found


def queue_lengths(images: Images, phase: int) -> list[int]:
    """Words of a message by queue, of all online operators of a phase."""
    lengths: dict[int, int] = {}
    for index in images.phases[phase].operators:
        operator = images.operators[index]
        if operator.online is not None:
            for channel, queue in enumerate(operator.online):
                lengths[queue] = channel_words(operator.kind, operator.m, channel)
    return [lengths[queue] for queue in range(len(lengths))]


def _passed_on(images: Images, phase: int, node: int) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
    """What a node passes on in a phase as it comes in: by source and queue, destinations and their queues."""
    found: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
    for index in images.phases[phase].operators:
        image = images.operators[index]
        if image.online is None or image.program is None:
            continue
        queues = image.online
        of_it = passed_on(image.program, way_named(image.way, image.kind), node, images.topology)
        for (source, channel), onward in of_it.items():
            found[source, queues[channel]] = tuple((to, queues[into]) for to, into in onward)
    return found


def attended(agent: Callable[[], Agent | None], program: Coroutine[Any, None, Any]) -> Generator[Request, None, Any]:
    """Run ``program``. The agent that ``agent()`` gives carries out its requests; without an agent the engine does."""
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
