"""Round robin."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class RoundRobin(wiring.Component):
    """Picks one of several requests, in turn.

    Latency: none from ``requests`` to ``grant``.

    Parameters
    ----------
    count : int
        Requests, at least 1.

    Ports
    -----
    requests : Signal(count), in
    grant : Signal(count), out
        The request that is picked, one bit; none without a request.
    turn : Signal(1), in
        Whoever stands in ``grant`` has had its turn: in the next cycle those after it come first.
    """

    def __init__(self, *, count: int) -> None:
        self.count = count
        self.after = Signal(count)
        """Bits above the one that had its turn last."""
        super().__init__({"requests": In(count), "grant": Out(count), "turn": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.count == 1:
            m.d.comb += self.grant.eq(self.requests)
            return m
        after = self.after
        later = self.requests & after
        first_later = _lowest(later)
        m.d.comb += self.grant.eq(Mux(later.any(), first_later, _lowest(self.requests)))
        above = [self.grant[:i].any() if i else self.grant[0] & 0 for i in range(self.count)]
        with m.If(self.turn & self.requests.any()):
            m.d.sync += after.eq(Cat(*above))
        return m


def _lowest(bits: Value) -> Value:
    """The lowest bit that is set, alone."""
    return Cat(bits[i] & ~bits[:i].any() if i else bits[0] for i in range(len(bits)))
