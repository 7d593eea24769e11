"""A LogP machine with a program on every processor, event by event.

A processor asks for time (`Wait`), sends (`LogpSend`), receives (`LogpReceive`) or waits (`LogpWait`). Everything happens in
the order of its time; a message that a sender may send takes its place under way to the receiver at once, and gives it back
when the receiver begins to receive it. A batch of messages is one event at its sender: its messages leave one gap after the
other, with nothing in between, and the capacity does not hold them up. A receiver takes those of a batch that come without a
pause as one event, and does not wait for the rest; of messages in several packets it takes all as one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Coroutine, Generator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from cosim.record import Record
from pointsman.errors import PointsmanError
from pointsman.runtime.active.carrier import Batch, Kind, Message, NodeEndedError
from pointsman.runtime.active.endpoint import part_of
from pointsman.runtime.api.requests import Category, Wait, WaitUntil

from .parameters import LogpParameters

Program = Coroutine[Any, Any, Any]


class _Request:
    """Base of the requests to this machine, which no hardware knows; awaited as `pointsman.runtime.api.requests.Request`."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, None]:
        return iter((self,))  # type: ignore[return-value]  # as there


class LogpSend(_Request):
    """Send a message; the answer is False, at once, if there is no room under way to the receiver."""

    __slots__ = ("answer", "message", "to")

    def __init__(self, to: int, message: Message) -> None:
        self.to = to
        self.message = message
        self.answer = False


class LogpBatch(_Request):
    """Send many messages, in this order; the answer is None."""

    __slots__ = ("batch", "to")

    def __init__(self, to: np.ndarray, batch: Batch) -> None:
        self.to = to
        self.batch = batch


class LogpReceive(_Request):
    """The next message that has come, or None."""

    __slots__ = ("answer", "replies_only")

    def __init__(self, replies_only: bool) -> None:
        self.replies_only = replies_only
        self.answer: Message | Batch | None = None


class LogpWait(_Request):
    """Until a message has come (``replying``: a reply), or there is room for a message to ``to``."""

    __slots__ = ("replying", "to")

    def __init__(self, to: int | None, replying: bool) -> None:
        self.to = to
        self.replying = replying


class _Processor:
    """State of a processor: its program, messages under way to it, and when it may send and receive next."""

    __slots__ = (
        "arriving",
        "begun",
        "finished",
        "next_receive",
        "next_send",
        "program",
        "turn",
        "under_way",
        "waiting",
        "wanted",
    )

    def __init__(self, program: Program | None) -> None:
        self.program = program
        self.arriving: tuple[list[Any], list[Any]] = ([], [])
        """Requests and replies under way: (arrival, number, message or batch, arrivals of a batch)."""
        self.under_way = [0, 0]
        self.next_send = self.next_receive = 0
        self.turn = 0
        """Counts what the processor has been resumed for, so that a stale event is known."""
        self.waiting: LogpWait | None = None
        self.begun = 0
        self.wanted: tuple[list[int], list[int]] = ([], [])
        """Processors that wait for room for a request, a reply, to this one."""
        self.finished = 0


