"""A run of programs on a cycle model: programs in Python, their requests in tables, cycles in a compiled loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from cosim.engines.processors import Access, Outcome, Program, Programs, RunOptions, lanes_of, too_long, waiting
from cosim.errors import DeadlockError
from cosim.hardware import PortShape
from cosim.record import EVENT
from pointsman.runtime.api.requests import Attend, Transfer, WaitEmpty

from . import requests as rows

_NODE_CYCLES_PER_CALL = 200_000
"""Node cycles in a call of compiled code: some 10 ms, after which signals are handled and progress is shown."""
_EVENT_ROOM = 1 << 14


class Modelled(Protocol):
    """A cycle model with a processor port at each node."""

    nodes: int
    requests: rows.Requests

    @property
    def port(self) -> PortShape:
        """Sizes of the processor ports."""
        ...

    @property
    def time(self) -> int:
        """Cycles since reset was released."""
        ...

    def is_full(self, node: int, register: int) -> bool:
        """Whether a register takes no word."""
        ...

    def has_word(self, node: int, register: int) -> bool:
        """Whether a register has a word to read."""
        ...

    def advance(self, stop: int) -> None:
        """Let cycles pass until ``stop``, or until a request in ``requests`` is complete."""
        ...


@dataclass(frozen=True)
class PackedTransfer:
    """A transfer as rows of the tables."""

    transfer: Transfer | Attend
    data: list[np.ndarray | None]
    """Keeps the arrays whose addresses are in ``lanes``."""
    lanes: np.ndarray
    folds: np.ndarray
    turns: list[int]
    category: int
    words: int

    @classmethod
    def of(cls, transfer: Transfer | Attend) -> PackedTransfer:
        table: list[tuple[int, ...]] = []
        folds: list[tuple[int, ...]] = []
        turns: list[int] = []
        beside = transfer.beside if isinstance(transfer, Attend) else ()
        for number, lane in enumerate(transfer.lanes):
            data = lane.data
            row = (
                *(lane.write, lane.words, 0, 0, len(turns), len(lane.registers)),
                *((0, 0) if data is None else (data.ctypes.data, data.itemsize)),
                *((-1, 0) if lane.after is None else (lane.after, lane.after_all)),
                *((-1, 0) if lane.pair is None else (lane.pair, lane.window or 0)),
                *(lane.item, len(folds), len(lane.folds), number in beside),
            )
            table.append(row)
            folds += [(one.code, *(a.ctypes.data for a in (one.left, one.right, one.result))) for one in lane.folds]
            turns += lane.registers
        return cls(
            transfer=transfer,
            data=[lane.data for lane in transfer.lanes],
            lanes=np.array(table, dtype=np.int64),
            folds=np.array(folds, dtype=np.int64).reshape(-1, rows.FOLD_FIELDS),
            turns=turns,
            category=-1 if transfer.category is None else int(transfer.category),
            words=sum(lane.words for number, lane in enumerate(transfer.lanes) if number not in beside),
        )


class ModelRun:
    """One run: programs in Python, requests in the tables of the compiled loop."""

    def __init__(self, engine: Modelled, programs: Sequence[Program | None], options: RunOptions) -> None:
        room = max(_EVENT_ROOM, 4 * engine.nodes) if options.events else 0
        self.engine = engine
        self.options = options
        self.started = engine.time
        self.programs = Programs(engine.port, programs, self.started, engine.is_full, engine.has_word)
        self.programs.count_in(options.counts)
        self.requests = engine.requests = engine.requests._replace(
            cycles=self.programs.cycles,
            accesses=self.programs.accesses,
            events=np.zeros((room, 5), dtype=np.int64),
        )
        self.requests.kind[:] = rows.IDLE
        self.requests.watch_count[:] = 0
        self.requests.ready[:] = 0
        self.requests.clock[rows.EVENTS] = 0
        self.packed: list[PackedTransfer | None] = [None] * engine.nodes
        self.timers: list[tuple[int, int, int]] = []
        """(time, node, number of the request); entries of requests that were completed earlier are ignored."""
        self.numbers = [0] * engine.nodes
        self.events: list[np.ndarray] = []
        self.quiet = self.started

    def to_end(self) -> Outcome:
        programs, options, clock = self.programs, self.options, self.requests.clock
        time = self.started
        for node, program in enumerate(programs.programs):
            if program is not None:
                programs.resume(node, time)
                self._enter(node, time)
        step = max(1, _NODE_CYCLES_PER_CALL // self.engine.nodes)
        while programs.live:
            if options.max_cycles is not None and time - self.started >= options.max_cycles:
                raise too_long(programs.live, options.max_cycles)
            while self.timers and self._stale(self.timers[0]):
                heappop(self.timers)
            if self.timers:
                self.quiet = time
            if time - self.quiet >= options.quiet_cycles:
                raise self._deadlock(time)
            if options.observer is not None:
                options.observer()
            options.progress(time, programs.live)

            stop = time + (1 if options.observer is not None else step)
            if options.max_cycles is not None:
                stop = min(stop, self.started + options.max_cycles)
            if self.timers:
                stop = min(stop, self.timers[0][0])
            else:
                stop = min(stop, self.quiet + options.quiet_cycles)
            clock[rows.LAST_ACCESS] = self.quiet
            self.engine.advance(stop)
            self._keep_events()
            time = int(clock[rows.TIME])
            self.quiet = int(clock[rows.LAST_ACCESS])
            self._complete(time)
        return programs.outcome(self._all_events())

    def _complete(self, time: int) -> None:
        """Resume the programs whose requests are complete, lowest node first."""
        ready = set(np.flatnonzero(self.requests.ready).tolist())
        if ready:
            self.requests.ready[:] = 0
        while self.timers and self.timers[0][0] <= time:
            timer = heappop(self.timers)
            if not self._stale(timer):
                ready.add(timer[1])
        for node in sorted(ready):
            self.quiet = time
            request = self.programs.requests[node]
            if isinstance(request, Attend):
                request.moved[:] = self.requests.lanes[node, : len(request.lanes), rows.MOVED]
            self.programs.complete(node, time)
            self._enter(node, time)

    def _stale(self, timer: tuple[int, int, int]) -> bool:
        return self.numbers[timer[1]] != timer[2]

    def _enter(self, node: int, time: int) -> None:
        """Put the request of a node into the tables."""
        request, tables = self.programs.requests[node], self.requests
        self.numbers[node] += 1
        tables.watch_count[node] = 0
        if request is None:
            tables.kind[node] = rows.IDLE
        elif isinstance(request, Transfer):
            tables.kind[node] = rows.TRANSFER
            self._enter_transfer(node, request)
        elif isinstance(request, Attend):
            tables.kind[node] = rows.TRANSFER if request.lanes else rows.ATTEND
            if request.lanes:
                self._enter_transfer(node, request)
                self._go_on(node, request)
            self._watch(node, request)
            if request.until is not None:
                heappush(self.timers, (request.until, node, self.numbers[node]))
        elif isinstance(request, WaitEmpty):
            tables.kind[node] = rows.EMPTY
            tables.register[node] = request.register
        else:
            tables.kind[node] = rows.TIMER
            heappush(self.timers, (Programs.until(request, time), node, self.numbers[node]))
        self.requests.stalled[node] = time

    def _watch(self, node: int, request: Attend) -> None:
        """Enter the registers that call."""
        watched = [2 * r + 1 for r in request.full] + [2 * r for r in request.empty]
        if len(watched) > self.requests.watch.shape[1]:
            self._grow("watch", len(watched))
        self.requests.watch[node, : len(watched)] = watched
        self.requests.watch_count[node] = len(watched)

    def _go_on(self, node: int, request: Attend) -> None:
        """Let the lanes go on where they were."""
        lanes = self.requests.lanes[node, : len(request.lanes)]
        lanes[:, rows.MOVED] = request.moved
        lanes[:, rows.TURN] = request.moved % lanes[:, rows.REGISTERS]
        self.requests.open_words[node] -= int(request.moved[lanes[:, rows.BESIDE] == 0].sum())

    def _enter_transfer(self, node: int, transfer: Transfer | Attend) -> None:
        packed = self.packed[node]
        if packed is None or packed.transfer is not transfer:
            packed = self.packed[node] = PackedTransfer.of(transfer)
        count, turns, folds = len(packed.lanes), len(packed.turns), len(packed.folds)
        if count > self.requests.lanes.shape[1]:
            self._grow("lanes", count)
        if turns > self.requests.turns.shape[1]:
            self._grow("turns", turns)
        if folds > self.requests.folds.shape[1]:
            self._grow("folds", folds)
        tables = self.requests
        tables.lanes[node, :count] = packed.lanes
        if folds:
            tables.folds[node, :folds] = packed.folds
        tables.turns[node, :turns] = packed.turns
        tables.lane_count[node] = count
        tables.category[node] = packed.category
        tables.open_words[node] = packed.words

    def _grow(self, name: str, size: int) -> None:
        """Make room for more lanes, or more registers, of a node."""
        old = getattr(self.requests, name)
        new = np.zeros((old.shape[0], 2 * size, *old.shape[2:]), dtype=old.dtype)
        new[:, : old.shape[1]] = old
        self.requests = self.engine.requests = self.requests._replace(**{name: new})

    def _deadlock(self, time: int) -> DeadlockError:
        waits = []
        for node, request in enumerate(self.programs.requests):
            if request is not None:
                count = len(lanes_of(request))
                moved = self.requests.lanes[node, :count, rows.MOVED].tolist()
                waits.append(waiting(node, request, moved, int(self.requests.stalled[node])))
        return DeadlockError(time=time, quiet=time - self.quiet, waiting=waits)

    def _keep_events(self) -> None:
        count = int(self.requests.clock[rows.EVENTS])
        if count:
            self.events.append(self.requests.events[:count].copy())
            self.requests.clock[rows.EVENTS] = 0

    def _all_events(self) -> np.ndarray | None:
        if not self.options.events:
            return None
        found = np.concatenate([np.zeros((0, 5), dtype=np.int64), *self.events])
        events = np.zeros(len(found), dtype=EVENT)
        for column, name in enumerate(("time", "node", "register", "write")):
            events[name] = found[:, column]
        events["word"] = words_of(found[:, 4])
        return events


def put_accesses(requests: rows.Requests, accesses: Mapping[int, Access], registers: int) -> None:
    """Let nodes make accesses in the next cycle, and no others.

    Raises
    ------
    IndexError
        If a node of ``accesses`` has no such register.
    """
    given = requests.access
    given[:, 0] = -1
    for node, access in accesses.items():
        if not 0 <= access.register < registers:
            raise IndexError(f"register must be 0 to {registers - 1}, not {access.register}")
        given[node] = access.register, access.write, pattern_of_word(access.word)


def words_read(accesses: Mapping[int, Access], read_data: np.ndarray) -> Mapping[int, int]:
    """Words that ``accesses`` read, by node, from the bit patterns at the ports."""
    words = words_of(read_data)
    return {node: int(words[node]) for node, access in accesses.items() if not access.write}


def words_of(patterns: np.ndarray) -> np.ndarray:
    """Bit patterns as the words they stand for."""
    return np.ascontiguousarray(patterns).view(np.uint64).copy()


def pattern_of_word(word: int) -> int:
    """A word of up to 64 bits as a bit pattern."""
    return word - (1 << 64) if word >> 63 else word
