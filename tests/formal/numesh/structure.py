"""What the netlist shows: no path of gates crosses a node."""

from __future__ import annotations

from pathlib import Path

from cosim.formal.paths import paths
from numesh.emit import NODE_MODULE, node_verilog
from numesh.shape import NodeShape


def no_path(shape: NodeShape, folder: Path) -> list[str]:
    """No output of a node depends in the same cycle on any of its inputs, of links or of the processor."""
    return paths(node_verilog(shape), NODE_MODULE, folder)
