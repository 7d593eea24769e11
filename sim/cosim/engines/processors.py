"""Processors of a mesh, in plain Python: the meaning of requests, cycle by cycle.

This is the reference. The Amaranth engine runs this code; the model and the verilated engine have compiled loops of
their own that must do the same. In each cycle, in this order: programs whose requests are complete are resumed, by
node number, until each makes a request that takes time; the limits are checked; the observer is called; every
transfer makes at most one access; the clock ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cosim.errors import DeadlockError, TooLongError, Waiting
from cosim.hardware import PortShape
from cosim.record import EVENT
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Attend, Category, Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil

Program = Coroutine[Any, None, Any] | Generator[Any, None, Any]


@dataclass(frozen=True)
class Counts:
    """Counters of a run in progress; the fields are those of `cosim.record.Record`."""

    cycles: np.ndarray
    accesses: np.ndarray
    finished: np.ndarray
    results: list[Any]

    @classmethod
    def of(cls, nodes: int, started: int) -> Counts:
        """Nothing counted yet."""
        return cls(
            cycles=np.zeros((nodes, len(Category)), dtype=np.int64),
            accesses=np.zeros((nodes, 2), dtype=np.int64),
            finished=np.full(nodes, started, dtype=np.int64),
            results=[None] * nodes,
        )


@dataclass(frozen=True)
class RunOptions:
    """Limits and callbacks of a run.

    Parameters
    ----------
    max_cycles : int or None
        Give up when a program is unfinished after this number of cycles.
    quiet_cycles : int
        Give up when no access, timed wait or resumption has occurred for this number of cycles.
    events : bool
        Record every access.
    observer : callable or None
        Called in every cycle, after the programs and before the clock.
    progress : callable
        Called from time to time with the time and the number of unfinished programs.
    counts : Counts or None
        Counters of the run, which the caller can read while it goes on; None: the engine makes its own.
    """

    max_cycles: int | None
    quiet_cycles: int
    events: bool
    observer: Callable[[], None] | None
    progress: Callable[[int, int], None]
    counts: Counts | None = None


@dataclass
class Outcome:
    """Results of a run of programs; the fields are those of `cosim.record.Record`."""

    cycles: np.ndarray
    finished: np.ndarray
    accesses: np.ndarray
    results: list[Any]
    events: np.ndarray | None


@dataclass(frozen=True)
class Access:
    """One access of a processor: a write of ``word`` or a read."""

    register: int
    write: bool
    word: int = 0


class Ports(Protocol):
    """Processor ports of all nodes of an engine."""

    @property
    def time(self) -> int:
        """Cycles since reset was released."""
        ...

    def full(self, node: int) -> int:
        """Bits of the registers of a node that take no word."""
        ...

    def available(self, node: int) -> int:
        """Bits of the registers of a node with a word to read. In some hardware these are the same bits."""
        ...

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        ...


def check_request(request: object, shape: PortShape) -> Request:
    """``request``, after checking that a node of this shape can carry it out."""
    if isinstance(request, WaitEmpty):
        _check_register(request.register, shape)
    elif isinstance(request, (Transfer, Attend)):
        if isinstance(request, Attend):
            for register in (*request.full, *request.empty):
                _check_register(register, shape)
        for lane in request.lanes:
            for register in lane.registers:
                _check_register(register, shape)
            if lane.data is not None and lane.data.size < lane.words:
                raise PointsmanError(f"data of a lane must hold its {lane.words} words, not {lane.data.size}")
            if shape.width > 32 and lane.data is not None and lane.data.dtype != np.uint64:
                raise PointsmanError(
                    f"data of a lane must be an array of uint64 for words of {shape.width} bits, "
                    f"not of {lane.data.dtype}"
                )
    elif not isinstance(request, (Wait, WaitUntil)):
        raise PointsmanError(
            f"a program must await a request, not {type(request).__name__}",
            hint="Wait, WaitUntil, WaitEmpty, Transfer and Attend of pointsman.runtime.api.requests",
        )
    return request


def note_place(error: BaseException, node: int, time: int) -> None:
    """Add a note to ``error`` that names the node whose program raised it."""
    error.add_note(f"raised by the program of node {node} in cycle {time}")


def waiting(node: int, request: Request, moved: Sequence[int], since: int) -> Waiting:
    """The registers for which an incomplete request waits; ``moved``: words that each lane of a transfer has moved."""
    writes: set[int] = set()
    reads: set[int] = set()
    if isinstance(request, WaitEmpty):
        writes.add(request.register)
    elif isinstance(request, (Transfer, Attend)):
        if isinstance(request, Attend):
            writes.update(request.empty)
            reads.update(request.full)
        open_lanes = [k for k, lane in enumerate(request.lanes) if moved[k] < lane.words]
        beside = request.beside if isinstance(request, Attend) else ()
        needed = [k for k in open_lanes if k not in beside]
        for number in needed or open_lanes:
            lane = request.lanes[number]
            if may_move(request.lanes, moved, number):
                (writes if lane.write else reads).add(lane.registers[moved[number] % len(lane.registers)])
    return Waiting(node, request, tuple(sorted(writes)), tuple(sorted(reads)), since)


def may_move(lanes: Sequence[Lane], moved: Sequence[int], number: int) -> bool:
    """Whether the conditions between the lanes let lane ``number`` move a word."""
    lane = lanes[number]
    if lane.after is not None:
        need = lanes[lane.after].words if lane.after_all else (moved[number] // lane.item + 1) * lane.item
        if moved[lane.after] < need:
            return False
    return lane.pair is None or lane.window is None or moved[number] - moved[lane.pair] < lane.window


def lanes_of(request: Request | None) -> tuple[Lane, ...]:
    """The words that a request moves."""
    return request.lanes if isinstance(request, (Transfer, Attend)) else ()


def waits_for_time(request: Request | None) -> bool:
    """Whether a request will be complete at some time, independent of the router."""
    return isinstance(request, (Wait, WaitUntil)) or (isinstance(request, Attend) and request.until is not None)


class Programs:
    """The programs of all nodes: resumes them, counts their cycles, keeps what they return.

    Parameters
    ----------
    shape : PortShape
        Sizes of the nodes.
    programs : sequence of coroutine, generator or None
        One per node.
    started : int
        Time at which they start.
    is_full : callable
        Whether a register of a node is full.
    has_word : callable or None
        Whether a register has a word to read; None: a register has a word when it is full.
    """

    def __init__(
        self,
        shape: PortShape,
        programs: Sequence[Program | None],
        started: int,
        is_full: Callable[[int, int], bool],
        has_word: Callable[[int, int], bool] | None = None,
    ) -> None:
        nodes = len(programs)
        self.shape = shape
        self.programs = programs
        self.is_full = is_full
        self.has_word = has_word or is_full
        self.requests: list[Request | None] = [None] * nodes
        self.since = [started] * nodes
        self.live = sum(program is not None for program in programs)
        self.count_in(Counts.of(nodes, started))

    def count_in(self, counts: Counts | None) -> None:
        """Use these counts, if any, from now on."""
        if counts is not None:
            self.cycles, self.accesses = counts.cycles, counts.accesses
            self.finished, self.results = counts.finished, counts.results

    def complete(self, node: int, time: int) -> None:
        """Count the cycles of a request without lanes, and go on."""
        request = self.requests[node]
        assert request is not None
        if isinstance(request, Attend):
            self._look(node, request)
        if not lanes_of(request):
            assert isinstance(request, (Wait, WaitUntil, WaitEmpty, Attend))
            assert request.category is not None
            self.cycles[node, request.category] += time - self.since[node]
        self.resume(node, time)

    def resume(self, node: int, time: int) -> None:
        """Run the program of ``node`` until it asks for something that takes time, or ends."""
        program = self.programs[node]
        assert program is not None
        refusal: PointsmanError | None = None
        try:
            while True:
                request = program.send(None) if refusal is None else program.throw(refusal)
                try:
                    refusal = None
                    if not self._at_once(node, check_request(request, self.shape), time):
                        break
                except PointsmanError as error:
                    refusal = error.with_traceback(None)
        except StopIteration as end:
            self.requests[node] = None
            self.results[node] = end.value
            self.finished[node] = time
            self.live -= 1
            return
        except BaseException as error:
            note_place(error, node, time)
            raise
        self.requests[node] = request
        self.since[node] = time

    def _at_once(self, node: int, request: Request, time: int) -> bool:
        if isinstance(request, Transfer):
            return not any(lane.words for lane in request.lanes)
        if isinstance(request, WaitEmpty):
            return not self.is_full(node, request.register)
        if isinstance(request, Attend):
            called = self._look(node, request)
            return called or request.done or (request.until is not None and request.until <= time)
        return self.until(request, time) <= time

    def _look(self, node: int, request: Attend) -> bool:
        return request.look(
            lambda register: self.is_full(node, register), lambda register: self.has_word(node, register)
        )

    @staticmethod
    def until(request: Request, since: int) -> int:
        """When a request for time that was made at ``since`` is complete."""
        if isinstance(request, Wait):
            return since + request.cycles
        if isinstance(request, Attend):
            assert request.until is not None
            return request.until
        assert isinstance(request, WaitUntil)
        return request.time

    def close(self) -> None:
        """End all programs that have not ended."""
        close_programs(self.programs)

    def outcome(self, events: np.ndarray | None) -> Outcome:
        return Outcome(self.cycles, self.finished, self.accesses, self.results, events)


def close_programs(programs: Sequence[Program | None]) -> None:
    """End programs after a failed run. Errors that they raise in closing are ignored."""
    for program in programs:
        if program is not None:
            try:
                program.close()
            except Exception:
                continue


def too_long(live: int, max_cycles: int) -> TooLongError:
    """The error for a run that exceeds its limit."""
    return TooLongError(f"{live} programs are unfinished after {max_cycles} cycles", hint="allow more with max_cycles")


def run(ports: Ports, programs: Programs, options: RunOptions) -> Outcome:
    """Run the programs to their ends on ``ports``, one cycle at a time."""
    nodes = range(len(programs.programs))
    moved: list[Any] = [[] for _ in nodes]
    stalled = list(programs.since)
    blocked: list[tuple[int, int, Category] | None] = [None] * len(moved)
    """By node whose transfer could move no word: registers that were full and had words then, and as what its cycles count. Until
    these change nothing needs to be looked at."""
    events: list[tuple[int, int, int, bool, int]] = []
    time = started = quiet = ports.time
    programs.count_in(options.counts)

    def go_on(node: int, first: bool = False) -> None:
        if first:
            programs.resume(node, time)
        else:
            programs.complete(node, time)
        request = programs.requests[node]
        moved[node] = request.moved if isinstance(request, Attend) else [0] * len(lanes_of(request))
        stalled[node] = time

    def is_complete(node: int, request: Request) -> bool:
        if isinstance(request, Transfer):
            return all(count == lane.words for count, lane in zip(moved[node], request.lanes, strict=True))
        if isinstance(request, WaitEmpty):
            return not ports.full(node) >> request.register & 1
        if isinstance(request, Attend):
            full, available = ports.full(node), ports.available(node)
            called = request.look(
                lambda register: bool(full >> register & 1), lambda register: bool(available >> register & 1)
            )
            return called or request.done or (request.until is not None and request.until <= time)
        return programs.until(request, programs.since[node]) <= time

    for node in nodes:
        if programs.programs[node] is not None:
            go_on(node, first=True)
    while programs.live:
        if options.max_cycles is not None and time - started >= options.max_cycles:
            raise too_long(programs.live, options.max_cycles)
        if any(map(waits_for_time, programs.requests)):
            quiet = time
        if time - quiet >= options.quiet_cycles:
            waits = [
                waiting(node, request, moved[node], stalled[node])
                for node, request in enumerate(programs.requests)
                if request is not None
            ]
            raise DeadlockError(time=time, quiet=time - quiet, waiting=waits)
        if options.observer is not None:
            options.observer()
        options.progress(time, programs.live)

        accesses: dict[int, Access] = {}
        chosen: dict[int, int] = {}
        for node, request in enumerate(programs.requests):
            if not lanes_of(request):
                continue
            assert isinstance(request, (Transfer, Attend))
            full, available = ports.full(node), ports.available(node)
            before = blocked[node]
            if before is not None and before[0] == full and before[1] == available:
                programs.cycles[node, before[2]] += 1
                continue
            number = _choose(request.lanes, moved[node], full, available)
            lane = request.lanes[number if number is not None else _first_open(request.lanes, moved[node])]
            category = request.category
            if category is None:
                category = Category.WRITE if lane.write else Category.READ
            programs.cycles[node, category] += 1
            blocked[node] = (full, available, category) if number is None and isinstance(request, Transfer) else None
            if number is not None:
                k = moved[node][number]
                word = int(lane.data[k]) if lane.write and lane.data is not None else 0
                register = lane.registers[k % len(lane.registers)]
                accesses[node] = Access(register, lane.write, word & programs.shape.word_mask)
                chosen[node] = number
        words = ports.clock(accesses)
        for node, access in accesses.items():
            lane = lanes_of(programs.requests[node])[chosen[node]]
            word = access.word if access.write else words[node]
            if not access.write and lane.data is not None:
                lane.data[moved[node][chosen[node]]] = word
            moved[node][chosen[node]] += 1
            if moved[node][chosen[node]] % lane.item == 0:
                done = int(moved[node][chosen[node]])
                for fold in lane.folds:
                    fold.apply(done - lane.item, done)
            programs.accesses[node, 0 if access.write else 1] += 1
            stalled[node] = time + 1
            quiet = time + 1
            if options.events:
                events.append((time, node, access.register, access.write, word))
        time += 1
        for node, request in enumerate(programs.requests):
            if request is not None and blocked[node] is None and is_complete(node, request):
                quiet = time
                go_on(node)
    return programs.outcome(np.array(events, dtype=EVENT) if options.events else None)


def _choose(lanes: Sequence[Lane], moved: Sequence[int], full: int, available: int) -> int | None:
    """Index of the lane that makes the access of this cycle; None if no lane can."""
    for number, lane in enumerate(lanes):
        if moved[number] < lane.words and may_move(lanes, moved, number):
            register = lane.registers[moved[number] % len(lane.registers)]
            if (~full if lane.write else available) >> register & 1:
                return number
    return None


def _first_open(lanes: Sequence[Lane], moved: Sequence[int]) -> int:
    """The lane by which a cycle without an access counts."""
    still = [number for number, lane in enumerate(lanes) if moved[number] < lane.words]
    return next((number for number in still if may_move(lanes, moved, number)), still[0])


def _check_register(register: int, shape: PortShape) -> None:
    if register >= shape.registers:
        raise PointsmanError(f"an interface register must be 0 to {shape.registers - 1} in this node, not {register}")
