"""The scheduler array with registers between its diagonals: a slot enters in every clock."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .cell import decide


class PipelinedArray(wiring.Component):
    """The plain order, cut after every diagonal: cell (u, v) works on a slot u + v clocks after cell (0, 0).

    So a slot may follow in each clock, and sees what those before it have decided, if the one who feeds the array looks at each
    connection when its cell asks. The decisions are those of ``array.SchedulerArray`` in the plain order.

    Latency: the toggle of (u, v) is known in the clock in which its ``l`` and ``b`` are given, at its end.

    Parameters
    ----------
    ports : int
        Ports of the switch.

    Ports
    -----
    l, b : Signal(ports²), in
        L and B(s) of the slot that is at diagonal u + v.
    a : Signal(ports), in
        AO of output v, for the slot at diagonal v.
    d : Signal(ports), in
        AI of input u, for the slot at diagonal u.
    t : Signal(ports²), out
        T of the slot at diagonal u + v.
    a_end : Signal(ports), out
        AO of output v, after the slot that was at diagonal N - 1 + v one clock ago.
    d_end : Signal(ports), out
        AI of input u, after the slot that was at diagonal N - 1 + u one clock ago.
    """

    def __init__(self, *, ports: int) -> None:
        self.n = ports
        super().__init__(
            {
                "l": In(ports * ports),
                "b": In(ports * ports),
                "a": In(ports),
                "d": In(ports),
                "t": Out(ports * ports),
                "a_end": Out(ports),
                "d_end": Out(ports),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.n
        outputs: list[Value] = list(self.a)
        inputs: list[Value] = list(self.d)
        for u in range(n):
            for v in range(n):
                i = u * n + v
                toggle, output, input_ = decide(self.l[i], self.b[i], outputs[v], inputs[u])
                a = Signal(name=f"a_{u}_{v}")
                d = Signal(name=f"d_{u}_{v}")
                m.d.sync += [a.eq(output), d.eq(input_)]
                m.d.comb += self.t[i].eq(toggle)
                outputs[v], inputs[u] = a, d
        m.d.comb += [self.a_end.eq(Cat(*outputs)), self.d_end.eq(Cat(*inputs))]
        return m
