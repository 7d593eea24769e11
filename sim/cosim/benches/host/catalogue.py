"""The benches of the bridges, with their designs."""

from __future__ import annotations

from functools import partial

from cosim.benches.bench import Bench, Design
from host.shape import HostShape

WAITING = HostShape(nodes=3, registers=5)
REFUSING = HostShape(nodes=2, registers=40, width=64, blocked="error")


def _rig(bus: str, shape: HostShape) -> str:
    from cosim.benches.host.rig import Rig
    from emission import component_verilog
    from host import AxiLiteBridge, WishboneBridge

    kind = {"axi_lite": AxiLiteBridge, "wishbone": WishboneBridge}[bus]
    return component_verilog(Rig(kind, shape), "bench_host")


def _host_bench(name: str, bus: str, shape: HostShape, about: str) -> Bench:
    return Bench(name, f"host.{bus}", shape, Design(name, "bench_host", partial(_rig, bus, shape)), about)


BENCHES: tuple[Bench, ...] = (
    _host_bench("host_axi", "axi_lite", WAITING, "AXI4-Lite bridge whose accesses wait, with stalls on all sides"),
    _host_bench("host_axi_error", "axi_lite", REFUSING, "AXI4-Lite bridge that refuses what would wait, 64 bits"),
    _host_bench("host_wishbone", "wishbone", WAITING, "Wishbone bridge whose accesses wait"),
    _host_bench("host_wishbone_error", "wishbone", REFUSING, "Wishbone bridge that refuses what would wait, 64 bits"),
)
