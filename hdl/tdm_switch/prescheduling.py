"""The pre-scheduling logic: which connections of a slot are to change."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import row, rows_any, spread
from .parts import Parts
from .transposed import columns_any_of

_MATRICES = ("wanted", "realised", "elsewhere", "current", "preloaded", "wide", "allowed")


class PreScheduling(wiring.Component):
    """L, AO and AI of the slot that is decided (Ding et al. 2005, Table 1, and §4, points 2 and 5).

    Where nothing is preloaded and nothing is widened this is Table 1: release what is realised in this slot and not
    requested, establish what is requested and realised in no slot. Beyond it:

    - A preloaded connection is a standing request for its own slot alone. It is not released, and comes back when it has
      been replaced. If the slot gives way, it is released while it is not requested and a request that is realised nowhere
      needs one of its ports.
    - A connection that is wide may have further slots. It takes them, and keeps them, as long as no request that is realised
      nowhere needs one of its ports.

    Latency: none.

    Parameters
    ----------
    ports : int
        Ports of the switch.
    parts : Parts, optional
        What takes the rows.

    Ports
    -----
    wanted : Signal(ports²), in
        R, with latches: the connection is requested.
    realised : Signal(ports²), in
        B*: it is realised in some slot.
    elsewhere : Signal(ports²), in
        It is realised in a slot other than this one.
    current : Signal(ports²), in
        B(s): it is realised in this slot.
    preloaded : Signal(ports²), in
        It is preloaded into this slot.
    wide : Signal(ports²), in
        It may have several slots.
    allowed : Signal(ports²), in
        It may be established now, if it is requested.
    dynamic : Signal(1), in
        This slot takes connections that are not preloaded.
    gives_way : Signal(1), in
        Preloaded connections of this slot may be replaced.
    l : Signal(ports²), out
        L: the connection is to change.
    a : Signal(ports), out
        AO: output port v is busy in this slot.
    d : Signal(ports), out
        AI: input port u is busy in this slot.
    """

    def __init__(self, *, ports: int, parts: Parts | None = None) -> None:
        self.n = ports
        self.parts = parts or Parts()
        members = {name: In(ports * ports) for name in _MATRICES}
        members |= {"dynamic": In(1), "gives_way": In(1)}
        super().__init__(members | {"l": Out(ports * ports), "a": Out(ports), "d": Out(ports)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.n
        columns, unmet = Signal(n), Signal(n * n)
        rows = []
        for u in range(n):
            given: dict[str, Value] = {name: row(getattr(self, name), u, n) for name in _MATRICES}
            given |= {"columns": columns, "dynamic": self.dynamic, "gives_way": self.gives_way}
            rows.append(
                self.parts.place(
                    m, f"row_{u}", "tdm_prescheduling", lambda: PreSchedulingRow(ports=n), row_members(n), given
                )
            )
        m.d.comb += [
            unmet.eq(Cat(part["unmet"] for part in rows)),
            columns.eq(columns_any_of(m, self.parts, "busy_unmet", unmet, n)),
            self.l.eq(Cat(part["l"] for part in rows)),
            self.a.eq(columns_any_of(m, self.parts, "busy_current", self.current, n)),
            self.d.eq(rows_any(self.current, n)),
        ]
        return m


def row_members(ports: int) -> dict[str, wiring.Member]:
    """Ports of a row by name."""
    members = {name: In(ports) for name in _MATRICES}
    members |= {"columns": In(ports), "dynamic": In(1), "gives_way": In(1)}
    return members | {"unmet": Out(ports), "l": Out(ports)}


class PreSchedulingRow(wiring.Component):
    """A row of `PreScheduling`.

    Latency: none.

    Parameters
    ----------
    ports : int
        Ports of the switch.

    Ports
    -----
    columns : Signal(ports), in
        A row has an unmet request for output port v.
    unmet : Signal(ports), out
        Wanted and realised in no slot.
    wanted, realised, elsewhere, current, preloaded, wide, allowed, dynamic, gives_way, l
        As there.
    """

    def __init__(self, *, ports: int) -> None:
        self.n = ports
        super().__init__(row_members(ports))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.n
        contested = Signal(n)
        m.d.comb += [
            self.unmet.eq(self.wanted & ~self.realised),
            contested.eq(spread(self.unmet.any(), n) | self.columns),
        ]
        dynamic = spread(self.dynamic, n)
        gives_way = spread(self.dynamic & self.gives_way, n) & ~self.wanted & contested
        spare = self.wanted & self.wide & self.elsewhere & contested
        release = (~self.wanted & ~self.preloaded) | (self.preloaded & gives_way) | (~self.preloaded & spare)
        further = self.wide & ~contested
        establish = (dynamic & self.wanted & self.allowed & (~self.realised | further)) | (self.preloaded & ~gives_way)
        m.d.comb += self.l.eq((self.current & release) | (~self.current & establish))
        return m
