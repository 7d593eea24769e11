"""What the proofs know of the inside of the scheduler. When the hardware changes, this file follows, and the properties stay."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Cat, Const, Module, Signal, Value
from amaranth.hdl._ast import AnyConst
from amaranth.lib.wiring import In

from tdm_switch.codes import MODE, OPCODE, X, Y
from tdm_switch.scheduler import Scheduler, scheduler_members
from tdm_switch.shape import SwitchShape, bits_for


def choice(m: Module, count: int, name: str) -> Signal:
    """A number below ``count`` that stays what it is. What is proven for it is proven for all."""
    chosen = Signal(bits_for(count), name=name)
    m.d.comb += [chosen.eq(AnyConst(len(chosen))), Assume(chosen < count)]
    return chosen


def before(m: Module, value: Value, name: str) -> Signal:
    """``value`` in the cycle before."""
    kept = Signal(len(value), name=f"before_{name}", reset_less=True)
    part = Module()  # of its own, so that it stands under no condition of the caller's
    part.d.sync += kept.eq(value)
    m.submodules += part
    return kept


def second_cycle(m: Module) -> Signal:
    """There has been a cycle before this one, and it was none of reset."""
    there = Signal(name="second_cycle")
    m.d.sync += there.eq(1)
    return there


def no_two(matrix: Value, n: int) -> Value:
    """No row and no column has two ones. Said pair by pair."""
    cells = [(u, v) for u in range(n) for v in range(n)]
    clashes = [
        matrix[u * n + v] & matrix[a * n + b]
        for u, v in cells
        for a, b in cells
        if (u, v) < (a, b) and (u == a or v == b)
    ]
    return ~Cat(*clashes).any() if clashes else Const(1)


def row_of(matrix: Value, u: Value, n: int) -> Value:
    """Row ``u``, which the solver may have chosen."""
    return Array(matrix[i * n : (i + 1) * n] for i in range(n))[u]


def column_of(matrix: Value, v: Value, n: int) -> Value:
    return Array(Cat(matrix[i * n + j] for i in range(n)) for j in range(n))[v]


def element(matrix: Value, u: Value, v: Value, n: int) -> Value:
    return row_of(matrix, u, n).bit_select(v, 1)


class SchedulerView:
    """A scheduler in a harness, with free inputs.

    Attributes
    ----------
    b, p : list of Value
        B(s) and P(s) of each slot.
    wanted, realised : Value
        R with latches and holds; B*.
    """

    def __init__(self, m: Module, shape: SwitchShape) -> None:
        self.shape = shape
        self.scheduler = scheduler = Scheduler(shape=shape)
        m.submodules.scheduler = scheduler
        members = scheduler_members(shape)
        self.inputs: list[Signal] = [getattr(scheduler, name) for name, member in members.items() if member.flow == In]
        slots, commands, requests = scheduler.slots, scheduler.commands, scheduler.requests
        self.b, self.p = (
            [Cat(getattr(line, kind)[s] for line in slots.lines) for s in range(shape.slots)] for kind in "bp"
        )
        self.wanted: Value = requests.wanted
        self.wide: Value = requests.wide
        self.held, self.latched = (Cat(getattr(row, name) for row in requests.rows) for name in ("held", "latched"))
        self.realised: Value = slots.realised
        self.touched: Value = slots.touched
        self.dynamic, self.gives_way = commands.dynamic, commands.gives_way
        self.allowed: Value = scheduler.priority.allowed
        self.step: Value = scheduler.step
        self.grant, self.fabric, self.now, self.copy = (
            scheduler.grant,
            scheduler.fabric,
            scheduler.tdm.now,
            scheduler.tdm.copy,
        )
        self.turn, self.word = commands.turn, commands.word
        self.staged, self.named, self.owner, self.broken = (
            commands.staged,
            commands.named,
            commands.owner,
            commands.broken,
        )

    def decided(self, s: int) -> Value:
        """A decision of slot ``s`` ends."""
        return self.step & self.scheduler.counters[s % self.shape.sl_units].slot[s]

    def shared(self, u: Value, v: Value, s: Value) -> Value:
        """Request (u, v) is offered to the unit that has slot ``s``."""
        units = self.shape.sl_units
        return (u + v + self.scheduler.number) % units == s % units

    def field(self, place: tuple[int, int]) -> Value:
        """A field of the command that is carried out."""
        return self.word[place[0] : place[0] + place[1]]

    @property
    def opcode(self) -> Value:
        return self.field(OPCODE)

    @property
    def mode(self) -> Value:
        return self.field(MODE)

    @property
    def x(self) -> Value:
        return self.field(X)

    @property
    def y(self) -> Value:
        return self.field(Y)

    @property
    def refused(self) -> Value:
        """The command of this cycle is refused."""
        return self.turn.any() & self.scheduler.answers & (self.scheduler.answer[:4] != 0)

    def stored(self, m: Module, place: Value) -> tuple[Value, Value, Value]:
        """A place of the second level: it holds something, its connections, its rows."""
        commands, n = self.scheduler.commands, self.shape.ports
        port = commands.store.read_port(domain="comb")
        m.d.comb += port.addr.eq(place)
        return commands.filled.bit_select(place, 1), port.data[: n * n], port.data[n * n :]
