"""Cycle model of a mesh: all architectural behaviour of the nodes, compiled by Numba. Needs no C++ compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from cosim.engines.processors import Access, Outcome, Program, Programs, RunOptions, lanes_of, too_long, waiting
from cosim.errors import DeadlockError
from cosim.record import EVENT, State
from numesh.codes import FIRST_READ, LOOKAHEAD, Codes, CommandKind
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.runtime.api.requests import Attend, Category, Transfer, WaitEmpty

from . import model_tables as kernel
from .base import Engine
from .model_kernel import advance

_NODE_CYCLES_PER_CALL = 200_000
"""Node cycles in a call of compiled code: some 10 ms, after which signals are handled and progress is shown."""
_EVENT_ROOM = 1 << 14


class ModelEngine(Engine):
    """All nodes in NumPy arrays, clocked by a compiled loop."""

    name = "model"

    def __init__(self, shape: NodeShape, topology: Topology) -> None:
        super().__init__(shape, topology)
        self.routers = _routers(shape, topology, self.codes)
        self.requests = _requests(self.nodes)
        self.preload([NodeMemories.at_reset(shape)] * self.nodes)

    @property
    def time(self) -> int:
        return int(self.requests.clock[kernel.TIME])

    # -- memories and state ----------------------------------------------------------------------------------

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        cache: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for node, contents in enumerate(memories):
            if id(contents) not in cache:
                cache[id(contents)] = self._unpack(contents)
            schedule, self.routers.annotation[node] = cache[id(contents)]
            self.routers.schedule[node, : self.shape.schedule_depth] = schedule

    def _unpack(self, contents: NodeMemories) -> tuple[np.ndarray, np.ndarray]:
        codes, shape = self.codes, self.shape
        entries = [codes.decode_entry(word) for word in contents.schedule]
        schedule = np.array([(*entry.vfsms, entry.ahead) for entry in entries], dtype=np.uint16)
        annotation = np.empty((shape.vfsms, shape.pipelines), dtype=np.int64)
        for p, words in enumerate(contents.annotations):
            for vfsm, word in enumerate(words):
                annotation[vfsm, p] = kernel.decode(word, vfsm, codes.place_bits, self.routers.places)
        return schedule, annotation

    def memories(self) -> list[NodeMemories]:
        schedules = self._packed_schedules().tolist()
        annotations = _packed(self.routers.annotation).swapaxes(1, 2).tolist()
        return [
            NodeMemories(tuple(schedule), tuple(map(tuple, words)))
            for schedule, words in zip(schedules, annotations, strict=True)
        ]

    def _packed_schedules(self) -> np.ndarray:
        """Schedule entries of all nodes as words, which may be longer than any integer of NumPy."""
        widths = list(self.codes.entry_layout.values())
        columns = self.routers.schedule[:, : self.shape.schedule_depth].astype(np.int64 if sum(widths) < 63 else object)
        words, offset = columns[:, :, 0] * 0, 0
        for column, width in enumerate(widths):
            words = words + (columns[:, :, column] << offset)
            offset += width
        return words.astype(object)

    def state(self) -> State:
        r, k, time = self.routers, kernel, self.time
        pipelines = self.shape.pipelines
        decode_valid, reading = time >= FIRST_READ - 2, time >= FIRST_READ

        def entry(age: int) -> np.ndarray:
            rows = r.node[:, k.ENTRIES + (time - age) % k.RECENT]
            return r.schedule.reshape(-1)[rows[:, None] + np.arange(pipelines + 1)].astype(np.int64)

        def looked(age: int) -> np.ndarray:
            return r.stage[:, :, k.LOOKED + (time - age) % k.RECENT]

        def vfsm(annotations: np.ndarray) -> np.ndarray:
            return (annotations >> k.VFSM) & k.NUMBER_MASK

        valid = ((r.stage[:, :, k.FLAGS] & k.VALID) != 0) + 0
        packed = _packed(r.stage[:, :, k.WRITING]) * valid
        pending = r.node[:, k.POINTER_KIND] != 0
        return {
            "entry_vfsm": entry(2)[:, :pipelines] * (time >= LOOKAHEAD),
            "entry_ahead": entry(2)[:, pipelines] * (time >= LOOKAHEAD),
            "pointer_set": (r.node[:, k.POINTER_KIND] == int(CommandKind.SET_POINTER)) + 0,
            "pointer": r.node[:, k.POINTER] * pending,
            "decode_vfsm": vfsm(looked(1)) * decode_valid,
            "decode_annotation": _packed(looked(1)) * decode_valid,
            "read_vfsm": vfsm(looked(3)) * reading,
            "read_annotation": _packed(looked(3)) * reading,
            "write_valid": valid,
            "write_word": _words(r.stage[:, :, k.WORD] * valid),
            "write_vfsm": vfsm(r.stage[:, :, k.WRITING]) * valid,
            "write_type": packed & k.TYPE_MASK,
            "write_destination": (packed >> (2 + self.codes.place_bits)) & ((1 << self.codes.place_bits) - 1),
            "write_forked": packed >> (2 + 2 * self.codes.place_bits),
            "write_from_buffer": ((r.stage[:, :, k.FLAGS] & k.FROM_BUFFER) != 0) * valid,
            "held": r.buffer_full.astype(np.int64),
            "buffer": _words(r.buffer * r.buffer_full),
            "full": r.full.astype(np.int64),
            "register": _words(r.register * r.full),
            "collected": r.collected.copy(),
            "read_data": _words(r.read_data),
            "schedule": self._packed_schedules(),
            "annotation": _packed(r.annotation).swapaxes(1, 2),
        }

    # -- single cycles, as the plain processors drive them ---------------------------------------------------

    def full(self, node: int) -> int:
        """Full bits of a node's interface registers."""
        return sum(1 << int(register) for register in np.flatnonzero(self.routers.full[node]))

    available = full

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        given = self.requests.access
        given[:, 0] = -1
        for node, access in accesses.items():
            if not 0 <= access.register < self.shape.registers:
                raise IndexError(f"register must be 0 to {self.shape.registers - 1}, not {access.register}")
            given[node] = access.register, access.write, _signed(access.word)
        advance(self.routers, self.requests, self.time + 1, True)
        words = _words(self.routers.read_data)
        return {node: int(words[node]) for node, access in accesses.items() if not access.write}

    # -- programs --------------------------------------------------------------------------------------------

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        return _Run(self, programs, options).to_end()

    def is_full(self, node: int, register: int) -> bool:
        """Whether an interface register holds a word."""
        return bool(self.routers.full[node, register])


