"""Topologies, subsets and faults."""

from .topology import Link, Topology, graph, mesh, parse_size, torus

__all__ = ["Link", "Topology", "graph", "mesh", "parse_size", "torus"]
