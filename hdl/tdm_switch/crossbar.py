"""The switching fabric: a passive crossbar."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import chosen, row
from .parts import Parts
from .shape import SwitchShape
from .transposed import columns_of


def output_members(shape: SwitchShape) -> dict[str, wiring.Member]:
    """Ports of an output by name."""
    n, width = shape.ports, shape.width
    return {"here": In(n), "in_valid": In(n), "in_data": In(n * width), "out_valid": Out(1), "out_data": Out(width)}


class Output(wiring.Component):
    """An output of the crossbar.

    Latency: none.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    here : Signal(ports), in
        The input that is connected, one bit; 0 if there is none.
    in_valid : Signal(ports), in
        There is a word at input u.
    in_data : Signal(ports · width), in
        The words, that of input 0 lowest.
    out_valid : Signal(1), out
        There is a word at this output.
    out_data : Signal(width), out
        Valid with ``out_valid``.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        super().__init__(output_members(shape))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.shape.width
        words = [self.in_data[u * width : (u + 1) * width] for u in range(self.shape.ports)]
        m.d.comb += [
            self.out_valid.eq((self.here & self.in_valid).any()),
            self.out_data.eq(chosen(self.here, words)),
        ]
        return m


class Crossbar(wiring.Component):
    """Inputs to outputs as a Boolean matrix says, and a signal back; no buffers, no control (Ding et al. 2005, §4).

    Latency: none.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the outputs.

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

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
        n = shape.ports
        members = {"fabric": In(n * n)}
        for i in range(n):
            members |= {f"in_valid_{i}": In(1), f"in_data_{i}": In(shape.width)}
            members |= {f"out_valid_{i}": Out(1), f"out_data_{i}": Out(shape.width)}
        super().__init__(members | {"back": In(n * n), "back_in": In(n), "back_out": Out(n)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.shape.ports
        valid, data = Signal(n), Signal(n * self.shape.width)
        m.d.comb += [
            valid.eq(Cat(getattr(self, f"in_valid_{u}") for u in range(n))),
            data.eq(Cat(getattr(self, f"in_data_{u}") for u in range(n))),
        ]
        columns = columns_of(m, self.parts, "columns_of_fabric", [row(self.fabric, u, n) for u in range(n)])
        for v in range(n):
            given = {"here": columns[v], "in_valid": valid, "in_data": data}
            members = output_members(self.shape)
            output = self.parts.place(m, f"output_{v}", "tdm_output", lambda: Output(shape=self.shape), members, given)
            m.d.comb += [
                getattr(self, f"out_valid_{v}").eq(output["out_valid"]),
                getattr(self, f"out_data_{v}").eq(output["out_data"]),
            ]
        m.d.comb += self.back_out.eq(Cat((row(self.back, u, n) & self.back_in).any() for u in range(n)))
        return m
