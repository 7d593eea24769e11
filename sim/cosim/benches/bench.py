"""A bench as an entry of the catalogue, and the design that it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointsman.network import Topology, mesh

FOUR_NODES: Topology = mesh(2, 2)
"""The network of the compiled programs (``programs``)."""


@dataclass(frozen=True)
class Design:
    """A design for Verilator to compile.

    Parameters
    ----------
    name : str
        Name of the executable.
    top : str
        Top module.
    verilog : callable
        Gives the Verilog text.
    visible : tuple of str
        Modules, besides the top, whose ports the bench reads.
    """

    name: str
    top: str
    verilog: Callable[[], str]
    visible: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bench:
    """A test bench.

    Parameters
    ----------
    name : str
        Its name on the command line.
    module : str
        Python module with the cocotb test, below ``cosim.benches``: ``numesh.schedule``.
    shape : NodeShape or SwitchShape
        Sizes of the nodes, or of the switch.
    design : Design
        Design that it runs.
    about : str
        Property that it shows, in a few words.
    prepare : callable or None
        Makes files that it needs in a folder.
    topology : Topology or None
        Topology of the mesh, if the bench runs a mesh.
    """

    name: str
    module: str
    shape: Any
    design: Design
    about: str
    prepare: Callable[[Path], None] | None = None
    topology: Topology | None = None


def converted(component: Callable[[Any], Any], shape: Any, top: str) -> str:
    """The Verilog of a component of this shape. Amaranth is only imported when it is asked for."""
    from emission import component_verilog

    return component_verilog(component(shape), top)
