"""A loader in hardware: writes images into routers word by word, through their processor ports, in place of a preload.

Takes rows for each node, which `pointsman.artifacts.images.loading` makes of an image. Holds back whatever is behind it until
all routers have theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Out

from .core import port_members
from .shape import HostShape, HostShapeError


@dataclass(frozen=True)
class LoaderRow:
    """A word to a register, once that is empty. ``aligned``: in a cycle that is `ImageLoader.phase` modulo the period."""

    register: int
    word: int
    aligned: bool = False


class ImageLoader(wiring.Component):
    """Writes the rows of each node, then joins the ports behind it with those of the nodes.

    Latency: a row takes two cycles, and as many as the router lets it wait.

    Parameters
    ----------
    shape : HostShape
        Sizes of the nodes' processor ports.
    rows : sequence of sequence of LoaderRow
        For each node, at least one.
    period : int
        Slots of a schedule.
    phase : int
        Cycle, modulo the period, in which aligned rows are written.

    Ports
    -----
    loaded : out
        All rows are written and taken; stays high until the next reset.
    h_rst : out
        Reset of what is behind the loader: high until all is loaded.
    h_<name>_<i> : as ``p_<name>_<i>`` with the other direction
        Ports for what is behind the loader.
    p_<name>_<i> : as in ``core.HostCore``
        Processor ports of the nodes, which leave reset with the loader.
    """

    def __init__(self, *, shape: HostShape, rows: Sequence[Sequence[LoaderRow]], period: int, phase: int) -> None:
        if len(rows) != shape.nodes or not all(rows):
            raise HostShapeError(f"rows must be given for each of the {shape.nodes} nodes, at least one")
        self.shape = shape
        self.rows = [tuple(several) for several in rows]
        self.period = period
        self.phase = phase % period
        self.written = [Signal(range(len(several) + 1), name=f"at_{node}") for node, several in enumerate(self.rows)]
        """Rows of each node that have been written."""
        self.slot = Signal(range(period))
        """Cycles since reset, modulo the period."""
        ports = port_members(shape)
        behind = {f"h_{name.removeprefix('p_')}": member.flip() for name, member in ports.items()}
        super().__init__({"loaded": Out(1), "h_rst": Out(1), **behind, **ports})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slot = self.slot
        m.d.sync += slot.eq(Mux(slot == self.period - 1, 0, slot + 1))
        ended = [self._node(m, node, slot) for node in range(self.shape.nodes)]
        # Whoever is behind the loader will fill command registers, too: then all stays loaded.
        m.d.sync += self.loaded.eq(self.loaded | Cat(ended).all())
        m.d.comb += self.h_rst.eq(~self.loaded)
        for name in port_members(self.shape):
            behind = getattr(self, f"h_{name.removeprefix('p_')}")
            if name.startswith(("p_full", "p_read_data")):
                m.d.comb += behind.eq(getattr(self, name))
        return m

    def _node(self, m: Module, node: int, slot: Signal) -> Signal:
        """Write the rows of a node; gives whether all of them have been taken."""
        rows = self.rows[node]
        bits, width = self.shape.register_bits, self.shape.width
        packed = [row.word | row.register << width | row.aligned << width + bits for row in rows]
        memory = Memory(shape=width + bits + 1, depth=len(rows) + 1, init=packed)
        m.submodules[f"constants_{node}"] = memory
        reading = memory.read_port()
        at = self.written[node]
        there, goes = Signal(name=f"there_{node}"), Signal(name=f"goes_{node}")
        word, register = reading.data[:width], reading.data[width : width + bits]
        full = getattr(self, f"p_full_{node}")
        free = Signal(name=f"free_{node}")
        m.d.comb += [
            reading.addr.eq(at),
            free.eq(~full.bit_select(register, 1)),
            goes.eq(there & (at < len(rows)) & free & (~reading.data[width + bits] | (slot == self.phase))),
        ]
        m.d.sync += there.eq(~goes)
        with m.If(goes):
            m.d.sync += at.eq(at + 1)
        port = {name: getattr(self, f"p_{name}_{node}") for name in ("address", "write", "read", "write_data")}
        behind = {name: getattr(self, f"h_{name}_{node}") for name in port}
        m.d.comb += [
            port["address"].eq(Mux(self.loaded, behind["address"], register)),
            port["write"].eq(Mux(self.loaded, behind["write"], goes)),
            port["read"].eq(self.loaded & behind["read"]),
            port["write_data"].eq(Mux(self.loaded, behind["write_data"], word)),
        ]
        # The command registers are the lowest ones: all rows are commands, and all are carried out when they are empty.
        ended = Signal(name=f"ended_{node}")
        commands = 1 + max(row.register for row in rows)
        m.d.comb += ended.eq((at == len(rows)) & ~full[:commands].any())
        return ended