@dataclass(frozen=True)
class _Packed:
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
    def of(cls, transfer: Transfer | Attend) -> _Packed:
        rows: list[tuple[int, ...]] = []
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
            rows.append(row)
            folds += [(one.code, *(a.ctypes.data for a in (one.left, one.right, one.result))) for one in lane.folds]
            turns += lane.registers
        return cls(
            transfer=transfer,
            data=[lane.data for lane in transfer.lanes],
            lanes=np.array(rows, dtype=np.int64),
            folds=np.array(folds, dtype=np.int64).reshape(-1, kernel.FOLD_FIELDS),
            turns=turns,
            category=-1 if transfer.category is None else int(transfer.category),
            words=sum(lane.words for number, lane in enumerate(transfer.lanes) if number not in beside),
        )


class _Run:
    """One run: programs in Python, requests in the tables of the compiled loop."""

    def __init__(self, engine: ModelEngine, programs: Sequence[Program | None], options: RunOptions) -> None:
        room = max(_EVENT_ROOM, 4 * engine.nodes) if options.events else 0
        self.engine = engine
        self.options = options
        self.started = engine.time
        self.programs = Programs(engine.shape, programs, self.started, engine.is_full)
        self.programs.count_in(options.counts)
        self.requests = engine.requests = engine.requests._replace(
            cycles=self.programs.cycles,
            accesses=self.programs.accesses,
            events=np.zeros((room, 5), dtype=np.int64),
        )
        self.requests.kind[:] = kernel.IDLE
        self.requests.watch_count[:] = 0
        self.requests.ready[:] = 0
        self.requests.clock[kernel.EVENTS] = 0
        self.packed: list[_Packed | None] = [None] * engine.nodes
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
            clock[kernel.LAST_ACCESS] = self.quiet
            advance(self.engine.routers, self.requests, stop, False)
            self._keep_events()
            time = int(clock[kernel.TIME])
            self.quiet = int(clock[kernel.LAST_ACCESS])
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
                request.moved[:] = self.requests.lanes[node, : len(request.lanes), kernel.MOVED]
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
            tables.kind[node] = kernel.IDLE
        elif isinstance(request, Transfer):
            tables.kind[node] = kernel.TRANSFER
            self._enter_transfer(node, request)
        elif isinstance(request, Attend):
            tables.kind[node] = kernel.TRANSFER if request.lanes else kernel.ATTEND
            if request.lanes:
                self._enter_transfer(node, request)
                self._go_on(node, request)
            self._watch(node, request)
            if request.until is not None:
                heappush(self.timers, (request.until, node, self.numbers[node]))
        elif isinstance(request, WaitEmpty):
            tables.kind[node] = kernel.EMPTY
            tables.register[node] = request.register
        else:
            tables.kind[node] = kernel.TIMER
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
        lanes[:, kernel.MOVED] = request.moved
        lanes[:, kernel.TURN] = request.moved % lanes[:, kernel.REGISTERS]
        self.requests.open_words[node] -= int(request.moved[lanes[:, kernel.BESIDE] == 0].sum())

    def _enter_transfer(self, node: int, transfer: Transfer | Attend) -> None:
        packed = self.packed[node]
        if packed is None or packed.transfer is not transfer:
            packed = self.packed[node] = _Packed.of(transfer)
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
                moved = self.requests.lanes[node, :count, kernel.MOVED].tolist()
                waits.append(waiting(node, request, moved, int(self.requests.stalled[node])))
        return DeadlockError(time=time, quiet=time - self.quiet, waiting=waits)

    def _keep_events(self) -> None:
        count = int(self.requests.clock[kernel.EVENTS])
        if count:
            self.events.append(self.requests.events[:count].copy())
            self.requests.clock[kernel.EVENTS] = 0

    def _all_events(self) -> np.ndarray | None:
        if not self.options.events:
            return None
        rows = np.concatenate([np.zeros((0, 5), dtype=np.int64), *self.events])
        events = np.zeros(len(rows), dtype=EVENT)
        for column, name in enumerate(("time", "node", "register", "write")):
            events[name] = rows[:, column]
        events["word"] = _words(rows[:, 4])
        return events


