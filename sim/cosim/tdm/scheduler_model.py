"""Model of the switch's scheduler, written with sets and loops from the paper's definitions (Ding et al. 2005, §3 and §4).

Of ``hdl/tdm_switch`` only the sizes and the command numbers are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tdm_switch.codes import NOWHERE, Answer, Command, Predictor
from tdm_switch.shape import SwitchShape

Connection = tuple[int, int]
Connections = set[Connection]


def bits_of(connections: Connections, ports: int) -> int:
    """Connections as the hardware's Boolean matrix, packed into an integer."""
    return sum(1 << (u * ports + v) for u, v in connections)


def connections_of(bits: int, ports: int) -> Connections:
    """Connections of a Boolean matrix packed into an integer; the inverse of `bits_of`."""
    return {(u, v) for u in range(ports) for v in range(ports) if bits >> (u * ports + v) & 1}


def cells(ports: int, order: str, row: int, column: int) -> Iterator[Connection]:
    """Connections in the order in which the array asks them."""
    if order == "plain":
        for i in range(ports):
            for j in range(ports):
                yield (row + i) % ports, (column + j) % ports
    else:
        for k in range(ports):
            for u in range(ports):
                yield u, (column + k - u) % ports


def decide(
    ports: int, order: str, start: Connection, change: Connections, realised: Connections
) -> tuple[Connections, Connections]:
    """Of the connections in ``change``, those that a slot releases and those that it establishes (Table 2)."""
    inputs, outputs = {u for u, _ in realised}, {v for _, v in realised}
    released, established = set(), set()
    for u, v in cells(ports, order, *start):
        if (u, v) not in change:
            continue
        if (u, v) in realised:
            released.add((u, v))
            inputs.discard(u)
            outputs.discard(v)
        elif u not in inputs and v not in outputs:
            established.add((u, v))
            inputs.add(u)
            outputs.add(v)
    return released, established


@dataclass(frozen=True)
class Slots:
    """All slots at the start of a cycle: connections, connections that were loaded, and the slots' modes."""

    realised: list[Connections]
    preloaded: list[Connections]
    dynamic: list[bool]
    gives_way: list[bool]

    def occupied(self, slot: int) -> bool:
        return bool(self.realised[slot] or self.preloaded[slot])


@dataclass
class Decision:
    """A decision that a scheduling unit has begun."""

    slot: int
    change: Connections
    realised: Connections
    spoilt: bool = False


@dataclass
class Unit:
    """A copy of the scheduling logic."""

    slot: int
    opened: bool = False
    decision: Decision | None = None


@dataclass
class Making:
    """The configuration being made: a destination, or none, for each row named."""

    rows: dict[int, int | None] = field(default_factory=dict)
    owner: int | None = None
    broken: bool = False


