"""The pre-scheduling logic: which connections of a slot are to change."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import along_columns, along_rows, columns_any, rows_any


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

    def __init__(self, *, ports: int) -> None:
        self.n = ports
        matrices = ("wanted", "realised", "elsewhere", "current", "preloaded", "wide", "allowed")
        members = {name: In(ports * ports) for name in matrices}
        members |= {"dynamic": In(1), "gives_way": In(1)}
        super().__init__(members | {"l": Out(ports * ports), "a": Out(ports), "d": Out(ports)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.n
        size = n * n
        unmet, contested, rows, columns = Signal(size), Signal(size), Signal(n), Signal(n)
        m.d.comb += [
            unmet.eq(self.wanted & ~self.realised),
            rows.eq(rows_any(unmet, n)),
            columns.eq(columns_any(unmet, n)),
            contested.eq(along_rows(rows, n) | along_columns(columns, n)),
        ]
        dynamic = self.dynamic.replicate(size)
        gives_way = (self.dynamic & self.gives_way).replicate(size) & ~self.wanted & contested
        spare = self.wanted & self.wide & self.elsewhere & contested
        release = (~self.wanted & ~self.preloaded) | (self.preloaded & gives_way) | (~self.preloaded & spare)
        further = self.wide & ~contested
        establish = (dynamic & self.wanted & self.allowed & (~self.realised | further)) | (self.preloaded & ~gives_way)
        m.d.comb += [
            self.l.eq((self.current & release) | (~self.current & establish)),
            self.a.eq(columns_any(self.current, n)),
            self.d.eq(rows_any(self.current, n)),
        ]
        return m
