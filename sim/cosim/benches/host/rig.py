"""A bridge with nodes behind it that only have interface registers: a word in an even register goes to the odd one after it.

The bench decides in which cycles. Flags and words behave as `numesh.interface.InterfaceRegisters` says, by other means.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from host.core import port_members
from host.shape import HostShape


class Rig(wiring.Component):
    """A bridge of class ``kind`` and its nodes.

    Ports
    -----
    those of the bus, irq, done
    move_<i> : Signal(registers), in
        Bit r: a word in register r of node i may go on to register r + 1, for even r.
    """

    def __init__(self, kind: Any, shape: HostShape) -> None:
        self.bridge = kind(shape=shape)
        self.shape = shape
        inside = port_members(shape)
        members = {name: member for name, member in self.bridge.signature.members.items() if name not in inside}
        super().__init__(members | {f"move_{i}": In(shape.registers) for i in range(shape.nodes)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bridge = bridge = self.bridge
        for name, member in self.bridge.signature.members.items():
            if name in port_members(self.shape):
                continue
            inner, outer = getattr(bridge, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        for node in range(self.shape.nodes):
            self._node(m, node)
        return m

    def _node(self, m: Module, node: int) -> None:
        shape = self.shape

        def port(name: str) -> Signal:
            found: Signal = getattr(self.bridge, f"p_{name}_{node}")
            return found

        full = [Signal(name=f"full_{node}_{r}") for r in range(shape.registers)]
        words = [Signal(shape.width, name=f"word_{node}_{r}") for r in range(shape.registers)]
        for r in range(shape.registers):
            m.d.comb += port("full")[r].eq(full[r])
            here = port("address") == r
            with m.If(port("write") & here & ~full[r]):
                m.d.sync += [full[r].eq(1), words[r].eq(port("write_data"))]
            with m.Elif(port("read") & here):
                m.d.sync += full[r].eq(0)
        with m.If(port("read")):
            m.d.sync += port("read_data").eq(Array(words)[port("address")])
        for r in range(0, shape.registers - 1, 2):
            busy = (port("write") & (port("address") == r)) | (port("read") & (port("address") == r + 1))
            with m.If(getattr(self, f"move_{node}")[r] & full[r] & ~full[r + 1] & ~busy):
                m.d.sync += [full[r].eq(0), full[r + 1].eq(1), words[r + 1].eq(words[r])]
