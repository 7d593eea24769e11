"""Graphs of networkx as networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.errors import PointsmanError

from .topology import MAX_NODES, Topology, graph

if TYPE_CHECKING:
    import networkx


def from_networkx(network: networkx.Graph) -> Topology:
    """A network with a link for every edge of an undirected graph.

    Nodes that are the integers 0, 1, … keep their numbers; others are numbered in the order in which the graph has
    them (``list(network.nodes)``). Ports are given out in the order of the neighbours' numbers, so that equal graphs
    make equal networks. Attributes of nodes and edges are ignored.

    Raises
    ------
    PointsmanError
        If ``network`` is no simple undirected graph, or has too many nodes.
    """
    import networkx

    if not isinstance(network, networkx.Graph):
        raise PointsmanError(f"a network must be a Topology or a networkx.Graph, not {type(network).__name__}")
    if network.is_directed() or network.is_multigraph():
        raise PointsmanError(f"a network must be an undirected simple graph, not a {type(network).__name__}")
    names = list(network.nodes)
    if not 1 <= len(names) <= MAX_NODES:
        raise PointsmanError(f"a network must have 1 to {MAX_NODES} nodes, not {len(names)}")
    if all(type(name) is int for name in names) and sorted(names) == list(range(len(names))):
        names.sort()
    number = {name: place for place, name in enumerate(names)}
    edges = sorted(tuple(sorted((number[u], number[v]))) for u, v in network.edges)
    return graph(len(names), [(u, v) for u, v in edges])
