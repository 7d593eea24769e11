"""Requests as the scheduler sees them: with holds, latches, and a predictor that clears latches."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .codes import Predictor
from .matrix import along_rows
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

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
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
        self.held = Signal(size)
        self.latched = Signal(size)
        self.chosen = Signal(Predictor)
        """The predictor."""
        self.limit = Signal(shape.age_bits)
        """Its threshold."""
        self.ages = [Signal(shape.age_bits, name=f"age_{i}") for i in range(size)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        size = shape.ports**2
        held, latched = self.held, self.latched
        predictor = self.chosen
        cleared = Signal(size)
        expired = Signal(size)
        m.d.comb += [
            self.wanted.eq(self.request | held | latched),
            cleared.eq(along_rows(self.clear, shape.ports) | (self.place & self.unhold.replicate(size))),
        ]
        with m.If(self.predict):
            m.d.sync += predictor.eq(self.predictor)
        m.d.sync += [
            held.eq((held | (self.place & self.hold.replicate(size))) & ~cleared),
            self.wide.eq(
                (self.wide | (self.place & self.widen.replicate(size))) & ~(self.place & self.narrow.replicate(size))
            ),
        ]
        with m.If(predictor == Predictor.NONE):
            m.d.sync += latched.eq(0)
        with m.Else():
            m.d.sync += latched.eq((latched | self.request) & ~cleared & ~expired)
        if shape.age_bits:
            threshold = self.limit
            with m.If(self.predict):
                m.d.sync += threshold.eq(self.threshold)
            grows = Signal()
            with m.Switch(predictor):
                with m.Case(Predictor.TIMEOUT):
                    m.d.comb += grows.eq(1)
                with m.Case(Predictor.COUNTER):
                    m.d.comb += grows.eq(self.used.any())
            over = []
            for i in range(size):
                age, older = self.ages[i], Signal(shape.age_bits, name=f"older_{i}")
                m.d.comb += older.eq(age + grows)
                busy = self.request[i] | self.used[i] | ~latched[i]
                # An age beyond the threshold is one that a smaller threshold has caught up with.
                reached = ~busy & grows & (older >= threshold)
                m.d.sync += age.eq(older)
                with m.If(busy | reached):
                    m.d.sync += age.eq(0)
                over.append(reached)
            m.d.comb += expired.eq(Cat(*over))
        else:
            m.d.comb += expired.eq(Const(0, size))
        return m
