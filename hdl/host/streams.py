"""AXI4-Streams at the interface registers of nodes: each is a stream into the network or out of it, without a processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .core import port_members
from .shape import HostShape, HostShapeError


@dataclass(frozen=True)
class StreamEnd:
    """A stream at an interface register. ``into``: its words enter the network there; otherwise they leave it."""

    node: int
    register: int
    into: bool

    @property
    def prefix(self) -> str:
        """Of its ports: streams into the network are slaves of this bridge (AMBA 4 AXI4-Stream, §2.1)."""
        return f"{'s' if self.into else 'm'}_axis_{self.node}_{self.register}"


def stream_ends(text: str, shape: HostShape) -> tuple[StreamEnd, ...]:
    """Streams as the command takes them: ``NODE:REGISTER:in`` or ``NODE:REGISTER:out``, with commas between.

    Raises
    ------
    HostShapeError
        If one is written otherwise, names what is not there, or a register has two.
    """
    found: dict[tuple[int, int], StreamEnd] = {}
    for one in text.split(","):
        parts = one.strip().split(":")
        if (
            len(parts) != 3
            or not all(part.isascii() and part.isdigit() for part in parts[:2])
            or parts[2] not in ("in", "out")
        ):
            raise HostShapeError(f"a stream must be NODE:REGISTER:in or NODE:REGISTER:out, not {one.strip()!r}")
        node, register = map(int, parts[:2])
        if node >= shape.nodes or register >= shape.registers:
            raise HostShapeError(
                f"a stream must be at a node of 0..{shape.nodes - 1} and a register of 0..{shape.registers - 1}, "
                f"not {one.strip()}"
            )
        if (node, register) in found:
            raise HostShapeError(f"register {register} of node {node} must have one stream, not two")
        found[node, register] = StreamEnd(node, register, parts[2] == "in")
    return tuple(found.values())


class NamedEnd(Protocol):
    """What a stream's ports need to know of it: their prefix, and whether its words enter the network."""

    @property
    def prefix(self) -> str: ...

    @property
    def into(self) -> bool: ...


def stream_members(shape: HostShape, ends: Sequence[NamedEnd]) -> dict[str, wiring.Member]:
    """Members of the streams, with flat names."""
    members: dict[str, wiring.Member] = {}
    for end in ends:
        ours, theirs = (In, Out) if end.into else (Out, In)
        members |= {
            f"{end.prefix}_tvalid": ours(1),
            f"{end.prefix}_tready": theirs(1),
            f"{end.prefix}_tdata": ours(shape.width),
        }
    return members


class StreamBridge(wiring.Component):
    """AXI4-Streams in front of the processor ports of several nodes.

    Each port makes an access a cycle; streams at a node that could move a word take turns, so none waits for more words of the
    others than there are others. Once *valid*, a word out stays until it is taken. A single stream out moves a word every other
    cycle.

    Latency: one cycle from a word at a stream in to its register, two from a register to *valid* at a stream out.

    Parameters
    ----------
    shape : HostShape
        Sizes of the bridge; ``blocked`` means nothing here, streams wait.
    ends : sequence of StreamEnd
        At least one; a register has one at most.

    Ports
    -----
    s_axis_<node>_<register>_…, m_axis_<node>_<register>_… : see stream_members
        The streams.
    p_<name>_<i> : as in ``core.HostCore``
    """

    def __init__(self, *, shape: HostShape, ends: Sequence[StreamEnd]) -> None:
        if not ends:
            raise HostShapeError("a bridge of streams must have at least one stream")
        self.shape = shape
        self.ends = tuple(ends)
        super().__init__(stream_members(shape, ends) | port_members(shape))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for node in range(self.shape.nodes):
            self._node(m, node, [end for end in self.ends if end.node == node])
        return m

    def _node(self, m: Module, node: int, ends: Sequence[StreamEnd]) -> None:
        """The streams at a node take turns at its port."""
        if not ends:
            return
        full, arriving = getattr(self, f"p_full_{node}"), getattr(self, f"p_read_data_{node}")
        count = len(ends)
        can, goes = Signal(count, name=f"can_{node}"), Signal(count, name=f"goes_{node}")
        later = Signal(count, name=f"later_{node}")
        """Streams that come after the one that moved a word last."""
        first = can & later
        m.d.comb += goes.eq(Mux(first.any(), first & -first, can & -can))
        with m.If(goes.any()):
            # All above the one that goes; none if it is the last.
            m.d.sync += later.eq(~(goes | (goes - 1)))
        address, data = getattr(self, f"p_address_{node}"), getattr(self, f"p_write_data_{node}")
        for k, end in enumerate(ends):
            valid, ready, word = (getattr(self, f"{end.prefix}_{name}") for name in ("tvalid", "tready", "tdata"))
            with m.If(goes[k]):
                m.d.comb += address.eq(end.register)
            if end.into:
                m.d.comb += [can[k].eq(valid & ~full[end.register]), ready.eq(goes[k])]
                with m.If(goes[k]):
                    m.d.comb += data.eq(word)
                continue
            coming = Signal(name=f"coming_{node}_{end.register}")
            m.d.comb += can[k].eq(full[end.register] & ~coming & (~valid | ready))
            m.d.sync += coming.eq(goes[k])
            with m.If(coming):
                m.d.sync += [valid.eq(1), word.eq(arriving)]
            with m.Elif(ready):
                m.d.sync += valid.eq(0)
        m.d.comb += [
            getattr(self, f"p_write_{node}").eq(Cat(goes[k] for k, end in enumerate(ends) if end.into).any()),
            getattr(self, f"p_read_{node}").eq(Cat(goes[k] for k, end in enumerate(ends) if not end.into).any()),
        ]
