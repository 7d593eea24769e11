"""Cell, array and pre-scheduling logic, each alone, against Tables 1 and 2 (Ding et al. 2005) with their misprints corrected."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Mux, Signal, Value

from cosim.formal.proof import Harness
from tdm_switch.array import SchedulerArray
from tdm_switch.cell import Cell
from tdm_switch.pipelined_array import PipelinedArray
from tdm_switch.prescheduling import PreScheduling
from tdm_switch.shape import SwitchShape

from .view import choice, column_of, element, no_two, row_of


def table_2(shape: SwitchShape) -> Harness:
    """A cell releases what is realised, establishes what has both ports free, and otherwise changes nothing (Table 2)."""
    m = Module()
    m.submodules.cell = cell = Cell()
    # A realised connection has its ports: the rows with B and a free port do not occur.
    m.d.comb += Assume(~cell.b | (cell.a & cell.d))
    with m.If(~cell.l):
        m.d.comb += Assert((cell.t == 0) & (cell.a_next == cell.a) & (cell.d_next == cell.d), "no change")
    with m.Elif(cell.b):
        m.d.comb += Assert((cell.t == 1) & (cell.a_next == 0) & (cell.d_next == 0), "release")
    with m.Elif(~cell.a & ~cell.d):
        m.d.comb += Assert((cell.t == 1) & (cell.a_next == 1) & (cell.d_next == 1), "establish")
    with m.Else():
        m.d.comb += Assert((cell.t == 0) & (cell.a_next == cell.a) & (cell.d_next == cell.d), "ports are busy")
    m.d.comb += Cover(cell.l & ~cell.b & cell.a & cell.d, "a request whose two ports are busy")
    return Harness(m, [cell.l, cell.b, cell.a, cell.d])


def table_1(shape: SwitchShape) -> Harness:
    """With nothing preloaded or wide, L is that of Table 1, and AO and AI are the busy ports."""
    m = Module()
    n = shape.ports
    m.submodules.logic = logic = PreScheduling(ports=n)
    m.d.comb += [
        Assume(logic.preloaded == 0),
        Assume(logic.wide == 0),
        Assume(logic.allowed.all() & logic.dynamic),
        Assume((logic.current & ~logic.realised) == 0),
    ]
    u, v = choice(m, n, "u"), choice(m, n, "v")
    wanted, realised, here, change = (
        element(x, u, v, n) for x in (logic.wanted, logic.realised, logic.current, logic.l)
    )
    with m.Switch(Cat(here, realised, wanted)):
        for bits, result in (("0-0", 0), ("0-1", 1), ("11-", 0), ("100", 1)):
            with m.Case(bits):
                m.d.comb += Assert(change == result)
    m.d.comb += [
        Assert(logic.a.bit_select(v, 1) == column_of(logic.current, v, n).any(), "AO"),
        Assert(logic.d.bit_select(u, 1) == row_of(logic.current, u, n).any(), "AI"),
        Cover(change & here),
        Cover(change & ~here),
    ]
    names = ("wanted", "realised", "elsewhere", "current", "preloaded", "wide", "allowed", "dynamic", "gives_way")
    return Harness(m, [getattr(logic, name) for name in names])


def _array(m: Module, n: int, order: str, name: str, *, rotated: bool) -> SchedulerArray:
    """An array with a slot at its inputs; ``a`` and ``d`` are the busy ports of that slot."""
    array = SchedulerArray(ports=n, order=order, rotated=rotated)
    m.submodules[name] = array
    m.d.comb += [
        array.a.eq(Cat(Cat(array.b[u * n + v] for u in range(n)).any() for v in range(n))),
        array.d.eq(Cat(array.b[u * n : (u + 1) * n].any() for u in range(n))),
    ]
    return array


def greedy(shape: SwitchShape) -> Harness:
    """The array gives each connection, in its order from its start, what is free when its turn comes; B stays legal and is maximal."""
    m = Module()
    n = shape.ports
    rotated = shape.priority != "fixed"
    array = _array(m, n, shape.order, "array", rotated=rotated)
    row, column = (array.row, array.column) if rotated else (Const(0, 1), Const(0, 1))
    change, slot = array.l, array.b
    m.d.comb += [Assume(no_two(slot, n)), Assume(row < n), Assume(column < n)]
    after = Signal(n * n)
    m.d.comb += [
        after.eq(slot ^ array.t),
        Assert(no_two(after, n), "legal"),
        Assert((array.t & ~change) == 0, "only what is to change"),
    ]

    def turn(u: Value, v: Value) -> Value:
        """When (u, v) is asked."""
        down, right = (u + n - row) % n, (v + n - column) % n
        return down * n + right if shape.order == "plain" else (u + v + n - column) % n

    # One connection against all others that share a port with it.
    u, v = choice(m, n, "u"), choice(m, n, "v")
    asks, here, changes = (element(x, u, v, n) for x in (change, slot, array.t))
    own = Signal(range(n * n))
    m.d.comb += own.eq(turn(u, v))
    busy: Value = Const(0, 1)
    for a in range(n):
        for b in range(n):
            i = a * n + b
            shares = ((u == a) | (v == b)) & ~((u == a) & (v == b))
            earlier = turn(Const(a, 4), Const(b, 4)) < own
            busy = busy | (shares & Mux(earlier, after[i], slot[i]))
    m.d.comb += [
        Assert(changes == (asks & (here | ~busy)), "free when its turn comes"),
        Cover(changes & ~here & own.any(), "established, not the first"),
        Cover(asks & ~here & busy, "refused"),
        Cover(changes & here, "released"),
    ]
    return Harness(m, [array.l, array.b] + ([array.row, array.column] if rotated else []))


def rotation(shape: SwitchShape) -> Harness:
    """The array that starts at (a, b) is the array that starts at (0, 0), its rows and columns renumbered."""
    m = Module()
    n = shape.ports
    turned = _array(m, n, shape.order, "turned", rotated=True)
    fixed = _array(m, n, shape.order, "fixed", rotated=False)
    m.d.comb += [Assume(turned.row < n), Assume(turned.column < n)]
    down = choice(m, n, "down")
    right = choice(m, n, "right")
    m.d.comb += [Assume(turned.row == (down if shape.order == "plain" else 0)), Assume(turned.column == right)]
    for u in range(n):
        for v in range(n):
            i = u * n + v
            a = Signal(range(2 * n), name=f"row_{i}")
            b = Signal(range(2 * n), name=f"column_{i}")
            m.d.comb += [a.eq((u + turned.row) % n), b.eq((v + turned.column) % n)]
            m.d.comb += [
                fixed.l[i].eq(element(turned.l, a, b, n)),
                fixed.b[i].eq(element(turned.b, a, b, n)),
                Assert(fixed.t[i] == element(turned.t, a, b, n)),
            ]
    m.d.comb += Cover((turned.t != 0) & (turned.column != 0))
    return Harness(m, [turned.l, turned.b, turned.row, turned.column])


def pipelined(shape: SwitchShape) -> Harness:
    """The pipelined array decides each of the slots that enter one by one as the plain array does."""
    m = Module()
    n = shape.ports
    plain = _array(m, n, "plain", "plain", rotated=False)
    m.submodules.pipelined = array = PipelinedArray(ports=n)
    depth = 2 * n - 1

    def later(value: Value, cycles: int, name: str) -> Value:
        for i in range(cycles):
            kept = Signal(name=f"{name}_{i}")
            m.d.sync += kept.eq(value)
            value = kept
        return value

    m.d.comb += Assume(no_two(plain.b, n))
    for u in range(n):
        m.d.comb += array.d[u].eq(later(plain.d[u], u, f"d_{u}"))
        m.d.comb += array.a[u].eq(later(plain.a[u], u, f"a_{u}"))
        for v in range(n):
            i = u * n + v
            m.d.comb += [
                array.l[i].eq(later(plain.l[i], u + v, f"l_{i}")),
                array.b[i].eq(later(plain.b[i], u + v, f"b_{i}")),
                Assert(array.t[i] == later(plain.t[i], u + v, f"t_{i}"), "toggles"),
            ]
    for u in range(n):
        after = Cat(plain.b[u * n + v] ^ plain.t[u * n + v] for v in range(n)).any()
        m.d.comb += Assert(array.d_end[u] == later(after, n + u, f"d_after_{u}"), "AI afterwards")
        after = Cat(plain.b[v * n + u] ^ plain.t[v * n + u] for v in range(n)).any()
        m.d.comb += Assert(array.a_end[u] == later(after, n + u, f"a_after_{u}"), "AO afterwards")
    m.d.comb += Cover(array.t[n * n - 1] & ~array.b[n * n - 1] & later(plain.t[0], depth - 1, "both"))
    return Harness(m, [plain.l, plain.b])
