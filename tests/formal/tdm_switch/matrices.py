"""No configuration has two ones in a row or a column: whatever is requested, preloaded, released, in any order."""

from __future__ import annotations

from amaranth.hdl import Assert, Cover, Module, Value

from cosim.formal.proof import Harness
from tdm_switch.matrix import along_rows, columns_any, rows_any
from tdm_switch.shape import SwitchShape

from .view import SchedulerView, choice, no_two


def legal(shape: SwitchShape) -> Harness:
    """No B(s), no preloaded, staged or stored configuration, and no setting of the fabric has two ones in a row or column."""
    m = Module()
    view = SchedulerView(m, shape)
    filled, matrix = invariants(m, view)
    every = view.b[0].any()
    for configuration in view.b[1:]:
        every = every & configuration.any()
    m.d.comb += [
        Cover(every, "all slots are in use"),
        Cover((view.p[0] != 0) & (view.b[0] & ~view.p[0]).any(), "preloaded and dynamic connections in a slot"),
        Cover(filled & matrix.any(), "the second level is in use"),
    ]
    return Harness(m, view.inputs)


def invariants(m: Module, view: SchedulerView) -> tuple[Value, Value]:
    """Assert all that. Other proofs stand on it. Gives a place of the second level: it holds something, its connections."""
    shape, n = view.shape, view.shape.ports
    for s in range(shape.slots):
        m.d.comb += [
            Assert(no_two(view.b[s], n), f"B of slot {s}"),
            Assert(no_two(view.p[s], n), f"preloaded into slot {s}"),
        ]
    m.d.comb += [
        Assert(no_two(view.copy, n), "the slot on the fabric"),
        Assert(no_two(view.grant, n), "grants"),
        Assert(no_two(view.fabric, n), "fabric"),
        Assert(no_two(view.staged, n), "staged"),
        Assert((view.staged & ~along_rows(view.named, n)) == 0, "staged rows are named"),
    ]
    filled, matrix, rows = view.stored(m, choice(m, max(1, shape.stored), "place"))
    with m.If(filled):
        m.d.comb += [
            Assert(no_two(matrix, n), "second level"),
            Assert((matrix & ~along_rows(rows, n)) == 0, "rows of the second level are named"),
        ]
    # One slot at a time, one command at a time; and what is kept for a decision of several cycles is the slot.
    m.d.comb += Assert((view.turn & (view.turn - 1)[:n]) == 0, "one command")
    m.d.comb += Assert((view.owner & (view.owner - 1)[:n]) == 0, "one owner")
    scheduler = view.scheduler
    for j, counter in enumerate(scheduler.counters):
        one = counter.slot & (counter.slot - 1)[: shape.slots]
        own = sum(1 << s for s in range(j, shape.slots, shape.sl_units))
        m.d.comb += Assert((one == 0) & ((counter.slot & ~own) == 0) & counter.slot.any(), "one slot of the unit")
        if shape.sl_cycles > 1:
            array = scheduler.arrays[j]
            with m.If(~scheduler.first & ~scheduler.spoilt[j]):
                for s in range(j, shape.slots, shape.sl_units):
                    with m.If(counter.slot[s]):
                        m.d.comb += Assert(array.b == view.b[s], "the slot that is decided")
                m.d.comb += Assert(
                    (array.a == columns_any(array.b, n)) & (array.d == rows_any(array.b, n)), "its ports"
                )
            m.d.comb += Assert(scheduler.phase < shape.sl_cycles)
    return filled, matrix
