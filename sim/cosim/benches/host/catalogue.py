"""The benches of the bridges, with their designs."""

from __future__ import annotations

from functools import partial

from cosim.benches.bench import Bench, Design
from host.shape import HostShape

WAITING = HostShape(nodes=3, registers=5)
REFUSING = HostShape(nodes=2, registers=40, width=64, blocked="error")


def pairs(shape: HostShape) -> list[tuple[int, int]]:
    """Nodes and even registers from which a word goes on to the odd one."""
    return [(node, register) for node in range(shape.nodes) for register in range(0, shape.registers - 1, 2)]


def _rig(bus: str, shape: HostShape) -> str:
    from cosim.benches.host.rig import Rig
    from emission import component_verilog
    from host import AxiLiteBridge, WishboneBridge
    from host.streams import StreamBridge, StreamEnd

    ends = [StreamEnd(node, register + k, k == 0) for node, register in pairs(shape) for k in (0, 1)]
    kind = {"axi_lite": AxiLiteBridge, "wishbone": WishboneBridge, "streams": partial(StreamBridge, ends=ends)}[bus]
    return component_verilog(Rig(kind, shape), "bench_host")


def _host_bench(name: str, bus: str, shape: HostShape, about: str) -> Bench:
    return Bench(name, f"host.{bus}", shape, Design(name, "bench_host", partial(_rig, bus, shape)), about)


BENCHES: tuple[Bench, ...] = (
    _host_bench("host_axi", "axi_lite", WAITING, "AXI4-Lite bridge whose accesses wait, with stalls on all sides"),
    _host_bench("host_axi_error", "axi_lite", REFUSING, "AXI4-Lite bridge that refuses what would wait, 64 bits"),
    _host_bench("host_wishbone", "wishbone", WAITING, "Wishbone bridge whose accesses wait"),
    _host_bench("host_wishbone_error", "wishbone", REFUSING, "Wishbone bridge that refuses what would wait, 64 bits"),
    _host_bench("host_streams", "streams", WAITING, "AXI4-Streams at interface registers, with stalls on all sides"),
)
