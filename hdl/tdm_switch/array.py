"""The scheduler array: which connections of a slot change, decided in one clock."""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .cell import decide
from .matrix import row
from .parts import Parts
from .shape import bits_for
from .transposed import columns_of


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


def row_members(ports: int) -> dict[str, wiring.Member]:
    """Ports of a row by name."""
    return {"l": In(ports), "b": In(ports), "a": In(ports), "d": In(1), "t": Out(ports), "a_next": Out(ports)}


class ArrayRow(wiring.Component):
    """N cells of the array in the plain order, those of an input port.

    Latency: none.

    Parameters
    ----------
    ports : int
        Ports of the switch.

    Ports
    -----
    l, b : Signal(ports), in
        L and B(s) of the row.
    a : Signal(ports), in
        Output port v is busy for this row.
    d : Signal(1), in
        The input port is busy for the first cell.
    t : Signal(ports), out
        T: the connection changes.
    a_next : Signal(ports), out
        Output port v is busy for the next row.
    """

    def __init__(self, *, ports: int) -> None:
        self.n = ports
        super().__init__(row_members(ports))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        input_: Value = self.d
        for v in range(self.n):
            toggle, output, after = decide(self.l[v], self.b[v], self.a[v], input_)
            input_ = Signal(name=f"d_{v}")
            m.d.comb += [self.t[v].eq(toggle), self.a_next[v].eq(output), input_.eq(after)]
        return m


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
    parts : Parts, optional
        What takes the parts of each row.

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

    def __init__(self, *, ports: int, order: str = "plain", rotated: bool = False, parts: Parts | None = None) -> None:
        self.n = ports
        self.order = order
        self.rotated = rotated
        self.parts = parts or Parts()
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
        change, realised = ([row(matrix, u, n) for u in range(n)] for matrix in (self.l, self.b))
        outputs: Value = self.a
        inputs: Value = self.d
        if self.rotated:
            change = self._renumbered(m, "l", change)
            realised = self._renumbered(m, "b", realised)
            outputs = _turned(m, outputs, self.column)
            if self.order == "plain":
                inputs = _turned(m, inputs, self.row)
        toggles = (self._plain if self.order == "plain" else self._wrapped)(m, change, realised, outputs, inputs)
        if self.rotated:
            toggles = self._renumbered(m, "t", toggles, back=True)
        m.d.comb += self.t.eq(Cat(*toggles))
        return m

    def _plain(
        self, m: Module, change: list[Value], realised: list[Value], outputs: Value, inputs: Value
    ) -> list[Value]:
        toggles: list[Value] = []
        members = row_members(self.n)
        for u in range(self.n):
            given = {"l": change[u], "b": realised[u], "a": outputs, "d": inputs[u]}
            cells = self.parts.place(m, f"row_{u}", "tdm_row", lambda: ArrayRow(ports=self.n), members, given)
            outputs = cells["a_next"]
            toggles.append(cells["t"])
        return toggles

    def _wrapped(
        self, m: Module, change: list[Value], realised: list[Value], outputs: Value, inputs: Value
    ) -> list[Value]:
        n = self.n
        diagonals = []
        for k in range(n):
            # Element u is that of cell (u, k - u).
            toggle, output, input_ = decide(
                Cat(change[u][(k - u) % n] for u in range(n)),
                Cat(realised[u][(k - u) % n] for u in range(n)),
                Cat(outputs[(k - u) % n] for u in range(n)),
                inputs,
            )
            diagonals.append(_named(m, toggle, f"t_{k}"))
            after, inputs = _named(m, output, f"a_{k}"), _named(m, input_, f"d_{k}")
            outputs = _named(m, Cat(after[(k - v) % n] for v in range(n)), f"outputs_{k}")
        return [Cat(diagonals[(u + v) % n][u] for v in range(n)) for u in range(n)]

    def _renumbered(self, m: Module, name: str, lines: list[Value], *, back: bool = False) -> list[Value]:
        """Rows that begin at ``column``, from row ``row`` on; ``back`` undoes that."""
        lines = self._turned_lines(m, f"{name}_of_row", lines, self.column, back=back)
        if self.order == "plain":
            columns = columns_of(m, self.parts, f"columns_of_{name}", lines)
            columns = self._turned_lines(m, f"{name}_of_column", columns, self.row, back=back)
            lines = columns_of(m, self.parts, f"rows_of_{name}", columns)
        return lines

    def _turned_lines(self, m: Module, name: str, lines: list[Value], start: Value, *, back: bool) -> list[Value]:
        module, members = "tdm_turned_back" if back else "tdm_turned", turned_members(self.n)
        return [
            self.parts.place(
                m,
                f"{name}_{i}",
                module,
                lambda: Turned(ports=self.n, back=back),
                members,
                {"bits": line, "start": start},
            )["turned"]
            for i, line in enumerate(lines)
        ]


def turned_members(ports: int) -> dict[str, wiring.Member]:
    """Ports of `Turned` by name."""
    return {"bits": In(ports), "start": In(bits_for(ports)), "turned": Out(ports)}


class Turned(wiring.Component):
    """N bits from ``start`` on, then those before it.

    Latency: none.

    Parameters
    ----------
    ports : int
        N.
    back : bool
        Undo that.

    Ports
    -----
    bits : Signal(ports), in
        The bits.
    start : Signal(range(ports)), in
        Numbers from N on count modulo N.
    turned : Signal(ports), out
        The bits, turned.
    """

    def __init__(self, *, ports: int, back: bool = False) -> None:
        self.back = back
        super().__init__(turned_members(ports))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.turned.eq(_turned(m, self.bits, self.start, back=self.back))
        return m


def _named(m: Module, value: Value, name: str) -> Signal:
    signal = Signal(len(value), name=name)
    m.d.comb += signal.eq(value)
    return signal


def _turned(m: Module, bits: Value, start: Value, *, back: bool = False) -> Value:
    n = len(bits)
    for i in range(len(start)):
        by = (-(1 << i) if back else 1 << i) % n
        bits = _named(m, Mux(start[i], Cat(bits[by:], bits[:by]), bits), f"turned_{i}")
    return bits