class LogpMachine:
    """Processors on a LogP network.

    Attributes
    ----------
    time : int
        Units since the run began.
    messages : int
        Messages sent so far.
    """

    def __init__(self, parameters: LogpParameters, nodes: int) -> None:
        if nodes < 1:
            raise PointsmanError(f"a machine must have a processor or more, not {nodes}")
        self.parameters = parameters
        self.nodes = nodes
        self.time = 0
        self.messages = 0
        self._events: list[tuple[int, int, int, int]] = []
        self._count = 0
        self._last: dict[tuple[int, int], int] = {}
        self._random = np.random.default_rng(parameters.seed)
        self._draws: list[int] = []

    def run(
        self, programs: Sequence[Program | None], *, max_cycles: int | None = None, what: Callable[[int], str] = str
    ) -> Record:
        """Run programs to their ends. ``what``: says what a processor is doing, for errors.

        Raises
        ------
        PointsmanError
            If they wait for each other for ever, have not ended after ``max_cycles``, or one ends to which there are messages.
        """
        started = perf_counter()
        self._all = [_Processor(program) for program in programs]
        cycles = np.zeros((self.nodes, len(Category)), np.int64)
        accesses = np.zeros((self.nodes, 2), np.int64)
        self._cycles, self._accesses = cycles.tolist(), accesses.tolist()
        results: list[Any] = [None] * self.nodes
        for number, one in enumerate(self._all):
            if one.program is not None:
                self._at(0, number)
        events = self._events
        try:
            while events:
                time, _, number, turn = heapq.heappop(events)
                one = self._all[number]
                if turn != one.turn:
                    continue
                if max_cycles is not None and time > max_cycles:
                    raise PointsmanError(f"the programs have not ended after {max_cycles} units of time")
                self.time = time
                one.turn += 1
                if one.waiting is not None:
                    self._cycles[number][Category.READ] += time - one.begun
                    one.waiting = None
                try:
                    assert one.program is not None
                    request = one.program.send(None)
                except StopIteration as end:
                    results[number] = end.value
                    one.finished = time
                    one.program = None
                    if any(one.arriving):
                        raise NodeEndedError(
                            number, f"messages to it are under way: {sum(map(len, one.arriving))}"
                        ) from None
                    continue
                self._serve(number, one, request)
        finally:
            for one in self._all:
                if one.program is not None:
                    one.program.close()
        stuck = [number for number, one in enumerate(self._all) if one.waiting is not None]
        if stuck:
            told = "\n".join(f"  node {number}: {what(number)}" for number in stuck[:16])
            raise PointsmanError(f"deadlock: {len(stuck)} processors wait for messages that nobody sends\n{told}")
        return Record(
            started=0,
            cycles=np.array(self._cycles, np.int64),
            finished=np.array([one.finished for one in self._all], np.int64),
            accesses=np.array(self._accesses, np.int64),
            results=results,
            wall_seconds=perf_counter() - started,
        )

    # -- inside ----------------------------------------------------------------------------------------------

    def _at(self, time: int, number: int) -> None:
        """Resume a processor's program at a time."""
        self._count += 1
        heapq.heappush(self._events, (time, self._count, number, self._all[number].turn))

    def _serve(self, number: int, one: _Processor, request: object) -> None:
        if isinstance(request, LogpReceive):
            self._receive(number, one, request)
        elif isinstance(request, LogpWait):
            self._wait(number, one, request)
        elif isinstance(request, LogpSend):
            self._send(number, one, request)
        elif isinstance(request, LogpBatch):
            self._send_batch(number, one, request)
        elif isinstance(request, Wait):
            self._cycles[number][request.category] += request.cycles
            self._at(self.time + request.cycles, number)
        elif isinstance(request, WaitUntil):
            until = max(self.time, request.time)
            self._cycles[number][request.category] += until - self.time
            self._at(until, number)
        else:
            raise PointsmanError(f"a LogP machine has no registers, and node {number} asks for {request!r}")

    def _send(self, number: int, one: _Processor, request: LogpSend) -> None:
        to, message = request.to, request.message
        parameters, other = self.parameters, self._all[to]
        kind = int(message.kind == Kind.REPLY)
        if other.under_way[kind] >= parameters.room:
            self._at(self.time, number)
            return
        other.under_way[kind] += 1
        packets = parameters.packets(len(message.data))
        step = max(parameters.send, parameters.gap)
        begin = max(self.time, one.next_send)
        one.next_send = begin + (packets - 1) * step + parameters.gap
        end = begin + (packets - 1) * step + parameters.send
        arrival = begin + parameters.send + parameters.latency + (self._late() if parameters.delay else 0)
        if parameters.in_order:
            arrival = max(arrival, self._last.get((number, to), 0))
            self._last[number, to] = arrival + (packets - 1) * step
        times = None if packets == 1 else arrival + step * np.arange(packets)
        self._bring(other, to, kind, arrival, message, times)
        self.messages += packets
        self._accesses[number][0] += packets
        self._cycles[number][Category.WRITE] += end - self.time
        request.answer = True
        self._at(end, number)

    def _send_batch(self, number: int, one: _Processor, request: LogpBatch) -> None:
        parameters, batch = self.parameters, request.batch
        each = np.full(len(request.to), parameters.packets(batch.size))
        each[-1] = parameters.packets(len(batch.data) - (len(each) - 1) * batch.size)
        count = int(each.sum())
        destination = np.repeat(request.to, each)
        kind = int(batch.kind == Kind.REPLY)
        begin = max(self.time, one.next_send)
        step = max(parameters.send, parameters.gap)
        arrivals = begin + parameters.send + parameters.latency + step * np.arange(count)
        if parameters.delay:
            arrivals = arrivals + self._random.integers(0, parameters.delay + 1, count)
        one.next_send = begin + count * step
        end = begin + (count - 1) * step + parameters.send
        self.messages += count
        self._accesses[number][0] += count
        self._cycles[number][Category.WRITE] += end - self.time
        order = np.argsort(request.to, kind="stable")
        starts = np.flatnonzero(np.diff(request.to[order], prepend=-1))
        for at, after in zip(starts.tolist(), [*starts[1:].tolist(), len(request.to)], strict=True):
            which = order[at:after]
            to = int(request.to[which[0]])
            times = arrivals[which] if count == len(each) else arrivals[destination == to]
            if parameters.in_order:
                times = np.maximum.accumulate(np.maximum(times, self._last.get((number, to), 0)))
                self._last[number, to] = int(times[-1])
            part = part_of(batch, which)
            self._bring(self._all[to], to, kind, int(times.min()), part, times)
        self._at(end, number)

    def _bring(self, other: _Processor, to: int, kind: int, arrival: int, message: Any, times: Any) -> None:
        """A message is under way to a processor, which may wait for it."""
        if other.program is None:
            raise NodeEndedError(to, "a message goes to it")
        self._count += 1
        heapq.heappush(other.arriving[kind], (arrival, self._count, message, times))
        waits = other.waiting
        if waits is not None and (kind or not waits.replying):
            self._at(max(arrival, self.time), to)

    def _late(self) -> int:
        if not self._draws:
            self._draws = self._random.integers(0, self.parameters.delay + 1, 1024).tolist()
        return self._draws.pop()

    def _receive(self, number: int, one: _Processor, request: LogpReceive) -> None:
        requests, replies = one.arriving
        now, parameters = self.time, self.parameters
        kind = -1
        if replies and replies[0][0] <= now:
            kind = 1
        if not request.replies_only and requests and requests[0][0] <= now and (kind < 0 or requests[0] < replies[0]):
            kind = 0
        if kind < 0:
            self._cycles[number][Category.READ] += parameters.poll
            self._at(now + parameters.poll, number)
            return
        _, place, message, times = heapq.heappop(one.arriving[kind])
        begin = max(now, one.next_receive)
        if isinstance(message, Message):
            one.under_way[kind] -= 1
            wanted = one.wanted[kind]
            for other in wanted:
                if self._all[other].waiting is not None:
                    self._at(begin, other)
            wanted.clear()
        last, count = begin, 1
        if times is not None:
            step = max(parameters.receive, parameters.gap)
            if isinstance(message, Batch) and len(times) == len(message.firsts):
                came = _without_pause(times, begin, step)
                if not came.all():
                    rest = np.flatnonzero(~came)
                    left = part_of(message, rest), times[rest]
                    heapq.heappush(one.arriving[kind], (int(left[1].min()), place, *left))
                    message, times = part_of(message, np.flatnonzero(came)), times[came]
            times, count = np.sort(times), len(times)
            last = max(begin, int((times - step * np.arange(count)).max())) + step * (count - 1)
        one.next_receive = last + parameters.gap
        end = last + parameters.receive
        self._accesses[number][1] += count
        self._cycles[number][Category.READ] += end - now
        request.answer = message
        self._at(end, number)

    def _wait(self, number: int, one: _Processor, request: LogpWait) -> None:
        one.waiting, one.begun = request, self.time
        requests, replies = one.arriving
        soonest = [heap[0][0] for heap in ((replies,) if request.replying else (requests, replies)) if heap]
        if soonest:
            self._at(max(self.time, min(soonest)), number)
        if request.to is not None:
            other, kind = self._all[request.to], int(request.replying)
            if other.under_way[kind] < self.parameters.room:
                self._at(self.time, number)
            else:
                other.wanted[kind].append(number)


def _without_pause(times: np.ndarray, begin: int, step: int) -> np.ndarray:
    """Which of the messages that come at these times a processor receives that begins at ``begin`` and takes ``step`` for each,
    until none is there; the first is. Bools, as many as ``times``."""
    order = np.sort(times)
    late = np.flatnonzero(order > begin + step * np.arange(len(order)))
    return times <= order[late[0] - 1] if len(late) and late[0] else np.ones(len(times), bool)
