"""Requests as the scheduler sees them: with holds, latches, and a predictor that clears latches."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .codes import Predictor
from .matrix import row, spread, where
from .parts import Parts
from .shape import SwitchShape


class Requests(wiring.Component):
    """Request latches and predictors (Ding et al. 2005, §3.2, and §4, point 3).

    A connection is wanted if it is requested, held by its processor, or latched. A latch is set by a request, unless the
    predictor is NONE, and cleared by command or by the predictor. For that each connection has an age: 0 while it is requested
    or a word is sent on it; otherwise it grows by one in each cycle (TIMEOUT), or in each cycle in which a word is sent on
    another connection (COUNTER), so that a working set survives a time of computing. When it reaches the
    threshold the latch is cleared.

    Latency: none from ``request`` to ``wanted``; one cycle for the rest.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the rows.

    Ports
    -----
    request : Signal(ports²), in
        R: there is a word in the queue.
    used : Signal(ports²), in
        A word is sent.
    place : Signal(ports²), in
        The connection of ``hold``, ``unhold`` and ``widen``, one bit.
    hold, unhold : Signal(1), in
        Set the hold; clear hold and latch.
    widen, narrow : Signal(1), in
        Let the connection have several slots, or one.
    clear : Signal(ports), in
        Clear holds and latches of these rows.
    predict : Signal(1), in
        Take a new predictor.
    predictor : Signal(Predictor), in
        Valid with ``predict``.
    threshold : Signal(16), in
        Valid with ``predict``; fits into ``shape.age_bits``.
    wanted : Signal(ports²), out
        Requested, held or latched.
    wide : Signal(ports²), out
        May have several slots.
    """

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
        size = shape.ports**2
        super().__init__(
            {
                "request": In(size),
                "used": In(size),
                "place": In(size),
                "hold": In(1),
                "unhold": In(1),
                "widen": In(1),
                "narrow": In(1),
                "clear": In(shape.ports),
                "predict": In(1),
                "predictor": In(Predictor),
                "threshold": In(16),
                "wanted": Out(size),
                "wide": Out(size),
            }
        )
        self.chosen = Signal(Predictor)
        """The predictor."""
        self.limit = Signal(shape.age_bits)
        """Its threshold."""
        self.rows = [] if self.parts.apart else [RequestRow(shape=shape) for _ in range(shape.ports)]
        """The rows, if they are in place."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        predictor, grows = self.chosen, Signal()
        with m.If(self.predict):
            m.d.sync += predictor.eq(self.predictor)
        if shape.age_bits:
            with m.If(self.predict):
                m.d.sync += self.limit.eq(self.threshold)
            with m.Switch(predictor):
                with m.Case(Predictor.TIMEOUT):
                    m.d.comb += grows.eq(1)
                with m.Case(Predictor.COUNTER):
                    m.d.comb += grows.eq(self.used.any())
        latches = Signal()
        m.d.comb += latches.eq(predictor != Predictor.NONE)
        parts = []
        for u in range(n):
            given: dict[str, Value] = {name: row(getattr(self, name), u, n) for name in ("request", "used", "place")}
            given |= {name: getattr(self, name) for name in ("hold", "unhold", "widen", "narrow")}
            given |= {"clear": self.clear[u], "latches": latches}
            if shape.age_bits:
                given |= {"grows": grows, "threshold": self.limit}
            make = partial(self._row, u)
            parts.append(self.parts.place(m, f"row_{u}", "tdm_requests", make, row_members(shape), given, clocked=True))
        for name in ("wanted", "wide"):
            m.d.comb += getattr(self, name).eq(Cat(part[name] for part in parts))
        return m

    def _row(self, u: int) -> RequestRow:
        return self.rows[u] if self.rows else RequestRow(shape=self.shape)


def row_members(shape: SwitchShape) -> dict[str, wiring.Member]:
    """Ports of a row by name."""
    members = {name: In(shape.ports) for name in ("request", "used", "place")}
    members |= {name: In(1) for name in ("hold", "unhold", "widen", "narrow", "clear", "latches")}
    if shape.age_bits:
        members |= {"grows": In(1), "threshold": In(shape.age_bits)}
    return members | {"wanted": Out(shape.ports), "wide": Out(shape.ports)}


class RequestRow(wiring.Component):
    """A row of `Requests`: the connections of an input port.

    Latency: as there.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    clear : Signal(1), in
        Clear holds and latches.
    latches : Signal(1), in
        There is a predictor.
    grows : Signal(1), in
        Connections that are not busy are one cycle older.
    threshold : Signal(age_bits), in
        Age at which a latch is cleared.
    request, used, place, hold, unhold, widen, narrow, wanted, wide
        As there.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        super().__init__(row_members(shape))
        self.held = Signal(shape.ports)
        self.latched = Signal(shape.ports)
        self.ages = [Signal(shape.age_bits, name=f"age_{v}") for v in range(shape.ports)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        n = self.shape.ports
        held, latched = self.held, self.latched
        cleared, expired = Signal(n), Signal(n)
        m.d.comb += [
            self.wanted.eq(self.request | held | latched),
            cleared.eq(spread(self.clear, n) | where(self.unhold, self.place)),
        ]
        m.d.sync += [
            held.eq((held | where(self.hold, self.place)) & ~cleared),
            self.wide.eq((self.wide | where(self.widen, self.place)) & ~where(self.narrow, self.place)),
            latched.eq(where(self.latches, (latched | self.request) & ~cleared & ~expired)),
        ]
        if not self.shape.age_bits:
            return m
        for v, age in enumerate(self.ages):
            older, busy, reached = Signal(self.shape.age_bits, name=f"older_{v}"), Signal(), Signal()
            m.d.comb += [
                older.eq(age + self.grows),
                busy.eq(self.request[v] | self.used[v] | ~latched[v]),
                # An age beyond the threshold is one that a smaller threshold has caught up with.
                reached.eq(~busy & self.grows & (older >= self.threshold)),
                expired[v].eq(reached),
            ]
            m.d.sync += age.eq(older)
            with m.If(busy | reached):
                m.d.sync += age.eq(0)
        return m
