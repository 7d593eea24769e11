"""Cycles through all nodes of a subset."""

from __future__ import annotations

from functools import lru_cache

from pointsman.artifacts.routes.file import make_problem
from pointsman.network import Topology
from pointsman.routing.collectives.cycles import cycle_through


@lru_cache(maxsize=64)
def cycle_of(nodes: tuple[int, ...], topology: Topology) -> tuple[int, ...]:
    """The longest cycle of links that is found within ``nodes``, in order; empty if there is none. Its length does not depend on
    the order of ``nodes``, which says only where it begins."""
    inside = set(nodes)
    found = cycle_through(make_problem(topology, [], dead_nodes=set(range(topology.nodes)) - inside))
    if not found:
        return ()
    first = found.index(next(node for node in nodes if node in found))
    return (*found[first:], *found[:first])
