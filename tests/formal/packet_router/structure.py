"""Paths that must not be in the netlist."""

from __future__ import annotations

from pathlib import Path

from cosim.formal.paths import paths
from packet_router.emit import NODE_MODULE, node_verilog
from packet_router.shape import RouterShape


def no_path(shape: RouterShape, folder: Path) -> list[str]:
    """No output of a node depends on an input in the same cycle: nodes can be simulated one by one, and clocks add up nowhere."""
    return paths(node_verilog(shape), NODE_MODULE, folder)
