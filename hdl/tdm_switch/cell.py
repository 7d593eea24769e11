"""The cell of the scheduler array, SL(u, v)."""

from __future__ import annotations

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


def decide(change: Value, realised: Value, output: Value, input_: Value) -> tuple[Value, Value, Value]:
    """Toggle, and the availability that goes on, of one cell; or of several that share no port, a bit for each.

    Ding et al. (2005, Table 2) give three inputs, L, A and D. With both ports busy they are the same for a connection that
    is to be released and for one that is to be established and cannot be; the state B(s) tells them apart.

    Parameters
    ----------
    change : Value
        L: the connection is to be released or established.
    realised : Value
        B(s): it is realised in this slot.
    output, input_ : Value
        A and D: output port v and input port u are busy.
    """
    toggle = change & ((realised & output & input_) | (~realised & ~output & ~input_))
    return toggle, output ^ toggle, input_ ^ toggle


class Cell(wiring.Component):
    """A cell alone, as it is proven and measured.

    Latency: none.

    Ports
    -----
    l : Signal(1), in
        The connection is to be released or established.
    b : Signal(1), in
        It is realised in this slot.
    a, d : Signal(1), in
        Output port and input port are busy.
    t : Signal(1), out
        The connection changes.
    a_next, d_next : Signal(1), out
        The ports are busy for the next cell of the column and of the row.
    """

    def __init__(self) -> None:
        super().__init__(
            {"l": In(1), "b": In(1), "a": In(1), "d": In(1), "t": Out(1), "a_next": Out(1), "d_next": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        toggle, output, input_ = decide(self.l, self.b, self.a, self.d)
        m.d.comb += [self.t.eq(toggle), self.a_next.eq(output), self.d_next.eq(input_)]
        return m
