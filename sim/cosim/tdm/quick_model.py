"""A quick model of the whole switch with its stations: rows of bits instead of sets, equal to ``station_model`` to the cycle.

It knows the switch that `SwitchShape` gives when only its ports, slots and lengths are chosen, and the commands that the run time
sends. Whatever else there is, `can_model` says no, and the naive model is right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from tdm_switch.codes import NOWHERE, Answer, Command, Predictor
from tdm_switch.shape import SwitchShape

OWN_ROWS = 1
"""Mode of LOAD and FLUSH that names only rows of the processor that gives the command, or rows that were staged."""
FREE = -1
"""In place of a port: none."""


def can_model(shape: SwitchShape) -> bool:
    """Is it a shape for this model?"""
    return shape.sl_units == 1 and shape.order == "plain" and shape.priority == "round_robin" and shape.reserves


def bits(word: int) -> Iterator[int]:
    """Numbers of the bits that are set, in ascending order."""
    while word:
        low = word & -word
        yield low.bit_length() - 1
        word ^= low


class QuickNic:
    """Queues, buffers and the command of a processor."""

    def __init__(self, shape: SwitchShape) -> None:
        self.shape = shape
        self.queues: list[deque[int]] = [deque() for _ in range(shape.ports)]
        self.buffers: list[deque[int]] = [deque() for _ in range(shape.ports)]
        self.asks = 0
        """Queues with words, a bit each."""
        self.brimful = 0
        """Queues that take no word."""
        self.waiting = 0
        """Buffers with words."""
        self.outgoing: tuple[int, int] | None = None
        """Destination and word between queue and buffer."""
        self.command: int | None = None
        self.answer: int | None = None
        self.read_data = 0

    @property
    def full(self) -> int:
        """Full bits."""
        n = self.shape.ports
        found = self.brimful | self.waiting << n
        found |= (self.command is not None) << 2 * n | (self.answer is not None) << 2 * n + 1
        return found | (self.asks != 0 or self.outgoing is not None) << 2 * n + 2

    def write(self, address: int, word: int) -> None:
        """A write access of the processor."""
        n = self.shape.ports
        if address < n:
            queue = self.queues[address]
            if len(queue) < self.shape.queue_depth:
                queue.append(word)
                self.asks |= 1 << address
                if len(queue) == self.shape.queue_depth:
                    self.brimful |= 1 << address
        elif address == 2 * n and self.command is None:
            self.command = word & 0xFFFFFF

    def read(self, address: int) -> None:
        """A read access of the processor."""
        n = self.shape.ports
        if n <= address < 2 * n and self.buffers[address - n]:
            buffer = self.buffers[address - n]
            self.read_data = buffer.popleft()
            if not buffer:
                self.waiting &= ~(1 << (address - n))
        elif address == 2 * n + 1 and self.answer is not None:
            self.read_data, self.answer = self.answer, None


class QuickSwitch:
    """The switch, cycle by cycle. Matrices of connections are a list of destinations, or of rows of bits, by input port."""

    def __init__(self, shape: SwitchShape, window: int) -> None:
        if not can_model(shape):
            raise ValueError("the quick model has one scheduling unit, plain order and round robin that reserves ports")
        n, k = shape.ports, shape.slots
        self.shape, self.window = shape, window
        self.nics = [QuickNic(shape) for _ in range(n)]
        self.realised = [[FREE] * n for _ in range(k)]
        self.preloaded = [[FREE] * n for _ in range(k)]
        self.occupied = [0] * k
        """Connections that a slot realises, and how many are preloaded, below."""
        self.fixed = [0] * k
        self.gives_way = [False] * k
        self.dynamic = [True] * k
        self.held, self.latched, self.idle = [0] * n, [0] * n, [0] * n
        self.since: list[dict[int, int]] = [{} for _ in range(n)]
        """Last cycle in which a latched connection was requested or used, for those that are idle."""
        self.threshold = 0
        self.owner: int | None = None
        self.broken = False
        self.staged: dict[int, int] = {}
        self.turn: int | None = None
        self.word = 0
        self.last = n - 1
        self.place, self.tick = FREE, shape.slot_cycles - 1
        self.copy = [FREE] * n
        self.phase, self.slot, self.opened = 0, 0, False
        self.row = self.column = 0
        self.decision: tuple[list[int], list[int]] | None = None
        self.spoilt = False
        self.cycle = 0
        self.granted, self.served, self.first, self.second = [0] * n, [0] * n, [0] * n, [0] * n

    def clock(self, accesses: Mapping[int, tuple[int, bool, int]]) -> None:
        """A cycle in which processors make these accesses: register, write or read, word."""
        nics, shape = self.nics, self.shape
        hidden = [a | b for a, b in zip(self.first, self.second, strict=True)]
        request = [nic.asks & ~away for nic, away in zip(nics, hidden, strict=True)]
        grant = self.copy if self.tick >= shape.guard_cycles else None
        arriving = [(u, *nic.outgoing) for u, nic in enumerate(nics) if nic.outgoing is not None]
        sending = []
        if grant is not None:
            for u, v in enumerate(grant):
                if v >= 0 and nics[u].asks >> v & 1:
                    self.granted[u] |= 1 << v
                    if len(nics[v].buffers[u]) < shape.buffer_depth - 1:
                        sending.append((u, v, nics[u].queues[v][0]))
        done, answer = self._reply()
        asking = [i for i, nic in enumerate(nics) if nic.command is not None and nic.answer is None]
        self._scheduler(request, [(u, v) for u, v, _ in arriving], asking)

        for node, (register, write, word) in accesses.items():
            if write:
                nics[node].write(register, word)
            else:
                nics[node].read(register)
        for nic in nics:
            nic.outgoing = None
        if done is not None:
            nics[done].command = None
            if answer is not None:
                nics[done].answer = answer
        for u, v, word in arriving:
            nics[v].buffers[u].append(word)
            nics[v].waiting |= 1 << u
        for u, v, word in sending:
            nic = nics[u]
            nic.outgoing = v, word
            nic.queues[v].popleft()
            nic.brimful &= ~(1 << v)
            if not nic.queues[v]:
                nic.asks &= ~(1 << v)
        self._patience(sending, hidden)

    # -- stations --------------------------------------------------------------------------------------------

    def _patience(self, moved: Sequence[tuple[int, int, int]], hidden: Sequence[int]) -> None:
        for u, v, _ in moved:
            self.served[u] |= 1 << v
        self.cycle += 1
        if self.cycle % self.window == 0:
            after = [g & ~s & ~h for g, s, h in zip(self.granted, self.served, hidden, strict=True)]
            for u, v, _ in moved:
                self.first[u] &= ~(1 << v)
            self.first, self.second = after, self.first
            self.granted, self.served = [0] * len(after), [0] * len(after)
            return
        for u, v, _ in moved:
            self.first[u] &= ~(1 << v)
            self.second[u] &= ~(1 << v)

    # -- the scheduler ---------------------------------------------------------------------------------------

    def _scheduler(self, request: Sequence[int], used: Sequence[tuple[int, int]], asking: Sequence[int]) -> None:
        shape = self.shape
        n, k = shape.ports, shape.slots
        wanted = [r | h | x for r, h, x in zip(request, self.held, self.latched, strict=True)]
        stands = [0] * n
        for s in range(k):
            if self.occupied[s]:
                for u, v in enumerate(self.realised[s]):
                    if v >= 0:
                        stands[u] |= 1 << v
        unmet = [w & ~s for w, s in zip(wanted, stands, strict=True)]
        columns = 0
        for row in unmet:
            columns |= row
        any_unmet = columns != 0
        last = self.phase == shape.sl_cycles - 1
        decided, start = self.slot, (self.row, self.column)
        first = unmet[self.row] >> self.column & 1
        if self.phase == 0:
            self.decision = self._capture(wanted, unmet, columns, bool(first))
            self.spoilt = False
        used_slots = [s for s in range(k) if self.occupied[s] or self.fixed[s]]
        empty = next((s for s in range(k) if not self.occupied[s] and not self.fixed[s] and self.dynamic[s]), None)
        following, copy = None, None
        if self.tick == shape.slot_cycles - 1:
            following = next((s % k for s in range(self.place + 1, self.place + 1 + k) if self.occupied[s % k]), None)
            copy = [FREE] * n if following is None else list(self.realised[following])

        self._latch(request, used)
        touched = self._execute()
        self._choose(asking)
        if copy is None:
            self.tick += 1
        else:
            self.copy = copy
            if following is not None:
                self.place, self.tick = following, 0
        self.spoilt |= decided in touched
        if not last:
            self.phase += 1
            return
        self.phase = 0
        if not self.spoilt:
            self._decide(decided, start)
        later = next((s for s in used_slots if s > decided and not self.opened), None)
        if later is not None:
            self.slot = later
        elif any_unmet and empty is not None and not (self.opened and used_slots):
            self.slot, self.opened = empty, True
        elif used_slots:
            self.slot, self.opened = used_slots[0], False
        if not first:
            self.column += 1
            if self.column == n:
                self.column, self.row = 0, (self.row + 1) % n

    def _capture(
        self, wanted: Sequence[int], unmet: Sequence[int], columns: int, reserved: bool
    ) -> tuple[list[int], list[int]]:
        """Connections of the slot that is decided, and the changes that are offered to it, by row."""
        s = self.slot
        realised, preloaded = self.realised[s], self.preloaded[s]
        dynamic, gives_way = self.dynamic[s], self.gives_way[s]
        change = [0] * len(wanted)
        taken = 1 << self.column
        if dynamic:
            for u, row in enumerate(unmet):
                change[u] = row if not reserved else row & taken if u == self.row else row & ~taken
        if self.occupied[s] or self.fixed[s]:
            for u, v in enumerate(realised):
                w = preloaded[u]
                if v < 0 and w < 0:
                    continue
                gone = (
                    w >= 0
                    and dynamic
                    and gives_way
                    and not wanted[u] >> w & 1
                    and (unmet[u] != 0 or columns >> w & 1 == 1)
                )
                if v >= 0:
                    change[u] &= ~(1 << v)
                    if (v != w and not wanted[u] >> v & 1) or (v == w and gone):
                        change[u] |= 1 << v
                if w >= 0 and v != w and not gone:
                    change[u] |= 1 << w
        return change, list(realised)

    def _decide(self, s: int, start: tuple[int, int]) -> None:
        assert self.decision is not None
        change, was = self.decision
        n = len(change)
        if not any(change):
            return
        row, column = start
        taken = 0
        for v in was:
            if v >= 0:
                taken |= 1 << v
        now = list(was)
        low = (1 << column) - 1
        for i in range(n):
            u = (row + i) % n
            offered = change[u]
            if not offered:
                continue
            for v in (*bits(offered & ~low), *bits(offered & low)):
                if was[u] == v:
                    now[u] = FREE
                    taken &= ~(1 << v)
                elif now[u] < 0 and not taken >> v & 1:
                    now[u] = v
                    taken |= 1 << v
        self.realised[s] = now
        self.occupied[s] = n - now.count(FREE)

    def _latch(self, request: Sequence[int], used: Sequence[tuple[int, int]]) -> None:
        if not self.threshold:
            return
        busy = list(request)
        for u, v in used:
            busy[u] |= 1 << v
        for u, latched in enumerate(self.latched):
            idle = latched & ~busy[u]
            if idle:
                since = self.since[u]
                for v in bits(idle):
                    if not self.idle[u] >> v & 1:
                        since[v] = self.cycle - 1
                    if self.cycle - since[v] >= self.threshold:
                        idle ^= 1 << v
                        latched ^= 1 << v
            self.idle[u] = idle
            self.latched[u] = latched | request[u]

    # -- commands --------------------------------------------------------------------------------------------

    def _choose(self, asking: Sequence[int]) -> None:
        n = self.shape.ports
        others = [i for i in asking if i != self.turn]
        self.turn = None
        if others:
            self.turn = self.last = min(others, key=lambda i: (i - self.last - 1) % n)
            self.word = self.nics[self.turn].command or 0

    def _fields(self) -> tuple[Command, int, int, int]:
        word = self.word
        return Command(word & 15), word >> 4 & 15, word >> 8 & 255, word >> 16 & 255

    def _waits(self) -> bool:
        return self._fields()[0] in (Command.STAGE, Command.LOAD) and self.owner not in (None, self.turn)

    def _rows(self, mode: int) -> dict[int, int]:
        """Rows that LOAD replaces."""
        if mode & OWN_ROWS:
            return dict(self.staged)
        return {u: self.staged.get(u, FREE) for u in range(self.shape.ports)}

    def _refusal(self) -> Answer:
        opcode, mode, x, y = self._fields()
        if opcode == Command.STAGE:
            return Answer.CONFLICT if x in self.staged or y in self.staged.values() else Answer.VALUE
        if opcode == Command.LOAD:
            if self.owner is None or self.broken:
                return Answer.BROKEN
            rows = self._rows(mode)
            new = {v for v in rows.values() if v >= 0}
            clash = any(v in new for u, v in enumerate(self.preloaded[x]) if v >= 0 and u not in rows)
            return Answer.CONFLICT if clash else Answer.VALUE
        return Answer.VALUE

    def _reply(self) -> tuple[int | None, int | None]:
        if self.turn is None or self._waits():
            return None, None
        refusal, opcode = self._refusal(), self._fields()[0]
        if refusal != Answer.VALUE:
            return self.turn, refusal | opcode << 4
        if opcode == Command.DEGREE:
            return self.turn, sum(map(bool, self.occupied)) << 4
        return self.turn, None

    def _execute(self) -> range:
        """Carry out the command whose turn it is. Gives the slots that it touches."""
        nothing = range(0)
        if self.turn is None or self._waits():
            return nothing
        opcode, mode, x, y = self._fields()
        me, refusal = self.turn, self._refusal()
        match opcode:
            case Command.STAGE:
                self.owner = me
                if refusal != Answer.VALUE:
                    self.broken = True
                else:
                    self.staged[x] = FREE if y == NOWHERE else y
            case Command.LOAD:
                rows = self._rows(mode)
                self.owner, self.broken, self.staged = None, False, {}
                if refusal == Answer.VALUE:
                    self._preload(x, rows)
                    return range(x, x + 1)
            case Command.FLUSH:
                for u in (me,) if mode & OWN_ROWS else range(self.shape.ports):
                    self.held[u] = self.latched[u] = 0
                    for s, row in enumerate(self.realised):
                        row[u] = self.preloaded[s][u] if row[u] == self.preloaded[s][u] or not mode & OWN_ROWS else FREE
                        self.occupied[s] = len(row) - row.count(FREE)
                return range(self.shape.slots)
            case Command.HOLD:
                self.held[me] |= 1 << x
            case Command.RELEASE:
                self.held[me] &= ~(1 << x)
                self.latched[me] &= ~(1 << x)
            case Command.PREDICT:
                self.threshold = x + 256 * y if mode == Predictor.TIMEOUT else 0
            case Command.SLOT:
                self.dynamic[x], self.gives_way[x] = bool(mode & 1), bool(mode & 2)
            case Command.DEGREE:
                pass
            case _:
                raise ValueError(f"the quick model has no command {opcode.name}")
        return nothing

    def _preload(self, slot: int, rows: Mapping[int, int]) -> None:
        preloaded, realised = self.preloaded[slot], self.realised[slot]
        taken = {v for v in rows.values() if v >= 0}
        for u, v in enumerate(realised):
            if u in rows or v in taken:
                realised[u] = FREE
        for u, v in rows.items():
            preloaded[u] = realised[u] = v
        self.occupied[slot] = len(realised) - realised.count(FREE)
        self.fixed[slot] = len(preloaded) - preloaded.count(FREE)
