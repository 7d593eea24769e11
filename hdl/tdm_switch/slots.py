"""The configuration registers: what is realised in each slot, and what is preloaded into it."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .matrix import chosen, one_hot, row, where
from .parts import Parts
from .shape import SwitchShape, bits_for
from .transposed import columns_any_of

VIEW = ("elsewhere", "current", "preloaded")
"""What a scheduling unit sees of the slot that it decides."""


class ConfigurationRegisters(wiring.Component):
    """K configurations B(s), each with the connections that are preloaded, P(s) (Ding et al. 2005, §4, Figure 2).

    In no B(s) and no P(s) a row or a column has two ones, as long as ``matrix`` has none, toggles come from the array, and
    ``write`` is given only without ``conflict``.

    Latency: one cycle.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the rows.

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
    place : Signal(ports²), in
        A connection, one bit.
    found : Signal(slots), out
        It is realised in slot s.
    following : Signal(slots), in
        A slot, one bit, or none.
    configuration : Signal(ports²), out
        What is realised in it.
    decided_<j> : Signal(slots), in
        The slot that unit j is deciding, one bit.
    elsewhere_<j>, current_<j>, preloaded_<j> : Signal(ports²), out
        Realised in other slots; realised in that one; preloaded into it.
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

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
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
            "place": In(n * n),
            "found": Out(k),
            "following": In(k),
            "configuration": Out(n * n),
        }
        for j in range(shape.sl_units):
            members |= {f"decided_{j}": In(k)} | {f"{name}_{j}": Out(n * n) for name in VIEW}
        members |= {
            "kept": Out(n * n),
            "realised": Out(n * n),
            "active": Out(k),
            "occupied": Out(k),
            "touched": Out(k),
        }
        super().__init__(members)
        self.lines = [] if self.parts.apart else [ConfigurationRow(shape=shape) for _ in range(n)]
        """The rows, if they are in place."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n, k = self.shape, self.shape.ports, self.shape.slots
        here, columns, releases = Signal(k), Signal(n), Signal()
        new, stays = Signal(n * n), Signal(n * n)
        rows = []
        for u in range(n):
            given: dict[str, Value] = {
                "here": here,
                "matrix": row(self.matrix, u, n),
                "named": self.rows[u],
                "columns": columns,
                "write": self.write,
                "evict": self.evict,
                "flush": self.flush,
                "releases": releases,
                "release": self.release[u],
                "place": row(self.place, u, n),
                "following": self.following,
            }
            for j in range(shape.sl_units):
                given[f"decided_{j}"] = getattr(self, f"decided_{j}")
                given[f"toggle_{j}"] = row(getattr(self, f"toggle_{j}"), u, n)
                given[f"toggle_slot_{j}"] = getattr(self, f"toggle_slot_{j}")
            make = partial(self._row, u)
            rows.append(self.parts.place(m, f"row_{u}", "tdm_slots", make, row_members(shape), given, clocked=True))
        m.d.comb += [
            here.eq(one_hot(self.slot, k)),
            releases.eq(self.release.any()),
            new.eq(Cat(part["coming"] for part in rows)),
            stays.eq(Cat(part["stays"] for part in rows)),
            columns.eq(columns_any_of(m, self.parts, "busy_new", new, n)),
            self.conflict.eq((columns & columns_any_of(m, self.parts, "busy_stays", stays, n)).any()),
            self.touched.eq((here & (self.write | self.evict).replicate(k)) | (self.flush | releases).replicate(k)),
        ]
        views = [f"{name}_{j}" for name in VIEW for j in range(shape.sl_units)]
        for name in ("kept", "realised", "configuration", *views):
            m.d.comb += getattr(self, name).eq(Cat(part[name] for part in rows))
        for name in ("active", "occupied", "found"):
            m.d.comb += getattr(self, name).eq(Cat(Cat(part[name][s] for part in rows).any() for s in range(k)))
        return m

    def _row(self, u: int) -> ConfigurationRow:
        return self.lines[u] if self.lines else ConfigurationRow(shape=self.shape)


def row_members(shape: SwitchShape) -> dict[str, wiring.Member]:
    """Ports of a row by name."""
    n, k = shape.ports, shape.slots
    members: dict[str, wiring.Member] = {}
    for j in range(shape.sl_units):
        members |= {f"toggle_{j}": In(n), f"toggle_slot_{j}": In(k)}
    members |= {"here": In(k), "matrix": In(n), "named": In(1), "columns": In(n)}
    members |= {name: In(1) for name in ("write", "evict", "flush", "releases", "release")}
    members |= {"place": In(n), "following": In(k)}
    members |= {name: Out(n) for name in ("coming", "stays", "kept", "realised", "configuration")}
    for j in range(shape.sl_units):
        members |= {f"decided_{j}": In(k)} | {f"{name}_{j}": Out(n) for name in VIEW}
    return members | {"active": Out(k), "occupied": Out(k), "found": Out(k)}


class ConfigurationRow(wiring.Component):
    """A row of `ConfigurationRegisters`: an input port in each slot.

    Latency: one cycle.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.

    Ports
    -----
    here : Signal(slots), in
        The slot of ``write`` and ``evict``, one bit.
    named : Signal(1), in
        This row is new.
    columns : Signal(ports), in
        A new row has output port v.
    releases, release : Signal(1), in
        A row is released; this one is.
    coming, stays : Signal(ports), out
        What is new in the slot, and what is preloaded into it and stays.
    active, occupied : Signal(slots), out
        The row has a connection in slot s; or one is preloaded.
    found : Signal(slots), out
        A connection of ``place`` is realised in slot s.
    toggle_<j>, toggle_slot_<j>, matrix, write, evict, flush, place, following, decided_<j> : in
        As there.
    kept, realised, configuration, elsewhere_<j>, current_<j>, preloaded_<j> : out
        As there.
    """

    def __init__(self, *, shape: SwitchShape) -> None:
        self.shape = shape
        super().__init__(row_members(shape))
        self.b = [Signal(shape.ports, name=f"b_{s}") for s in range(shape.slots)]
        """What is realised in each slot."""
        self.p = [Signal(shape.ports, name=f"p_{s}") for s in range(shape.slots)]
        """What is preloaded into it."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n = self.shape, self.shape.ports
        b, p = self.b, self.p
        new, stays = self.coming, self.stays
        m.d.comb += [
            new.eq(where(self.named, self.matrix)),
            self.kept.eq(chosen(self.here, p)),
            stays.eq(where(~self.named, self.kept)),
            self.active.eq(Cat(line.any() for line in b)),
            self.occupied.eq(self.active | Cat(line.any() for line in p)),
            self.found.eq(Cat((line & self.place).any() for line in b)),
            self.configuration.eq(chosen(self.following, b)),
        ]
        for j in range(shape.sl_units):
            decided = getattr(self, f"decided_{j}")
            views = (chosen(~decided, b), chosen(decided, b), chosen(decided, p))
            m.d.comb += [getattr(self, f"{name}_{j}").eq(value) for name, value in zip(VIEW, views, strict=True)]
        realised = b[0]
        for line in b[1:]:
            realised = realised | line
        m.d.comb += self.realised.eq(realised)
        free = where(~self.named, ~self.columns)
        for s in range(shape.slots):
            toggle = Signal(n, name=f"toggle_of_{s}")
            j = s % shape.sl_units  # the one unit that has this slot
            decided = getattr(self, f"toggle_slot_{j}")[s]
            m.d.comb += toggle.eq(where(decided, getattr(self, f"toggle_{j}")))
            with m.If(self.write & self.here[s]):
                m.d.sync += [p[s].eq(stays | new), b[s].eq((b[s] & free) | new)]
            with m.Elif(self.evict & self.here[s]):
                m.d.sync += [p[s].eq(0), b[s].eq(0)]
            with m.Elif(self.flush):
                m.d.sync += b[s].eq(p[s])
            with m.Elif(self.releases):
                m.d.sync += b[s].eq(Mux(self.release, b[s] & p[s], b[s]))
            with m.Else():
                m.d.sync += b[s].eq(b[s] ^ toggle)
        return m
