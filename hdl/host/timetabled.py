"""AXI4-Streams whose accesses of the processor ports follow a timetable, in step with that of the routers.

No stream waits for another: each has slots of its own, whether the others use theirs or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring

from .core import port_members
from .shape import HostShape, HostShapeError
from .streams import stream_members


@dataclass(frozen=True)
class TimetabledEnd:
    """A stream at an interface register, and when it may access it.

    Parameters
    ----------
    prefix : str
        Of its ports, as ``s_axis_video``.
    node, register : int
        Where it is.
    into : bool
        Its words enter the network there; otherwise they leave it.
    slots : tuple of int
        Cycles after reset, modulo the period, in which it may make an access. Those of a node are different.
    """

    prefix: str
    node: int
    register: int
    into: bool
    slots: tuple[int, ...]


class TimetabledStreams(wiring.Component):
    """AXI4-Streams in front of the processor ports of several nodes, in the slots of a timetable.

    A stream in is *ready* in its slots if its register is empty. A stream out reads its register in its slots if the register
    is full and the word before has been taken; once *valid*, a word stays until it is taken.

    Latency: one cycle from a word at a stream in to its register, two from a register to *valid* at a stream out.

    Parameters
    ----------
    shape : HostShape
        Sizes; ``blocked`` means nothing here, streams wait.
    period : int
        Cycles after which the timetable begins again.
    ends : sequence of TimetabledEnd
        At least one; no two with the same prefix, the same register, or the same slot at a node.

    Ports
    -----
    <prefix>_tvalid, <prefix>_tready, <prefix>_tdata
        The streams.
    p_<name>_<i> : as in ``core.HostCore``

    Attributes
    ----------
    now : Signal(range(period))
        Cycles after reset, modulo the period.
    """

    def __init__(self, *, shape: HostShape, period: int, ends: Sequence[TimetabledEnd]) -> None:
        if not ends:
            raise HostShapeError("a timetable must have at least one stream")
        _check(shape, period, ends)
        self.shape, self.period, self.ends = shape, period, tuple(ends)
        super().__init__(stream_members(shape, ends) | port_members(shape))
        self.now = Signal(range(period), name="now")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.now.eq(self.now + 1)
        with m.If(self.now == self.period - 1):
            m.d.sync += self.now.eq(0)
        for node in range(self.shape.nodes):
            self._node(m, node, [end for end in self.ends if end.node == node])
        return m

    def _node(self, m: Module, node: int, ends: Sequence[TimetabledEnd]) -> None:
        if not ends:
            return
        full, arriving = getattr(self, f"p_full_{node}"), getattr(self, f"p_read_data_{node}")
        address, data = getattr(self, f"p_address_{node}"), getattr(self, f"p_write_data_{node}")
        writes, reads = [], []
        for end in ends:
            valid, ready, word = (getattr(self, f"{end.prefix}_{name}") for name in ("tvalid", "tready", "tdata"))
            turn, goes = Signal(name=f"turn_of_{end.prefix}"), Signal(name=f"{end.prefix}_goes")
            with m.Switch(self.now):
                with m.Case(*end.slots):
                    m.d.comb += turn.eq(1)
            with m.If(turn):
                m.d.comb += address.eq(end.register)
            if end.into:
                m.d.comb += [ready.eq(turn & ~full[end.register]), goes.eq(ready & valid)]
                with m.If(turn):
                    m.d.comb += data.eq(word)
                writes.append(goes)
                continue
            coming = Signal(name=f"{end.prefix}_coming")
            m.d.comb += goes.eq(turn & full[end.register] & ~coming & (~valid | ready))
            m.d.sync += coming.eq(goes)
            with m.If(coming):
                m.d.sync += [valid.eq(1), word.eq(arriving)]
            with m.Elif(ready):
                m.d.sync += valid.eq(0)
            reads.append(goes)
        m.d.comb += [
            getattr(self, f"p_write_{node}").eq(Cat(writes).any()),
            getattr(self, f"p_read_{node}").eq(Cat(reads).any()),
        ]


def _check(shape: HostShape, period: int, ends: Sequence[TimetabledEnd]) -> None:
    places: dict[tuple[int, int], str] = {}
    slots: dict[tuple[int, int], str] = {}
    prefixes: set[str] = set()
    for end in ends:
        if end.prefix in prefixes:
            raise HostShapeError(f"each stream must have a name of its own, and {end.prefix} is there twice")
        prefixes.add(end.prefix)
        if not (0 <= end.node < shape.nodes and 0 <= end.register < shape.registers):
            raise HostShapeError(
                f"{end.prefix}: a stream must be at a node of 0..{shape.nodes - 1} and a register of "
                f"0..{shape.registers - 1}, not node {end.node}, register {end.register}"
            )
        if (end.node, end.register) in places:
            raise HostShapeError(f"{end.prefix}: its register has the stream {places[end.node, end.register]} already")
        places[end.node, end.register] = end.prefix
        if not end.slots:
            raise HostShapeError(f"{end.prefix}: a stream must have a slot")
        for slot in end.slots:
            if not 0 <= slot < period:
                raise HostShapeError(f"{end.prefix}: a slot must be 0..{period - 1}, not {slot}")
            if (end.node, slot) in slots:
                raise HostShapeError(
                    f"{end.prefix}: slot {slot} of node {end.node} has the stream {slots[end.node, slot]} already"
                )
            slots[end.node, slot] = end.prefix
