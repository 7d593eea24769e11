"""The bus in front of the core: what AXI4-Lite demands of a subordinate."""

from __future__ import annotations

from amaranth.hdl import Assert, Cat, Cover, Module, Signal
from amaranth.lib.wiring import In

from cosim.formal.proof import Harness
from host.axi_lite import AxiLiteBridge, bus_members
from host.shape import HostShape

from .core import before


def _bridge(m: Module, shape: HostShape) -> tuple[AxiLiteBridge, list]:
    m.submodules.bridge = bridge = AxiLiteBridge(shape=shape)
    inputs = [getattr(bridge, name) for name, member in bus_members(shape).items() if member.flow == In]
    for node in range(shape.nodes):
        inputs += [getattr(bridge, f"p_full_{node}"), getattr(bridge, f"p_read_data_{node}")]
    return bridge, inputs


def answers_stay(shape: HostShape) -> Harness:
    """An answer stays as it is until it is taken (AMBA AXI, A3.2.1)."""
    m = Module()
    bridge, inputs = _bridge(m, shape)
    m.d.comb += Assert(~(bridge.writing & bridge.answered) & ~(bridge.reading & bridge.given), "one thing at a time")
    for side, carried in (("b", ("bresp",)), ("r", ("rresp", "rdata"))):
        valid, ready = getattr(bridge, f"s_axil_{side}valid"), getattr(bridge, f"s_axil_{side}ready")
        held = before(m, valid & ~ready, f"{side}_held")
        value = Cat(getattr(bridge, f"s_axil_{name}") for name in carried)
        m.d.comb += [
            Assert(~held | valid, "it stays"),
            Assert(~held | (value == before(m, value, f"{side}_value")), "as it is"),
            Cover(held & ready),
        ]
    return Harness(m, inputs)


def one_answer(shape: HostShape) -> Harness:
    """Every access that is taken is answered once, and none that was not taken."""
    m = Module()
    bridge, inputs = _bridge(m, shape)
    b_valid, r_valid = bridge.s_axil_bvalid, bridge.s_axil_rvalid
    b_taken, r_taken = b_valid & bridge.s_axil_bready, r_valid & bridge.s_axil_rready
    for name, enters, leaves, valid, made in (
        ("addresses", bridge.s_axil_awvalid & bridge.s_axil_awready, b_taken, b_valid, bridge.addressed),
        ("data", bridge.s_axil_wvalid & bridge.s_axil_wready, b_taken, b_valid, bridge.filled),
        ("reads", bridge.s_axil_arvalid & bridge.s_axil_arready, r_taken, r_valid, bridge.reading),
    ):
        owed = Signal(2, name=f"{name}_owed")
        m.d.sync += owed.eq(owed + enters - leaves)
        m.d.comb += [
            Assert(owed <= 1, "one at a time"),
            Assert(owed == made + valid, "it is under way or answered"),
            Assert(~valid | (owed == 1), "an answer is owed"),
            Assert(~enters | (owed == 0), "none is taken before"),
            Cover(enters & (before(m, leaves, f"{name}_left"))),
        ]
    m.d.comb += [Cover(bridge.addressed & ~bridge.filled), Cover(bridge.filled & ~bridge.addressed)]
    return Harness(m, inputs)
