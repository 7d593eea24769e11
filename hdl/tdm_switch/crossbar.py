"""The switching fabric: a passive crossbar."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import chosen, column, row
from .shape import SwitchShape


class Crossbar(wiring.Component):
    """Inputs to outputs as a Boolean matrix says, and a signal back; no buffers, no control (Ding et al. 2005, §4).

    Latency: none.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    fabric : Signal(ports²), in
        Input u is connected to output v; at most one bit in a row or column.
    in_valid_<u> : Signal(1), in
        There is a word at input u.
    in_data_<u> : Signal(width), in
        Valid with ``in_valid_<u>``.
    out_valid_<v> : Signal(1), out
        There is a word at output v.
    out_data_<v> : Signal(width), out
        Valid with ``out_valid_<v>``.
    back : Signal(ports²), in
        The matrix of the way back.
    back_in : Signal(ports), in
        Signal of output v.
    back_out : Signal(ports), out
        The same at input u.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        n = shape.ports
        members = {"fabric": In(n * n)}
        for i in range(n):
            members |= {f"in_valid_{i}": In(1), f"in_data_{i}": In(shape.width)}
            members |= {f"out_valid_{i}": Out(1), f"out_data_{i}": Out(shape.width)}
        super().__init__(members | {"back": In(n * n), "back_in": In(n), "back_out": Out(n)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.shape.ports
        valid: list[Value] = [getattr(self, f"in_valid_{u}") for u in range(n)]
        data: list[Value] = [getattr(self, f"in_data_{u}") for u in range(n)]
        for v in range(n):
            here = Signal(n, name=f"here_{v}")
            m.d.comb += [
                here.eq(column(self.fabric, v, n)),
                getattr(self, f"out_valid_{v}").eq((here & Cat(*valid)).any()),
                getattr(self, f"out_data_{v}").eq(chosen(here, data)),
            ]
        m.d.comb += self.back_out.eq(Cat((row(self.back, u, n) & self.back_in).any() for u in range(n)))
        return m
