"""Where the scheduler array starts, and whose ports are kept free."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import along_columns, along_rows, one_hot, rows_any
from .parts import Parts
from .shape import SwitchShape, bits_for
from .transposed import columns_any_of

SEED = 0xACE1
"""The register of the random start at reset."""


class Priority(wiring.Component):
    """The start (a, b) of the array (Ding et al. 2005, §4): fixed, round robin or random.

    Round robin goes on by one column in each decision, and by one row after the last column; in the wrapped order by one
    diagonal. With ``shape.reserves`` it stays as long as the connection it points at is requested and realised in no slot, and
    meanwhile no other connection gets its ports. In the wrapped order that holds for all connections of the diagonal that were
    waiting when the start came to it; those that come later have to wait for the next round, or nobody else would have a turn.

    Random numbers come from a shift register of 16 bits with the taps 16, 14, 13 and 11, one step in each decision. The row is in
    its bits from 0 on, the column in those from 8 on, both modulo N.

    Latency: one decision.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the columns of a matrix.

    Ports
    -----
    step : Signal(1), in
        A decision ends.
    unmet : Signal(ports²), in
        Requested and realised in no slot.
    row, column : Signal(range(ports)), out
        Start. Numbers from N on count modulo N.
    allowed : Signal(ports²), out
        The connection may be established.
    """

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
        n = shape.ports
        bits = bits_for(n)
        super().__init__(
            {"step": In(1), "unmet": In(n * n), "row": Out(bits), "column": Out(bits), "allowed": Out(n * n)}
        )
        self.waits = Signal()
        """The start stays."""
        self.waiting = Signal(n * n)
        """The connections for which it stays."""
        self.late = Signal(n)
        """Rows whose connection at the start was not waiting when the start came, or has been served since."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        m.d.comb += self.allowed.eq(Const(-1, n * n))
        if shape.priority == "random":
            state = Signal(16, init=SEED)
            bits = len(self.row)
            with m.If(self.step):
                m.d.sync += state.eq(Cat(state[1:], state[0] ^ state[2] ^ state[3] ^ state[5]))
            m.d.comb += [self.row.eq(state[:bits]), self.column.eq(state[8 : 8 + bits])]
        elif shape.priority == "round_robin":
            waits = self.waits
            if shape.reserves:
                top, waiting = Signal(n * n), self.waiting
                here, rows, columns = Signal(n), Signal(n), Signal(n)
                m.d.comb += here.eq(one_hot(self.column, n))
                if shape.order == "plain":
                    there = Signal(n)
                    m.d.comb += there.eq(one_hot(self.row, n))
                    first = along_rows(there, n) & along_columns(here, n)
                else:
                    first = Cat(here[(u + v) % n] for u in range(n) for v in range(n))
                kept = along_rows(rows, n) | along_columns(columns, n)
                m.d.comb += [
                    rows.eq(rows_any(waiting, n)),
                    columns.eq(columns_any_of(m, self.parts, "busy_columns", waiting, n)),
                    top.eq(first),
                    waiting.eq(top & self.unmet & ~along_rows(self.late, n)),
                    waits.eq(waiting.any()),
                    self.allowed.eq(top | ~kept),
                ]
                with m.If(self.step):
                    m.d.sync += self.late.eq(Mux(waits, self.late | ~rows, 0))
            with m.If(self.step & ~waits):
                m.d.sync += self.column.eq(self.column + 1)
                with m.If(self.column == n - 1):
                    m.d.sync += self.column.eq(0)
                    if shape.order == "plain":
                        m.d.sync += self.row.eq(self.row + 1)
                        with m.If(self.row == n - 1):
                            m.d.sync += self.row.eq(0)
        return m
