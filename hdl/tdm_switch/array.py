"""The scheduler array: which connections of a slot change, decided in one clock."""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .cell import decide
from .shape import bits_for


def cells_in_order(ports: int, order: str) -> Iterator[tuple[int, int]]:
    """The cells (u, v) in an order in which each comes after those that it hears of.

    ``plain``: availability of an output goes up its column from row 0, that of an input along its row from column 0,
    through 2 N - 1 diagonals (Ding et al. 2005, §4). ``wrapped``: cells with (u + v) mod N = k make diagonal k; no two of them
    share a port, so there are N diagonals, and availability passes each port N times. The order among requests is another,
    and so is who wins.
    """
    if order == "plain":
        for u in range(ports):
            for v in range(ports):
                yield u, v
    else:
        for k in range(ports):
            for u in range(ports):
                yield u, (k - u) % ports


class SchedulerArray(wiring.Component):
    """N × N cells between the pre-scheduling logic and the configuration registers.

    With ``rotated`` the cell that is asked first is (``row``, ``column``) instead of (0, 0): rows and columns are renumbered on
    the way in and back on the way out. In the wrapped order the start is the diagonal ``column``; ``row`` means nothing.

    Latency: none.

    Parameters
    ----------
    ports : int
        Ports of the switch.
    order : str
        ``plain`` or ``wrapped``, see `cells_in_order`.
    rotated : bool
        Has the ports ``row`` and ``column``.

    Ports
    -----
    l : Signal(ports²), in
        L: the connection is to be released or established.
    b : Signal(ports²), in
        B(s): the connection is realised in this slot.
    a : Signal(ports), in
        AO: output port v is busy in this slot.
    d : Signal(ports), in
        AI: input port u is busy in this slot.
    row, column : Signal(range(ports)), in
        Start. Numbers from ``ports`` on count modulo ``ports``.
    t : Signal(ports²), out
        T: the connection changes.
    """

    def __init__(self, *, ports: int, order: str = "plain", rotated: bool = False) -> None:
        self.n = ports
        self.order = order
        self.rotated = rotated
        members = {
            "l": In(ports * ports),
            "b": In(ports * ports),
            "a": In(ports),
            "d": In(ports),
            "t": Out(ports * ports),
        }
        if rotated:
            members |= {"row": In(bits_for(ports)), "column": In(bits_for(ports))}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.n

        def grid(matrix: Value) -> list[list[Value]]:
            return [[matrix[u * n + v] for v in range(n)] for u in range(n)]

        change, realised = grid(self.l), grid(self.b)
        outputs, inputs = list(self.a), list(self.d)
        by_row = self.rotated and self.order == "plain"
        if self.rotated:
            change, realised = ([_turned(m, line, self.column) for line in g] for g in (change, realised))
            outputs = _turned(m, outputs, self.column)
        if by_row:
            change, realised = (_turned_rows(m, g, self.row) for g in (change, realised))
            inputs = _turned(m, inputs, self.row)
        toggles: list[list[Value]] = [[self.t[0]] * n for _ in range(n)]
        for u, v in cells_in_order(n, self.order):
            toggle, output, input_ = decide(change[u][v], realised[u][v], outputs[v], inputs[u])
            toggles[u][v] = _named(m, toggle, f"t_{u}_{v}")
            outputs[v], inputs[u] = _named(m, output, f"a_{u}_{v}"), _named(m, input_, f"d_{u}_{v}")
        if by_row:
            toggles = _turned_rows(m, toggles, self.row, back=True)
        if self.rotated:
            toggles = [_turned(m, line, self.column, back=True) for line in toggles]
        m.d.comb += self.t.eq(Cat(*(bit for line in toggles for bit in line)))
        return m


def _named(m: Module, value: Value, name: str) -> Signal:
    signal = Signal(len(value), name=name)
    m.d.comb += signal.eq(value)
    return signal


def _turned(m: Module, bits: list[Value], start: Value, *, back: bool = False) -> list[Value]:
    """Bits from ``start`` on, then those before it; ``back`` undoes that."""
    n = len(bits)
    for i in range(len(start)):
        by = (-(1 << i) if back else 1 << i) % n
        if by:
            turned = Mux(start[i], Cat(*(bits[(k + by) % n] for k in range(n))), Cat(*bits))
            bits = list(_named(m, turned, f"turned_{i}"))
    return bits


def _turned_rows(m: Module, grid: list[list[Value]], start: Value, *, back: bool = False) -> list[list[Value]]:
    """The same for the rows of a matrix."""
    columns = [_turned(m, [line[v] for line in grid], start, back=back) for v in range(len(grid))]
    return [[column[u] for column in columns] for u in range(len(grid))]
