"""Resources that each connection occupies: its source, its destination and the directed links of its path (``way``).

Resources have numbers: sending ports 0..N-1, receiving ports N..2N-1, then directed links. Two connections exclude each other
when they occupy the same resource, so the largest *load* of a resource is a lower bound of the degree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from pointsman.artifacts.configurations.configurations import ConfigurationBound, ConnectionProblem, Network
from pointsman.network import Topology
from pointsman.network.dimension_order import shortest_ways, turning_ways, way

MORE_WAYS = 4
"""Most paths with three legs for each connection, besides those in dimension orders, with free routing."""


@dataclass(frozen=True)
class Conflicts:
    """Resources of the paths of every connection.

    ``rows[first[w] : first[w + 1]]`` are the resources of path w; connection i has the paths ``ways[i]`` … ``ways[i + 1] - 1``,
    that in dimension order (x first) before the others. ``nodes[w]`` are the nodes of path w.
    """

    problem: ConnectionProblem
    resources: int
    ways: np.ndarray
    first: np.ndarray
    rows: np.ndarray
    nodes: tuple[tuple[int, ...], ...]

    @property
    def connections(self) -> int:
        return len(self.ways) - 1

    @cached_property
    def links(self) -> tuple[tuple[int, int], ...]:
        return directed_links(self.problem.network)

    def resources_of(self, way_index: int) -> np.ndarray:
        return self.rows[self.first[way_index] : self.first[way_index + 1]]

    def loads(self, chosen: np.ndarray | None = None) -> np.ndarray:
        """Number of connections on every resource when each takes its ``chosen`` path (by default its first)."""
        chosen = self.ways[:-1] if chosen is None else chosen
        load = np.zeros(self.resources, np.int64)
        for index in chosen.tolist():
            load[self.resources_of(index)] += 1
        return load

    def name(self, resource: int) -> str:
        nodes = self.problem.network.nodes
        if resource < nodes:
            return f"the sender of node {resource}"
        if resource < 2 * nodes:
            return f"the receiver of node {resource - nodes}"
        u, v = self.links[resource - 2 * nodes]
        return f"the link {u} -> {v}"


def conflicts_of(problem: ConnectionProblem) -> Conflicts:
    """The table of a problem; with free routing a connection has several paths."""
    nodes = problem.network.nodes
    number = {pair: 2 * nodes + index for index, pair in enumerate(directed_links(problem.network))}
    ways, first, rows, paths = [0], [0], [], []
    for source, destination in problem.connections:
        for path in _ways(problem, source, destination):
            rows += [source, nodes + destination]
            if problem.network.kind != "crossbar":
                rows += [number[pair] for pair in pairwise(path)]
            first.append(len(rows))
            paths.append(path)
        ways.append(len(paths))
    return Conflicts(
        problem,
        2 * nodes + len(number),
        np.array(ways, np.int64),
        np.array(first, np.int64),
        np.array(rows, np.int64),
        tuple(paths),
    )


@lru_cache(maxsize=8)
def directed_links(network: Network) -> tuple[tuple[int, int], ...]:
    """Ordered pairs of neighbours, ascending. A ring of two nodes has a single link in each direction."""
    if network.kind == "crossbar":
        return ()
    pairs = {(link.node, link.other) for link in network.topology.links}
    return tuple(sorted(pairs | {(v, u) for u, v in pairs}))


def load_bound(conflicts: Conflicts) -> ConfigurationBound:
    """The load of the busiest resource when every connection takes its first path."""
    load = conflicts.loads()
    if not len(load) or not load.max():
        return ConfigurationBound(0, "load", "there are no connections")
    most = int(load.argmax())
    return ConfigurationBound(int(load[most]), "load", f"{conflicts.name(most)} has {load[most]} connections")


def _ways(problem: ConnectionProblem, source: int, destination: int) -> Sequence[tuple[int, ...]]:
    if problem.network.kind == "crossbar":
        return ((source, destination),)
    if problem.routing == "xy":
        return (_way(problem.network.topology, source, destination),)
    return _free_ways(problem.network.topology, source, destination)


@lru_cache(maxsize=1 << 16)
def _way(topology: Topology, source: int, destination: int) -> tuple[int, ...]:
    return way(topology, source, destination)


@lru_cache(maxsize=1 << 16)
def _free_ways(topology: Topology, source: int, destination: int) -> tuple[tuple[int, ...], ...]:
    return (
        *shortest_ways(topology, source, destination),
        *turning_ways(topology, source, destination, MORE_WAYS),
    )
