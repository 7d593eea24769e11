"""Bridges from buses to the processor ports of NuMesh nodes, for hosts that are no processor of ours."""

from .axi_lite import AxiLiteBridge
from .shape import HostShape, HostShapeError
from .wishbone import WishboneBridge

__all__ = ["AxiLiteBridge", "HostShape", "HostShapeError", "WishboneBridge"]
