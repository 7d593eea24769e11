"""Which slot is next: on the fabric (the TDM counter) and for a scheduling unit (the SL counter)."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import above, lowest
from .shape import SwitchShape


class TdmCounter(wiring.Component):
    """Time slots: chooses the next slot that is not empty, and copies its configuration (Ding et al. 2005, §4).

    The copy stands for the whole slot, whatever happens to B(t). While all slots are empty it looks again in each cycle.

    Latency: one cycle from ``active`` to ``now``.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    active : Signal(slots), in
        Slot s has a connection.
    following : Signal(slots), out
        The slot that would be next, one bit; 0 if there is none.
    configuration : Signal(ports²), in
        B(s) of that slot; 0 if there is none.
    now : Signal(slots), out
        The slot, one bit; 0 if there is none.
    grant : Signal(ports²), out
        Connection (u, v) may be used in this cycle; 0 in the guard band.
    fabric : Signal(ports²), out
        Setting of the crossbar: what was granted in the cycle before, so that a word that was sent then gets through.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        size = shape.ports**2
        members = {"active": In(shape.slots), "following": Out(shape.slots), "configuration": In(size)}
        super().__init__(members | {"now": Out(shape.slots), "grant": Out(size), "fabric": Out(size)})
        self.copy = Signal(size)
        """The configuration of the slot."""
        self.place = Signal(shape.slots)
        """The slot of the last copy, also while there is none."""
        self.tick = Signal(range(shape.slot_cycles), init=shape.slot_cycles - 1)
        """Cycle of the slot."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        last = shape.slot_cycles - 1
        place, tick = self.place, self.tick
        copy = self.copy
        later = Signal(shape.slots)
        m.d.comb += [
            later.eq(self.active & above(place)),
            self.following.eq(lowest(Mux(later.any(), later, self.active))),
            self.grant.eq(Mux(tick >= shape.guard_cycles, copy, 0)),
        ]
        m.d.sync += self.fabric.eq(self.grant)
        with m.If(tick != last):
            m.d.sync += tick.eq(tick + 1)
        with m.Else():
            m.d.sync += [self.now.eq(self.following), copy.eq(self.configuration)]
            with m.If(self.active.any()):
                m.d.sync += [tick.eq(0), place.eq(self.following)]
        return m


class SlCounter(wiring.Component):
    """The slot s that a scheduling unit decides: round robin over those of its slots that are in use.

    After a round, if a request is realised in no slot, it tries the lowest empty slot that takes dynamic connections. So the
    degree grows only when the slots in use have been tried.

    Latency: one cycle.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    unit : int
        The unit has the slots s with s mod units = ``unit``.

    Ports
    -----
    step : Signal(1), in
        A decision ends.
    occupied : Signal(slots), in
        Slot s is in use.
    dynamic : Signal(slots), in
        Slot s takes dynamic connections.
    unmet : Signal(1), in
        A request is realised in no slot.
    slot : Signal(slots), out
        The slot, one bit.
    """

    def __init__(self, *, shape: SwitchShape, unit: int = 0) -> None:
        self.shape = shape
        self.unit = unit
        self.opened = Signal()
        """The slot was empty when it was chosen: the round begins anew."""
        k = shape.slots
        super().__init__(
            {"step": In(1), "occupied": In(k), "dynamic": In(k), "unmet": In(1)} | {"slot": Out(k, init=1 << unit)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, k = self.shape, self.shape.slots
        own = sum(1 << s for s in range(self.unit, k, shape.sl_units))
        opened = self.opened
        used, empty, later = Signal(k), Signal(k), Signal(k)
        m.d.comb += [
            used.eq(self.occupied & own),
            empty.eq(~self.occupied & self.dynamic & own),
            later.eq(used & above(self.slot) & (~opened).replicate(k)),
        ]
        with m.If(self.step):
            with m.If(later.any()):
                m.d.sync += self.slot.eq(lowest(later))
            with m.Elif(self.unmet & empty.any() & ~(opened & used.any())):
                m.d.sync += [self.slot.eq(lowest(empty)), opened.eq(1)]
            with m.Elif(used.any()):
                m.d.sync += [self.slot.eq(lowest(used)), opened.eq(0)]
        return m
