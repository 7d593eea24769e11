"""Networks: nodes, numbered links and ports; meshes, tori, lattices, any graph; and ways in dimension order.

Start with ``topology``.
"""

from .from_networkx import from_networkx
from .topology import Link, Topology, graph, mesh, parse_size, torus

__all__ = ["Link", "Topology", "from_networkx", "graph", "mesh", "parse_size", "torus"]
