"""The configuration registers: what is realised in each slot, and what is preloaded into it."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import along_columns, along_rows, chosen, columns_any, one_hot
from .shape import SwitchShape, bits_for


class ConfigurationRegisters(wiring.Component):
    """K configurations B(s), each with the connections that are preloaded, P(s) (Ding et al. 2005, §4, Figure 2).

    In no B(s) and no P(s) a row or a column has two ones, as long as ``matrix`` has none, toggles come from the array, and
    ``write`` is given only without ``conflict``.

    Latency: one cycle.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    toggle_<j> : Signal(ports²), in
        T of scheduling unit j.
    toggle_slot_<j> : Signal(slots), in
        The slot that unit j has decided, one bit; 0 if it has not.
    slot : Signal(range(slots)), in
        Slot of ``write`` and ``evict``.
    matrix : Signal(ports²), in
        New rows, for ``write``.
    rows : Signal(ports), in
        Which rows are new.
    conflict : Signal(1), out
        A row that stays has a destination preloaded that ``matrix`` has too.
    write : Signal(1), in
        Preload the rows. Connections of other rows that are in the way are released.
    evict : Signal(1), in
        Empty the slot.
    flush : Signal(1), in
        All slots: what is preloaded is realised, and nothing else.
    release : Signal(ports), in
        All slots: what is not preloaded in these rows is released.
    b_<s> : Signal(ports²), out
        B(s): realised in slot s.
    p_<s> : Signal(ports²), out
        P(s): preloaded into slot s.
    kept : Signal(ports²), out
        What is preloaded into ``slot``.
    realised : Signal(ports²), out
        B*: realised in some slot.
    active : Signal(slots), out
        Slot s has a connection.
    occupied : Signal(slots), out
        Slot s has a connection, or one is preloaded.
    touched : Signal(slots), out
        B(s) is changed by something else than a toggle, which is then lost.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        n, k = shape.ports, shape.slots
        members: dict[str, wiring.Member] = {}
        for j in range(shape.sl_units):
            members |= {f"toggle_{j}": In(n * n), f"toggle_slot_{j}": In(k)}
        members |= {
            "slot": In(bits_for(k)),
            "matrix": In(n * n),
            "rows": In(n),
            "conflict": Out(1),
            "write": In(1),
            "evict": In(1),
            "flush": In(1),
            "release": In(n),
        }
        for s in range(k):
            members |= {f"b_{s}": Out(n * n), f"p_{s}": Out(n * n)}
        members |= {
            "kept": Out(n * n),
            "realised": Out(n * n),
            "active": Out(k),
            "occupied": Out(k),
            "touched": Out(k),
        }
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        b = [getattr(self, f"b_{s}") for s in range(shape.slots)]
        p = [getattr(self, f"p_{s}") for s in range(shape.slots)]
        here = Signal(shape.slots)
        new, stays, columns = Signal(n * n), Signal(n * n), Signal(n)
        m.d.comb += [
            here.eq(one_hot(self.slot, shape.slots)),
            new.eq(self.matrix & along_rows(self.rows, n)),
            self.kept.eq(chosen(here, p)),
            stays.eq(self.kept & ~along_rows(self.rows, n)),
            columns.eq(columns_any(new, n)),
            self.conflict.eq((columns & columns_any(stays, n)).any()),
            self.active.eq(Cat(matrix.any() for matrix in b)),
            self.occupied.eq(self.active | Cat(matrix.any() for matrix in p)),
            self.touched.eq(
                (here & (self.write | self.evict).replicate(shape.slots))
                | (self.flush | self.release.any()).replicate(shape.slots)
            ),
        ]
        realised = b[0]
        for matrix in b[1:]:
            realised = realised | matrix
        m.d.comb += self.realised.eq(realised)
        free = ~along_rows(self.rows, n) & ~along_columns(columns, n)
        for s in range(shape.slots):
            toggle = Signal(n * n, name=f"toggle_of_{s}")
            j = s % shape.sl_units  # the one unit that has this slot
            decided = getattr(self, f"toggle_slot_{j}")[s]
            m.d.comb += toggle.eq(getattr(self, f"toggle_{j}") & decided.replicate(n * n))
            with m.If(self.write & here[s]):
                m.d.sync += [p[s].eq(stays | new), b[s].eq((b[s] & free) | new)]
            with m.Elif(self.evict & here[s]):
                m.d.sync += [p[s].eq(0), b[s].eq(0)]
            with m.Elif(self.flush):
                m.d.sync += b[s].eq(p[s])
            with m.Else():
                dropped = along_rows(self.release, n) & ~p[s]
                m.d.sync += b[s].eq(Mux(self.release.any(), b[s] & ~dropped, b[s] ^ toggle))
        return m
