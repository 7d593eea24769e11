"""Grants and time slots, seen from the registers B(s)."""

from __future__ import annotations

from amaranth.hdl import Array, Assert, Cat, Cover, Module, Mux, Signal

from cosim.formal.proof import Harness
from tdm_switch.shape import SwitchShape

from .view import SchedulerView, before, second_cycle


def of_the_slot(shape: SwitchShape) -> Harness:
    """A grant exists only for B(t), as it stood when slot t began, outside the guard band; the fabric follows a cycle later; slots
    without connections are skipped, others come in turn."""
    m = Module()
    n, k = shape.ports, shape.slots
    view = SchedulerView(m, shape)
    there = second_cycle(m)
    # My own clock and my own copy.
    tick = Signal(range(shape.slot_cycles + 1))
    copy, last = Signal(n * n), Signal(range(k), init=k - 1)
    active = Cat(matrix.any() for matrix in view.b)
    idle = Signal(init=1)
    following = Signal(range(k))
    for j in reversed(range(1, k + 1)):
        place = Signal(range(2 * k), name=f"place_{j}")
        m.d.comb += place.eq((last + j) % k)
        with m.If(Array(active)[place]):
            m.d.comb += following.eq(place)
    with m.If(idle | (tick == shape.slot_cycles - 1)):
        m.d.sync += [idle.eq(~active.any()), tick.eq(0), copy.eq(0)]
        with m.If(active.any()):
            m.d.sync += [last.eq(following), copy.eq(Array(view.b)[following])]
    with m.Else():
        m.d.sync += tick.eq(tick + 1)
    m.d.comb += [
        Assert(view.now == Cat(~idle & (last == s) for s in range(k)), "the slot"),
        Assert((tick < shape.slot_cycles) & (last < k)),
    ]
    with m.If(idle | (tick < shape.guard_cycles)):
        m.d.comb += Assert(view.grant == 0, "guard band")
    with m.Else():
        m.d.comb += Assert(view.grant == copy, "grants are those of the slot")
    with m.If(there):
        m.d.comb += Assert(view.fabric == before(m, view.grant, "grant"), "the fabric follows")
    tdm = view.scheduler.tdm
    m.d.comb += [
        Assert(tdm.copy == copy),
        Assert(~idle | (copy == 0)),
        Assert(tdm.tick == Mux(idle, shape.slot_cycles - 1, tick)),
        Assert((tdm.place == Cat(last == s for s in range(k))) | ((tdm.place == 0) & (last == k - 1) & idle)),
    ]
    m.d.comb += Cover((view.grant != 0) & (view.grant != Array(view.b)[last]), "B(t) has changed during its slot")
    return Harness(m, view.inputs)
