"""Round robin, alone."""

from __future__ import annotations

from amaranth.hdl import Assert, Cover, Module, Mux, Signal

from cosim.formal.proof import Harness
from packet_router.arbiter import RoundRobin
from packet_router.shape import RouterShape

from .choose import at_most_one, choice


def fair(shape: RouterShape) -> Harness:
    """One request is granted if there is any; one that stands is passed over by each of the others once at most."""
    m = Module()
    n = shape.ports
    m.submodules.arbiter = arbiter = RoundRobin(count=n)
    i = choice(m, n, "request")
    asks, gets = arbiter.requests.bit_select(i, 1), arbiter.grant.bit_select(i, 1)
    goes = arbiter.turn & arbiter.requests.any()
    m.d.comb += [
        Assert(at_most_one(arbiter.grant), "one grant"),
        Assert((arbiter.grant & ~arbiter.requests) == 0, "to one that asks"),
        Assert(arbiter.grant.any() == arbiter.requests.any(), "if any asks"),
    ]
    passed = Signal(range(n + 1))
    with m.If(~asks):
        m.d.sync += passed.eq(0)
    with m.Elif(goes):
        m.d.sync += passed.eq(Mux(gets, 0, passed + 1))
    # The turn comes nearer with each grant to another: places from the first in turn to this one.
    first, distance = Signal(range(n + 1)), Signal(range(n))
    for k in reversed(range(n)):
        with m.If(arbiter.after[k]):
            m.d.comb += first.eq(k)
    m.d.comb += distance.eq(Mux(i >= first, i - first, i + n - first))
    with m.If(arbiter.after == 0):
        m.d.comb += Assert(passed + i < n)
    with m.Else():
        m.d.comb += [
            Assert((arbiter.after | ((1 << first) - 1)[:n]) == ((1 << n) - 1), "the turn stands at one place"),
            Assert(passed + distance < n),
        ]
    m.d.comb += [
        Assert(passed < n, "in turn"),
        Cover(gets & (passed == n - 1), "last of all"),
        Cover(gets & (passed == 0) & (i == 0) & arbiter.after[-1], "again after the others"),
    ]
    return Harness(m, [arbiter.requests, arbiter.turn])
