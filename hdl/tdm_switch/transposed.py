"""The columns of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import columns_any, row
from .parts import Parts


def transposed_members(ports: int) -> dict[str, wiring.Member]:
    """Ports of `Transposed` by name."""
    return {"matrix": In(ports * ports), "transposed": Out(ports * ports)}


class Transposed(wiring.Component):
    """A matrix with its rows as columns; wires alone.

    A switch takes the columns of a matrix in a dozen places, and each has ports² bits that would be described one by one. So its
    Verilog has them once.

    Latency: none.

    Parameters
    ----------
    ports : int
        Rows of the matrix, and its columns.

    Ports
    -----
    matrix : Signal(ports²), in
        A matrix.
    transposed : Signal(ports²), out
        Element (u, v) is (v, u) of ``matrix``.
    """

    def __init__(self, *, ports: int) -> None:
        self.n = ports
        super().__init__(transposed_members(ports))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.transposed.eq(Cat(self.matrix[v :: self.n] for v in range(self.n)))
        return m


def columns_of(m: Module, parts: Parts, name: str, rows: Sequence[Value]) -> list[Value]:
    """The columns of a matrix that has these rows, signals or slices of them; submodule ``name`` if parts are apart."""
    n = len(rows)
    if not parts.apart:
        return [Cat(line[v] for line in rows) for v in range(n)]
    placed = parts.place(
        m, name, "tdm_transposed", partial(Transposed, ports=n), transposed_members(n), {"matrix": Cat(*rows)}
    )
    return [row(placed["transposed"], v, n) for v in range(n)]


def busy_members(ports: int) -> dict[str, wiring.Member]:
    """Ports of `BusyColumns` by name."""
    return {"matrix": In(ports * ports), "busy": Out(ports)}


class BusyColumns(wiring.Component):
    """The columns of a matrix that have a one.

    Latency: none.

    Parameters
    ----------
    ports : int
        Rows of the matrix, and its columns.

    Ports
    -----
    matrix : Signal(ports²), in
        A matrix.
    busy : Signal(ports), out
        Column v has a one.
    """

    def __init__(self, *, ports: int) -> None:
        self.n = ports
        super().__init__(busy_members(ports))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.busy.eq(columns_any(self.matrix, self.n))
        return m


def columns_any_of(m: Module, parts: Parts, name: str, matrix: Value, ports: int) -> Value:
    """Bit v: column v of ``matrix``, a signal, has a one. Submodule ``name`` as in `columns_of`."""
    if not parts.apart:
        return columns_any(matrix, ports)
    make = partial(BusyColumns, ports=ports)
    return parts.place(m, name, "tdm_busy_columns", make, busy_members(ports), {"matrix": matrix})["busy"]
