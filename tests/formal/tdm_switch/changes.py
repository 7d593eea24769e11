"""What a decision changes: Tables 1 and 2 (Ding et al. 2005) at the configuration registers, seen from cycle to cycle."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal

from cosim.formal.proof import Harness
from tdm_switch.shape import SwitchShape

from .matrices import invariants
from .view import SchedulerView, before, choice, column_of, element, row_of, second_cycle


def tables(shape: SwitchShape) -> Harness:
    """Only the decided slot changes, as Tables 1 and 2 (corrected) say; units together establish a connection once.

    It releases what is not requested, and establishes what is requested, realised nowhere, and finds its ports free.
    """
    m = Module()
    n = shape.ports
    view = SchedulerView(m, shape)
    invariants(m, view)
    u, v, s = choice(m, n, "u"), choice(m, n, "v"), choice(m, shape.slots, "s")
    # Commands may do anything before, but not now.
    quiet = Signal()
    slot, preloaded, decided = Signal(n * n), Signal(n * n), Signal()
    for t in range(shape.slots):
        with m.If(s == t):
            m.d.comb += [slot.eq(view.b[t]), preloaded.eq(view.p[t]), decided.eq(view.decided(t))]
        m.d.comb += Assume(view.p[t] == 0)
    m.d.comb += [Assume(view.wide == 0), quiet.eq(view.touched == 0)]
    for counter in view.scheduler.counters:
        m.d.comb += Assert((counter.slot & (counter.slot - 1)[: shape.slots]) == 0)

    there = second_cycle(m)
    old = before(m, slot, "slot")
    was_here = element(old, u, v, n)
    is_here = element(slot, u, v, n)
    was_wanted = element(before(m, view.wanted, "wanted"), u, v, n)
    was_realised = element(before(m, view.realised, "realised"), u, v, n)
    was_allowed = element(before(m, view.allowed, "allowed"), u, v, n)
    was_decided, was_quiet = before(m, decided, "decided"), before(m, quiet, "quiet")
    was_dynamic = before(m, view.dynamic.bit_select(s, 1), "dynamic")
    busy_before = (row_of(old, u, n) | column_of(old, v, n)) != 0
    busy = (row_of(slot, u, n) | column_of(slot, v, n)) != 0
    with m.If(there & was_quiet & was_here & ~is_here):
        m.d.comb += Assert(was_decided & ~was_wanted, "released without need")
    with m.If(there & was_quiet & ~was_here & is_here):
        m.d.comb += Assert(
            was_decided & was_dynamic & was_wanted & ~was_realised & was_allowed, "established without need"
        )
    with m.If(there & was_quiet & was_decided & was_here & ~was_wanted):
        m.d.comb += Assert(~is_here, "not released")
    # Several units decide at once, and none establishes what another does.
    other, second = Signal(n * n), choice(m, shape.slots, "second")
    for t in range(shape.slots):
        with m.If(second == t):
            m.d.comb += other.eq(view.b[t])
    other_is, other_was = element(other, u, v, n), element(before(m, other, "other"), u, v, n)
    with m.If(there & was_quiet & (s != second) & is_here & ~was_here):
        m.d.comb += Assert(~(other_is & ~other_was), "established in two slots at once")
    mine = was_allowed
    if shape.sl_units > 1:
        # Whose turn a request is in a decision is the scheduler's business.
        mine = mine & before(m, view.shared(u, v, s), "shared")
    with m.If(there & was_quiet & was_decided & ~was_here & was_wanted & ~was_realised & was_dynamic & mine):
        m.d.comb += Assert(is_here | busy_before | busy, "not established, though both ports are free")
    m.d.comb += [
        Cover(
            there & was_quiet & ~was_here & is_here & busy_before,
            "a port goes from one connection to another in one decision",
        ),
        Cover(there & was_quiet & was_decided & was_wanted & ~was_realised & ~is_here, "refused"),
    ]
    return Harness(m, view.inputs)


def returns(shape: SwitchShape) -> Harness:
    """Preempted connections come back: with no requests, a slot is as preloaded after two decisions of it.

    A decision of several cycles counts if there has been no request since it began, when it takes its inputs. A slot in use is
    decided once in any K + 1 decisions, requests or not.
    """
    m = Module()
    view = SchedulerView(m, shape)
    invariants(m, view)
    quiet = Signal()
    m.d.comb += quiet.eq((view.wanted == 0) & (view.turn == 0))
    # Has it been quiet in every cycle of this decision?
    scheduler = view.scheduler
    was_quiet, unasked = Signal(), Signal()
    m.d.comb += unasked.eq(quiet & (scheduler.first | was_quiet))
    m.d.sync += was_quiet.eq(unasked)
    preempted = Signal()
    for s in range(shape.slots):
        b, p = view.b[s], view.p[s]
        visits = Signal(range(3), name=f"visits_{s}")
        with m.If(~quiet):
            m.d.sync += visits.eq(0)
        with m.Elif(view.decided(s) & unasked & (visits != 2)):
            m.d.sync += visits.eq(visits + 1)
        m.d.comb += Assert((visits == 0) | scheduler.first | was_quiet, "quiet since the last decision")
        if shape.sl_cycles > 1:
            unit = s % shape.sl_units
            array, slot = scheduler.arrays[unit], scheduler.counters[unit].slot
            with m.If(was_quiet & ~scheduler.first):
                m.d.comb += Assert(~scheduler.spoilt[unit], "nothing has changed the slot")
                with m.If(slot[s]):
                    m.d.comb += Assert(array.l == b ^ p, "what differs from the preloaded is to change")
        with m.If(visits >= 1):
            m.d.comb += Assert((b & ~p) == 0, "dynamic connections are gone")
        with m.If(visits == 2):
            m.d.comb += Assert(b == p, "preloaded ones are back")
        m.d.comb += Assert(visits <= 2)
        with m.If((p & ~b) != 0):
            m.d.comb += preempted.eq(1)

        # How long until the counter comes to this slot.
        counter = view.scheduler.counters[0]
        waiting = Signal(range(shape.slots + 3), name=f"waiting_{s}")
        used = (b != 0) | (p != 0)
        m.d.comb += [
            Assert(counter.slot.any() & ((counter.slot & (counter.slot - 1)[: shape.slots]) == 0)),
        ]
        with m.If(~used | view.decided(s)):
            m.d.sync += waiting.eq(0)
        with m.Elif(view.step):
            m.d.sync += waiting.eq(waiting + 1)
        for c in range(shape.slots):
            far = Mux(counter.opened, s + 1, s - c if s >= c else s + shape.slots + 1 - c)
            with m.If(counter.slot[c] & used & ~view.decided(s)):
                m.d.comb += Assert(waiting + far <= shape.slots + 1, "the turn of a slot in use comes")
    was = before(m, preempted, "preempted")
    m.d.comb += Cover(was & ~preempted & quiet & (view.p[0] != 0), "a preempted connection comes back")
    return Harness(m, view.inputs)


def served(shape: SwitchShape) -> Harness:
    """Round robin serves every standing request within (N² + 1)(H + 3) decisions; (N + 1)(H + 3) with wrapped diagonals.

    H: a request that is realised goes away within so many decisions. One slot, nothing preloaded.
    """
    m = Module()
    n = shape.ports
    hold = 2
    view = SchedulerView(m, shape)
    invariants(m, view)
    u, v = choice(m, n, "u"), choice(m, n, "v")
    m.d.comb += [
        Assume(view.scheduler.command_valid == 0),
        Assert(view.turn == 0),
        Assert(view.p[0] == 0),
        Assert(view.wide == 0),
        Assert(view.dynamic.all() & (view.gives_way == 0)),
        Assert((view.held == 0) & (view.latched == 0) & (view.scheduler.requests.chosen == 0)),
        Assert(view.scheduler.slots.active == view.b[0].any()),
        Assert(view.scheduler.counters[0].slot == 1),
    ]
    row, column = view.scheduler.priority.row, view.scheduler.priority.column
    m.d.comb += Assert((row < n) & (column < n))
    # What is assumed of the requests.
    ages = []
    for i in range(n * n):
        age = Signal(range(hold + 2), name=f"age_{i}")
        ages.append(age)
        here, asks = view.b[0][i], view.wanted[i]
        with m.If(~(here & asks)):
            m.d.sync += age.eq(0)
        with m.Elif(view.step):
            m.d.sync += age.eq(age + 1)
        m.d.comb += [Assume(~(here & asks & (age == hold))), Assert(age <= hold), Assert(here | (age == 0))]

    # How long the start has stayed where it is: whatever has a port of a connection for which it stays has had it at least as
    # long, and so loses its request in time; then it is released, and then the connection is established.
    plain = shape.order == "plain"
    places = n * n if plain else n
    start = row * n + column if plain else column
    priority = view.scheduler.priority
    stays = Signal(range(hold + 4))
    with m.If(view.step):
        m.d.sync += stays.eq(Mux(priority.waits, stays + 1, 0))
    m.d.comb += [Assert(stays <= hold + 2, "the start moves on"), Assert((stays != 0) | (priority.late == 0))]
    for i in range(n * n):
        with m.If(priority.waiting[i]):
            m.d.comb += Assert(stays <= hold + 1)
            for j in range(n * n):
                if i != j and (i // n == j // n or i % n == j % n):
                    m.d.comb += Assert(~view.b[0][j] | (ages[j] >= stays), "it was there before")
    # How long a request stands: each place before its own takes at most hold + 3 decisions.
    limit = (places + 1) * (hold + 3)
    stands = element(view.wanted & ~view.realised, u, v, n)
    wait = Signal(range(limit + 2))
    with m.If(~stands):
        m.d.sync += wait.eq(0)
    with m.Elif(view.step):
        m.d.sync += wait.eq(wait + 1)
    own = (u * n + v) if plain else (u + v) % n
    distance = Signal(range(2 * places + 1))
    ahead = (own + places - start) % places
    m.d.comb += distance.eq(Mux((ahead == 0) & priority.late.bit_select(u, 1), places, ahead))
    with m.If(stands):
        m.d.comb += Assert(wait <= (places - distance) * (hold + 3) + stays, "served in time")
    m.d.comb += Assert(wait <= limit)
    m.d.comb += Cover(wait == 5, "a request waits")
    return Harness(m, view.inputs)