class SchedulerModel:
    """The scheduler, cycle by cycle."""

    def __init__(self, shape: SwitchShape) -> None:
        self.shape = shape
        self.reset()

    def reset(self) -> None:
        shape = self.shape
        slots = range(shape.slots)
        self.realised: list[Connections] = [set() for _ in slots]
        self.preloaded: list[Connections] = [set() for _ in slots]
        self.dynamic = [True for _ in slots]
        self.gives_way = [False for _ in slots]
        self.held: Connections = set()
        self.latched: Connections = set()
        self.wide: Connections = set()
        self.age: dict[Connection, int] = {}
        self.predictor = Predictor.NONE
        self.threshold = 0
        self.making = Making()
        self.store: dict[int, dict[int, int | None]] = {}
        self.turn: int | None = None
        self.word = 0
        self.last = shape.ports - 1
        self.now: int | None = None
        self.place: int | None = None
        self.tick = shape.slot_cycles - 1
        self.copy: Connections = set()
        self.fabric: Connections = set()
        self.units = [Unit(j) for j in range(shape.sl_units)]
        self.phase = 0
        self.number = 0
        self.late: set[int] = set()
        self.random = 0xACE1
        self.start = (0, 0)
        if shape.priority == "random":
            self.start = self._random_start()

    # -- what is seen ------------------------------------------------------------------------------------------

    @property
    def grant(self) -> Connections:
        return self.copy if self.tick >= self.shape.guard_cycles else set()

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        n = self.shape.ports
        done, answer = self.reply()
        return {
            "grant": bits_of(self.grant, n),
            "fabric": bits_of(self.fabric, n),
            "done": 0 if done is None else 1 << done,
            "answers": int(answer is not None),
            "answer": answer,
        }

    # -- a cycle -----------------------------------------------------------------------------------------------

    def clock(self, inputs: Mapping[str, int]) -> None:
        if inputs.get("rst"):
            self.reset()
            return
        n = self.shape.ports
        request = connections_of(inputs["request"], n)
        used = connections_of(inputs["used"], n)
        slots = Slots(
            realised=[set(connections) for connections in self.realised],
            preloaded=[set(connections) for connections in self.preloaded],
            dynamic=list(self.dynamic),
            gives_way=list(self.gives_way),
        )
        wanted = request | self.held | self.latched
        unmet = wanted.difference(*slots.realised)
        wide = set(self.wide)

        self._latch(request, used)
        touched = self._execute()
        self._choose_command(inputs)
        self._next_slot(slots.realised)
        self._schedule(wanted, unmet, wide, slots, touched)

    # -- requests ----------------------------------------------------------------------------------------------

    def _latch(self, request: Connections, used: Connections) -> None:
        """Update latches and ages, without the effects of this cycle's commands."""
        counting = self.predictor is Predictor.TIMEOUT or (self.predictor is Predictor.COUNTER and bool(used))
        expired = set()
        self.age = {c: a for c, a in self.age.items() if c in self.latched}  # a command may have cleared some
        for connection in self.latched:
            if connection in request or connection in used:
                self.age[connection] = 0
            elif counting:
                self.age[connection] = min(self.age.get(connection, 0) + 1, (1 << self.shape.age_bits) - 1)
                if self.age[connection] >= self.threshold:
                    expired.add(connection)
        self.latched = set() if self.predictor is Predictor.NONE else (self.latched | request) - expired
        for connection in expired:
            del self.age[connection]

    # -- commands ----------------------------------------------------------------------------------------------

    def _choose_command(self, inputs: Mapping[str, int]) -> None:
        n = self.shape.ports
        asking = [i for i in range(n) if inputs["command_valid"] >> i & 1 and i != self.turn]
        self.turn = None
        if asking:
            self.turn = min(asking, key=lambda i: (i - self.last - 1) % n)
            self.last = self.turn
            self.word = inputs[f"command_{self.turn}"]

    def fields(self) -> tuple[int, int, int, int]:
        word = self.word
        return word & 15, word >> 4 & 15, word >> 8 & 255, word >> 16 & 255

    def _waits(self) -> bool:
        opcode = self.fields()[0]
        needs = opcode in (Command.STAGE, Command.CLEAR, Command.LOAD, Command.STORE)
        return needs and self.making.owner not in (None, self.turn)

    def _replaced(self) -> dict[int, int | None]:
        """Rows that LOAD or STORE replaces."""
        _, mode, _, _ = self.fields()
        rows = dict(self.making.rows)
        if not mode & 1:
            rows = {u: rows.get(u) for u in range(self.shape.ports)}
        return rows

    def _conflicts(self, slot: int, rows: dict[int, int | None]) -> bool:
        """Has a row of the slot that stays the same destination as a row to be loaded?"""
        new = {v for v in rows.values() if v is not None}
        return any(v in new for u, v in self.preloaded[slot] if u not in rows)

    def _refusal(self) -> Answer:
        shape = self.shape
        opcode, mode, x, y = self.fields()
        if opcode not in list(Command):
            return Answer.UNKNOWN
        if opcode == Command.STAGE:
            if x >= shape.ports or (y >= shape.ports and y != NOWHERE):
                return Answer.RANGE
            return Answer.CONFLICT if x in self.making.rows or y in self.making.rows.values() else Answer.VALUE
        if opcode in (Command.LOAD, Command.STORE):
            if self.making.owner is None or self.making.broken:
                return Answer.BROKEN
            if x >= (shape.slots if opcode == Command.LOAD else shape.stored):
                return Answer.RANGE
            return Answer.CONFLICT if opcode == Command.LOAD and self._conflicts(x, self._replaced()) else Answer.VALUE
        if opcode == Command.SWAP:
            if x >= shape.slots or y >= shape.stored:
                return Answer.RANGE
            return Answer.CONFLICT if self._conflicts(x, self.store.get(y, {})) else Answer.VALUE
        if opcode in (Command.EVICT, Command.SLOT) and x >= shape.slots:
            return Answer.RANGE
        if opcode in (Command.HOLD, Command.RELEASE, Command.WIDEN, Command.WHERE) and x >= shape.ports:
            return Answer.RANGE
        if opcode == Command.PREDICT:
            if mode not in list(Predictor):
                return Answer.UNKNOWN
            if mode in (Predictor.TIMEOUT, Predictor.COUNTER) and not 1 <= x + 256 * y < 1 << shape.age_bits:
                return Answer.RANGE
        return Answer.VALUE

    def reply(self) -> tuple[int | None, int | None]:
        """Processor whose command is completed in this cycle, and the answer to the command."""
        if self.turn is None or self._waits():
            return None, None
        opcode, _, x, _ = self.fields()
        refusal = self._refusal()
        if refusal != Answer.VALUE:
            return self.turn, refusal | opcode << 4
        if opcode == Command.WHERE:
            return self.turn, sum((self.turn, x) in b for b in self.realised) << 4
        if opcode == Command.DEGREE:
            return self.turn, sum(map(bool, self.realised)) << 4
        return self.turn, None

    def _execute(self) -> set[int]:
        """Carry out the command whose turn it is. Gives the slots that it touches."""
        if self.turn is None or self._waits():
            return set()
        opcode, mode, x, y = self.fields()
        refusal, me = self._refusal(), self.turn
        slots = range(self.shape.slots)
        if opcode == Command.STAGE:
            self.making.owner = me
            if refusal != Answer.VALUE:
                self.making.broken = True
            else:
                self.making.rows[x] = None if y == NOWHERE else y
            return set()
        replaced = self._replaced()
        if opcode in (Command.CLEAR, Command.LOAD, Command.STORE):
            self.making = Making()
        if refusal != Answer.VALUE:
            return set()
        match opcode:
            case Command.LOAD:
                self._preload(x, replaced)
                return {x}
            case Command.STORE:
                self.store[x] = replaced
            case Command.SWAP:
                rows = self.store.get(y, {})
                old = dict(self.preloaded[x])
                self.store[y] = {u: old.get(u) for u in rows}
                self._preload(x, rows)
                return {x}
            case Command.EVICT:
                self.preloaded[x], self.realised[x] = set(), set()
                return {x}
            case Command.FLUSH:
                mine = {c for c in self.held | self.latched if not mode & 1 or c[0] == me}
                self.held -= mine
                self.latched = {c for c in self.latched if mode & 1 and c[0] != me}
                for s in slots:
                    if mode & 1:
                        gone = {c for c in self.realised[s] if c[0] == me and c not in self.preloaded[s]}
                        self.realised[s] -= gone
                    else:
                        self.realised[s] = set(self.preloaded[s])
                return set(slots)
            case Command.HOLD:
                self.held.add((me, x))
            case Command.RELEASE:
                self.held.discard((me, x))
                self.latched.discard((me, x))
            case Command.PREDICT:
                self.predictor, self.threshold = Predictor(mode), x + 256 * y
            case Command.SLOT:
                self.dynamic[x], self.gives_way[x] = bool(mode & 1), bool(mode & 2)
            case Command.WIDEN:
                (self.wide.add if mode & 1 else self.wide.discard)((me, x))
        return set()

    def _preload(self, slot: int, rows: dict[int, int | None]) -> None:
        new = {(u, v) for u, v in rows.items() if v is not None}
        taken = {v for _, v in new}
        self.preloaded[slot] = {c for c in self.preloaded[slot] if c[0] not in rows} | new
        self.realised[slot] = {c for c in self.realised[slot] if c[0] not in rows and c[1] not in taken} | new

    # -- time slots --------------------------------------------------------------------------------------------

    def _next_slot(self, realised: list[Connections]) -> None:
        self.fabric = set(self.grant)
        if self.tick != self.shape.slot_cycles - 1:
            self.tick += 1
            return
        k = self.shape.slots
        after = -1 if self.place is None else self.place
        self.now = next((s % k for s in range(after + 1, after + 1 + k) if realised[s % k]), None)
        self.copy = set() if self.now is None else realised[self.now]
        if self.now is not None:
            self.place, self.tick = self.now, 0

    # -- scheduling --------------------------------------------------------------------------------------------

    def _allowed(self, connection: Connection, unit: int, unmet: Connections) -> bool:
        shape = self.shape
        u, v = connection
        if (u + v + self.number) % shape.sl_units != unit:
            return False
        if not shape.reserves:
            return True
        waiting = self._waiting(unmet)
        return connection in self._first() or all(u != a and v != b for a, b in waiting)

    def _waiting(self, unmet: Connections) -> Connections:
        """Connections for which the start stays."""
        return {c for c in self._first() & unmet if c[0] not in self.late}

    def _first(self) -> Connections:
        """Connections before which no other connection comes."""
        n = self.shape.ports
        if self.shape.order == "plain":
            return {self.start}
        return {(u, v) for u in range(n) for v in range(n) if (u + v) % n == self.start[1]}

    def _schedule(
        self, wanted: Connections, unmet: Connections, wide: Connections, slots: Slots, touched: set[int]
    ) -> None:
        shape = self.shape
        n = shape.ports
        last = self.phase == shape.sl_cycles - 1
        rows, columns = {u for u, _ in unmet}, {v for _, v in unmet}
        for j, unit in enumerate(self.units):
            s = unit.slot
            if self.phase == 0:
                change = set()
                for connection in ((u, v) for u in range(n) for v in range(n)):
                    asked, fixed = connection in wanted, connection in slots.preloaded[s]
                    contested = connection[0] in rows or connection[1] in columns
                    yields = fixed and slots.dynamic[s] and slots.gives_way[s] and not asked and contested
                    spread = asked and connection in wide
                    elsewhere = any(connection in b for t, b in enumerate(slots.realised) if t != s)
                    if connection in slots.realised[s]:
                        idle = not asked and not fixed
                        spare = spread and not fixed and elsewhere and contested
                        if idle or yields or spare:
                            change.add(connection)
                    else:
                        may = asked and slots.dynamic[s] and self._allowed(connection, j, unmet)
                        if (may and (connection in unmet or (spread and not contested))) or (fixed and not yields):
                            change.add(connection)
                unit.decision = Decision(s, change, slots.realised[s])
            decision = unit.decision
            assert decision is not None
            if s in touched:
                decision.spoilt = True
            if last:
                if not decision.spoilt:
                    start = self.start if shape.priority != "fixed" else (0, 0)
                    released, established = decide(n, shape.order, start, decision.change, decision.realised)
                    self.realised[s] = (self.realised[s] - released) | established
                self._next_decided(j, unit, slots, bool(unmet))
        if last:
            self._next_start(unmet)
            self.number = (self.number + 1) % shape.sl_units
        self.phase = 0 if last else self.phase + 1

    def _next_decided(self, j: int, unit: Unit, slots: Slots, unmet: bool) -> None:
        own = range(j, self.shape.slots, self.shape.sl_units)
        used = [s for s in own if slots.occupied(s)]
        empty = [s for s in own if not slots.occupied(s) and slots.dynamic[s]]
        later = [] if unit.opened else [s for s in used if s > unit.slot]
        if later:
            unit.slot = later[0]
        elif unmet and empty and not (unit.opened and used):
            unit.slot, unit.opened = empty[0], True
        elif used:
            unit.slot, unit.opened = used[0], False

    def _next_start(self, unmet: Connections) -> None:
        shape = self.shape
        n = shape.ports
        if shape.priority == "random":
            r = self.random
            bit = (r ^ r >> 2 ^ r >> 3 ^ r >> 5) & 1
            self.random = r >> 1 | bit << 15
            self.start = self._random_start()
        elif shape.priority == "round_robin":
            waiting = self._waiting(unmet)
            if shape.reserves and waiting:
                self.late |= set(range(n)) - {u for u, _ in waiting}
                return
            self.late = set()
            row, column = self.start
            column += 1
            if column == n:
                column = 0
                if shape.order == "plain":
                    row = (row + 1) % n
            self.start = row, column

    def _random_start(self) -> Connection:
        n = self.shape.ports
        mask = (1 << max(1, (n - 1).bit_length())) - 1
        return (self.random & mask) % n, (self.random >> 8 & mask) % n