def _routers(shape: NodeShape, topology: Topology, codes: Codes) -> kernel.Routers:
    n, p, v, links = topology.nodes, shape.pipelines, shape.vfsms, topology.nodes * shape.neighbours
    peer = np.full(links, links, dtype=np.int64)
    for node, joined in enumerate(topology.at_port):
        for port, (other, other_port) in joined.items():
            peer[node * shape.neighbours + port] = other * shape.neighbours + other_port
    places = np.zeros(1 << codes.place_bits, dtype=np.int64)
    for kind, first, count in (
        (kernel.NEIGHBOUR, 0, shape.neighbours),
        (kernel.REGISTER, codes.first_register, shape.registers),
        (kernel.BUFFER, codes.first_buffer, shape.vfsms),
        (kernel.NULL, codes.null, 1),
        (kernel.MEMADR, codes.memadr, 1),
    ):
        places[first : first + count] = kind | np.arange(count) << 3
    layout = np.zeros(kernel.LAYOUT_FIELDS, dtype=np.int64)
    layout[kernel.WIDTH] = shape.width
    layout[kernel.POINTER_BITS] = codes.pointer_bits
    layout[kernel.VFSM_BITS] = codes.vfsm_bits
    layout[kernel.PLACE_BITS] = codes.place_bits
    layout[kernel.COMMAND_WORDS] = codes.command_words
    node_state = _lines(n, kernel.NODE_FIELDS)
    # Reset is a command to go to address 0, then to 1.
    node_state[:, kernel.POINTER_KIND] = node_state[:, kernel.REST_KIND] = int(CommandKind.SET_POINTER)
    node_state[:, kernel.REST] = 1
    first_entries = np.arange(n) * (shape.schedule_depth + kernel.SPARE_ROWS) * (p + 1)
    node_state[:, kernel.ENTRIES : kernel.ENTRIES + kernel.RECENT] = first_entries[:, None]
    return kernel.Routers(
        schedule=np.zeros((n, shape.schedule_depth + kernel.SPARE_ROWS, p + 1), dtype=np.uint16),
        annotation=_zeros(n, v, p),
        stage=_lines(n, p, kernel.STAGE_FIELDS),
        node=node_state,
        read_data=_zeros(n),
        buffer=_zeros(n, p, v),
        buffer_full=np.zeros((n, p, v), dtype=np.int8),
        register=_zeros(n, shape.registers),
        full=np.zeros((n, shape.registers), dtype=np.int8),
        partial=_zeros(n, p, codes.command_words),
        collected=_zeros(n, p),
        offers=_zeros(2, links + 1) - 1,
        offered=_zeros(2, links + 1),
        accepts=_zeros(2, links + 1) - 1,
        peer=peer,
        places=places,
        layout=layout,
        scratch=_zeros(4, p),
        arrivals=_zeros(n, 5),
    )


def _requests(nodes: int) -> kernel.Requests:
    return kernel.Requests(
        kind=_zeros(nodes),
        register=_zeros(nodes),
        category=_zeros(nodes),
        open_words=_zeros(nodes),
        stalled=_zeros(nodes),
        lane_count=_zeros(nodes),
        lanes=_zeros(nodes, 4, kernel.LANE_FIELDS),
        folds=_zeros(nodes, 0, kernel.FOLD_FIELDS),
        turns=_zeros(nodes, 8),
        watch_count=_zeros(nodes),
        watch=_zeros(nodes, 8),
        ready=np.zeros(nodes, dtype=np.int8),
        access=_zeros(nodes, 3),
        cycles=_zeros(nodes, len(Category)),
        accesses=_zeros(nodes, 2),
        clock=_zeros(4),
        events=_zeros(0, 5),
    )


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)


def _lines(*shape: int) -> np.ndarray:
    """Zeros whose rows of 64 bytes are lines of the cache."""
    room = _zeros(8 + int(np.prod(shape)))
    return room[-(room.ctypes.data // 8) % 8 :][: int(np.prod(shape))].reshape(shape)


def _packed(annotations: np.ndarray) -> np.ndarray:
    """The packed words that decoded annotations come from."""
    return (annotations >> kernel.PACKED) & kernel.PACKED_MASK


def _words(patterns: np.ndarray) -> np.ndarray:
    """Bit patterns as the words they stand for."""
    return np.ascontiguousarray(patterns).view(np.uint64).copy()


def _signed(word: int) -> int:
    """A word of up to 64 bits as a bit pattern."""
    return word - (1 << 64) if word >> 63 else word
