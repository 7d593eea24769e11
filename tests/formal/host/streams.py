"""Streams at interface registers: no word is lost, doubled or changed, whatever full bits and the other side of a stream do."""

from __future__ import annotations

from amaranth.hdl import Assert, Cover, Module, Signal, Value

from cosim.formal.proof import Harness
from host.shape import HostShape
from host.streams import StreamBridge, StreamEnd
from host.timetabled import TimetabledEnd, TimetabledStreams

from .core import before

_PERIOD = 7


def _in_turn(m: Module, shape: HostShape) -> StreamBridge:
    """A stream at every register, into the network and out of it by turns."""
    ends = [StreamEnd(n, r, (n + r) % 2 == 0) for n in range(shape.nodes) for r in range(shape.registers)]
    m.submodules.bridge = bridge = StreamBridge(shape=shape, ends=ends)
    return bridge


def _timetabled(m: Module, shape: HostShape) -> TimetabledStreams:
    """The same, each with a slot of its own at the node's port, and the first with another."""
    ends = [
        TimetabledEnd(f"axis_{n}_{r}", n, r, (n + r) % 2 == 0, (r, _PERIOD - 1) if r == 0 else (r,))
        for n in range(shape.nodes)
        for r in range(shape.registers)
    ]
    m.submodules.bridge = bridge = TimetabledStreams(shape=shape, period=_PERIOD, ends=ends)
    return bridge


def _inputs(bridge: StreamBridge | TimetabledStreams, shape: HostShape) -> list[Value]:
    found = []
    for end in bridge.ends:
        names = ("tvalid", "tdata") if end.into else ("tready",)
        found += [getattr(bridge, f"{end.prefix}_{name}") for name in names]
    for node in range(shape.nodes):
        found += [getattr(bridge, f"p_full_{node}"), getattr(bridge, f"p_read_data_{node}")]
    return found


def _enters(m: Module, bridge: StreamBridge | TimetabledStreams, shape: HostShape) -> Harness:
    for end in bridge.ends:
        valid, ready, word = (getattr(bridge, f"{end.prefix}_{name}") for name in ("tvalid", "tready", "tdata"))
        at = getattr(bridge, f"p_address_{end.node}") == end.register
        write, read = getattr(bridge, f"p_write_{end.node}"), getattr(bridge, f"p_read_{end.node}")
        m.d.comb += Assert(~(write & read), "one access in a cycle")
        if not end.into:
            m.d.comb += Assert(~(write & at), "no word goes where words leave")
            continue
        m.d.comb += [
            Assert((valid & ready) == (write & at), "as often as it is given"),
            Assert(~(write & at) | ~getattr(bridge, f"p_full_{end.node}")[end.register], "it has room"),
            Assert(~(write & at) | (getattr(bridge, f"p_write_data_{end.node}") == word), "the word that is given"),
            Cover(valid & ready),
        ]
    return Harness(m, _inputs(bridge, shape))


def _leaves(m: Module, bridge: StreamBridge | TimetabledStreams, shape: HostShape) -> Harness:
    for end in bridge.ends:
        if end.into:
            continue
        name = end.prefix
        valid, ready, word = (getattr(bridge, f"{name}_{part}") for part in ("tvalid", "tready", "tdata"))
        at = getattr(bridge, f"p_address_{end.node}") == end.register
        reads = getattr(bridge, f"p_read_{end.node}") & at
        made = before(m, reads, f"{name}_reads")
        owed, came = Signal(2, name=f"{name}_owed"), Signal(shape.width, name=f"{name}_came")
        m.d.sync += owed.eq(owed + reads - (valid & ready))
        with m.If(made):
            m.d.sync += came.eq(getattr(bridge, f"p_read_data_{end.node}"))
        m.d.comb += [
            Assert(~reads | getattr(bridge, f"p_full_{end.node}")[end.register], "it has a word"),
            Assert(~(made & valid), "one at a time"),
            Assert(owed == made + valid, "it is on its way or shown"),
            Assert(~valid | (word == came), "the word that came"),
            Assert(~before(m, valid & ~ready, f"{name}_waits") | valid, "it stays"),
            Cover(valid & ready & before(m, valid & ~ready, f"{name}_waited")),
        ]
    return Harness(m, _inputs(bridge, shape))


def enters_once(shape: HostShape) -> Harness:
    """A word is taken from a stream exactly in the cycle in which it is written to the stream's register, which is empty."""
    m = Module()
    return _enters(m, _in_turn(m, shape), shape)


def leaves_once(shape: HostShape) -> Harness:
    """A word that is read from a register is shown at its stream once, as it came, and stays until it is taken."""
    m = Module()
    return _leaves(m, _in_turn(m, shape), shape)


def enters_once_by_timetable(shape: HostShape) -> Harness:
    """With a timetable, too, a word is taken exactly in the cycle in which it is written to its register, which is empty."""
    m = Module()
    return _enters(m, _timetabled(m, shape), shape)


def leaves_once_by_timetable(shape: HostShape) -> Harness:
    """With a timetable, too, a word that is read is shown once, as it came, and stays until it is taken."""
    m = Module()
    return _leaves(m, _timetabled(m, shape), shape)
