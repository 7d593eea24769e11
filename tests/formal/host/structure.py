"""Paths that must not be in the netlist."""

from __future__ import annotations

from pathlib import Path

from cosim.formal.paths import paths
from host.emit import MODULE, bridge_verilog
from host.shape import HostShape

_BUS = ("s_axil_", "wbs_")


def no_path(shape: HostShape, folder: Path) -> list[str]:
    """No output of the bus depends in the same cycle on an input of the bus (AMBA AXI, A3.1.1), on AXI4-Lite and on Wishbone."""
    found = []
    for bus in ("axi4-lite", "wishbone"):
        for path in paths(bridge_verilog(shape, bus), MODULE, folder / bus):
            if all(end.startswith(_BUS) for end in path.split(" -> ")):
                found.append(f"{bus}: {path}")
    return found
