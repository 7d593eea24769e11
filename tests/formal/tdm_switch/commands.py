"""Commands do what they say and nothing else; refused ones do nothing."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal

from cosim.formal.proof import Harness
from tdm_switch.codes import NOWHERE, Command, Predictor
from tdm_switch.shape import SwitchShape

from .matrices import invariants
from .view import SchedulerView, before, choice, element, second_cycle


def preloaded(shape: SwitchShape) -> Harness:
    """What is preloaded changes by LOAD, SWAP and EVICT of its slot, in the rows named; not by a refused command."""
    m = Module()
    n = shape.ports
    view = SchedulerView(m, shape)
    invariants(m, view)
    u, v, s = choice(m, n, "u"), choice(m, n, "v"), choice(m, shape.slots, "s")
    slot, realised = Signal(n * n), Signal(n * n)
    for t in range(shape.slots):
        with m.If(s == t):
            m.d.comb += [slot.eq(view.p[t]), realised.eq(view.b[t])]
    now = element(slot, u, v, n)
    there = second_cycle(m)
    was = before(m, now, "preloaded")
    old_element, staged = element(view.staged, u, v, n), view.named.bit_select(u, 1)
    accepted = before(m, view.turn.any() & ~view.refused & (view.x == s) & view.scheduler.done.any(), "accepted")
    loads, evicts, swaps = (
        accepted & before(m, view.opcode == command, f"command_{command}")
        for command in (Command.LOAD, Command.EVICT, Command.SWAP)
    )
    filled, kept, rows = view.stored(m, view.y[:1])
    was_named = before(m, staged | ~view.mode[0], "named")
    was_swapped = before(m, filled & rows.bit_select(u, 1), "swapped")
    with m.If(there):
        with m.If(loads & was_named):
            m.d.comb += Assert(now == before(m, old_element, "staged"), "loaded")
        with m.Elif(swaps & was_swapped):
            m.d.comb += Assert(now == before(m, element(kept, u, v, n), "kept"), "swapped in")
        with m.Elif(evicts):
            m.d.comb += Assert(now == 0, "evicted")
        with m.Else():
            m.d.comb += Assert(now == was, "nobody else")
        with m.If(((loads & was_named) | (swaps & was_swapped)) & now):
            m.d.comb += Assert(element(realised, u, v, n), "what is preloaded is realised at once")
    m.d.comb += [
        Cover(there & loads & now & ~was, "loaded"),
        Cover(there & swaps & now & ~was, "swapped"),
        Cover(
            view.refused & (view.opcode == Command.LOAD) & ~view.broken & view.owner.any() & (view.x < shape.slots),
            "conflict",
        ),
    ]
    return Harness(m, view.inputs)


def staging(shape: SwitchShape) -> Harness:
    """The configuration being made changes by its owner's commands; what conflicts is left out and breaks it."""
    m = Module()
    n = shape.ports
    view = SchedulerView(m, shape)
    invariants(m, view)
    u, v = choice(m, n, "u"), choice(m, n, "v")
    there = second_cycle(m)
    now, named = element(view.staged, u, v, n), view.named.bit_select(u, 1)
    was, was_named = before(m, now, "staged"), before(m, named, "named")
    owner = before(m, view.owner, "owner")
    turn, opcode = before(m, view.turn, "turn"), before(m, view.opcode, "opcode")
    x, y = before(m, view.x, "x"), before(m, view.y, "y")
    mine = (owner == 0) | (owner == turn)
    stages = turn.any() & mine & (opcode == Command.STAGE)
    ends = turn.any() & mine & ((opcode == Command.LOAD) | (opcode == Command.STORE) | (opcode == Command.CLEAR))
    refused = before(m, view.refused, "refused")
    with m.If(there):
        with m.If(ends):
            m.d.comb += Assert((view.staged == 0) & (view.named == 0) & (view.owner == 0) & ~view.broken, "over")
        with m.Elif(stages & ~refused):
            m.d.comb += [
                Assert(now == (was | ((x == u) & (y == v))), "the connection is in"),
                Assert(named == (was_named | (x == u)), "its row is named"),
                Assert(view.owner == turn, "whose it is"),
                Assert((x < n) & ((y < n) | (y == NOWHERE)), "of ports that exist"),
            ]
        with m.Else():
            m.d.comb += [Assert(now == was, "nothing else is in"), Assert(named == was_named)]
        with m.If(stages & refused):
            m.d.comb += Assert(view.broken, "broken")
    m.d.comb += [
        Cover(there & stages & ~refused & now & ~was),
        Cover(there & stages & refused & (x < n) & (y < n), "conflict"),
        Cover(there & turn.any() & ~mine & (opcode == Command.STAGE), "another processor's waits"),
    ]
    return Harness(m, view.inputs)


def latches(shape: SwitchShape) -> Harness:
    """A latch stays until it is cleared or unused for as long as the time-out says; for the counter only use by others counts."""
    m = Module()
    n = shape.ports
    view = SchedulerView(m, shape)
    invariants(m, view)
    u, v = choice(m, n, "u"), choice(m, n, "v")
    scheduler, requests = view.scheduler, view.scheduler.requests
    i = u * n + v
    asks, used = scheduler.request.bit_select(i, 1), scheduler.used.bit_select(i, 1)
    latched = element(view.latched, u, v, n)
    there = second_cycle(m)
    # The predictor is chosen once and then stays, so that an idle time can be measured.
    kind, threshold = choice(m, len(Predictor), "kind"), choice(m, 1 << shape.age_bits, "threshold")
    m.d.comb += Assume(threshold != 0)
    set_ = Signal()
    with m.If(requests.predict):
        m.d.comb += [Assume(~set_), Assume(requests.predictor == kind), Assume(requests.threshold == threshold)]
        m.d.sync += set_.eq(1)
    with m.If(set_):
        m.d.comb += [Assert(requests.chosen == kind), Assert(requests.limit == threshold)]
    with m.Else():
        m.d.comb += [Assert(requests.chosen == Predictor.NONE), Assert(view.latched == 0)]
    idle = Signal(shape.age_bits + 1)
    counts = Mux(kind == Predictor.TIMEOUT, 1, (kind == Predictor.COUNTER) & scheduler.used.any())
    with m.If(asks | used | ~latched):
        m.d.sync += idle.eq(0)
    with m.Elif(counts):
        m.d.sync += idle.eq(idle + 1)
    for a in range(n):
        for b in range(n):
            with m.If((u == a) & (v == b)):
                m.d.comb += Assert((requests.rows[a].ages[b] == idle) | ~latched, "age")
    cleared = before(
        m, requests.clear.bit_select(u, 1) | (requests.unhold & element(requests.place, u, v, n)), "cleared"
    )
    was = before(m, latched, "latched")
    with m.If(latched & set_):
        m.d.comb += Assert((idle < threshold) | (kind == Predictor.KEEP), "not longer than that")
    with m.If(there & was & ~latched & ~cleared):
        due = before(m, (idle + 1 == threshold) & counts & ~asks & ~used, "due")
        m.d.comb += Assert(due & (kind != Predictor.KEEP), "not sooner")
    m.d.comb += [
        Cover(there & was & ~latched & ~cleared & (kind == Predictor.COUNTER), "evicted by the counter"),
        Cover(there & was & ~latched & ~cleared & (kind == Predictor.TIMEOUT), "evicted by time"),
    ]
    return Harness(m, view.inputs)
