"""What the solver chooses once for all, and how the two ends of a credit count."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Module, Signal, Value
from amaranth.hdl._ast import AnyConst
from amaranth.lib.memory import Memory


def choice(m: Module, count: int, name: str, least: int = 0) -> Signal:
    """A number from ``least`` to below ``count`` that stays what it is. What is proven for it is proven for all."""
    chosen = Signal(max(1, (count - 1).bit_length()), name=name)
    m.d.comb += [chosen.eq(AnyConst(len(chosen))), Assume((chosen >= least) & (chosen < count))]
    return chosen


def one_of(values: list[Value], index: Value) -> Value:
    """The value of this index."""
    return Array(values)[index]


def row(m: Module, memory: Memory, address: Value) -> Value:
    """A row of a memory as it is now."""
    port = memory.read_port(domain="comb")
    m.d.comb += port.addr.eq(address)
    data: Value = port.data
    return data


def at_most_one(bits: Value) -> Value:
    """No two bits are set."""
    return (bits & (bits - 1)[: len(bits)]) == 0


def room_of(m: Module, depth: int, spends: Value, returns: Value) -> Signal:
    """What a sender that keeps to its credits has counted. It does so here: the proof assumes it."""
    room = Signal(range(depth + 1), init=depth, name="room_counted")
    m.d.comb += Assume(~(spends & (room == 0)))
    m.d.sync += room.eq(room + returns - spends)
    return room


class Tracked:
    """One word of the solver's choice, from where it enters to where it leaves.

    Attributes
    ----------
    waits : Signal
        It is on its way.
    ahead : Signal
        Words before it that have yet to leave.
    word : Signal
        What it was when it came.
    leaves : Signal
        It leaves in this cycle.
    left : Signal
        It left in the cycle before.
    """

    def __init__(self, m: Module, *, depth: int, width: int, enters: Value, takes: Value, inside: Value, word: Value):
        self.mark = Signal(name="mark")
        """Input: the word that enters now is the one. Free."""
        self.waits = Signal()
        self.ahead = Signal(range(depth + 1))
        self.word = Signal(width)
        self.leaves = Signal()
        self.left = Signal()
        m.d.comb += self.leaves.eq(self.waits & takes & (self.ahead == 0))
        m.d.sync += self.left.eq(self.leaves)
        with m.If(self.waits):
            m.d.sync += [self.ahead.eq(self.ahead - takes), self.waits.eq(~self.leaves)]
        with m.Elif(enters & self.mark & ~self.left):
            m.d.sync += [self.waits.eq(1), self.ahead.eq(inside - takes), self.word.eq(word)]
