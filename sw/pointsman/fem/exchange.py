"""From a mesh to an exchange of halos on a network: parts, halo, placement, phases; and its COP program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pointsman.artifacts.channels.channels import ChannelCosts, ChannelProblem, Demand, PhasedConnections
from pointsman.network import Topology

from .halo import Halo, halo_of
from .mesh import ElementMesh
from .partition import partition
from .placement import placed

WORDS = 2
"""Words of 32 bits that a value takes."""


@dataclass(frozen=True, eq=False)
class HaloExchange:
    """Parts of a mesh on a network, and the connections of their exchange.

    Parameters
    ----------
    node_of : array [part] of int
        The network node of each part.
    problem : ChannelProblem
        A connection for each ordered pair of parts that have mesh nodes in common; ``pairs`` has the parts.
    before, after : int
        Words times links with the parts in order, and as they are placed.
    """

    mesh: ElementMesh
    topology: Topology
    part_of: np.ndarray
    halo: Halo
    node_of: np.ndarray
    problem: ChannelProblem
    pairs: tuple[tuple[int, int], ...]
    before: int
    after: int

    def part_on(self, node: int) -> int | None:
        """The part on a network node; None if it has none."""
        found = np.flatnonzero(self.node_of == node)
        return int(found[0]) if len(found) else None


def exchange_of(
    mesh: ElementMesh,
    parts: int,
    topology: Topology,
    *,
    channels: int = 12,
    words: int = 1,
    method: str = "metis",
    costs: ChannelCosts | None = None,
    seed: int = 0,
) -> HaloExchange:
    """Cut a mesh into parts and place them; ``words`` is what a value of a mesh node takes.

    Raises
    ------
    PointsmanError
        If the parts are too many for the mesh or the network, or one is empty.
    """
    if parts > len(topology.working):
        placed(np.zeros((parts, parts), np.int64), topology)
    part_of = partition(mesh, parts, method)
    halo = halo_of(mesh, part_of)
    matrix = halo.words()
    node_of, before, after = placed(matrix, topology, seed)
    pairs = tuple((u, v) for u in range(parts) for v in range(parts) if matrix[u, v])
    demands = tuple(Demand(int(node_of[u]), int(node_of[v]), int(matrix[u, v]) * words) for u, v in pairs)
    used = costs if costs is not None else ChannelCosts(access=10, duplex=False)
    problem = ChannelProblem(topology, channels, demands, costs=used)
    return HaloExchange(mesh, topology, part_of, halo, node_of, problem, pairs, before, after)


def label(connection: int) -> str:
    """Label of a connection's stream in COP."""
    return f"h{connection}"


def cop_text(answer: PhasedConnections, rounds: int, *, sums: tuple[str, ...] = ()) -> str:
    """The exchange as COP: a phase of streams of 64-bit numbers for each phase of connections, ``rounds`` times; in each round
    also sums over all nodes, by their labels."""
    if not answer.phases and not sums:
        return "; A mesh in one part: there is nothing to exchange.\n"
    lines = ["; Halos of a mesh: a phase of streams for each phase of connections.", f"(loop 'rounds {rounds}"]
    for routes in answer.phases:
        demands = [(route.connection, answer.problem.connections[route.connection]) for route in routes]
        streams = [
            f"    (stream '{label(c)} {one.source} {one.destination} :type float64* :m {one.words})"
            for c, one in demands
        ]
        lines += ["  (phase (parallel", *streams, "  ))"]
    lines += [f"  (allreduce '{name} 'add :type float64)" for name in sums]
    return "\n".join(lines) + ")\n"


def calls_of(answer: PhasedConnections, node: int) -> list[list[tuple[int, bool]]]:
    """For each phase the connections that a node uses, in the order of the timetables, and whether it is the source.

    With timetables that let a processor do one thing at a time this order never makes two nodes wait for each other.
    """
    demands = answer.problem.connections
    found = []
    for routes in answer.phases:
        mine = [
            (route.start, route.connection, demands[route.connection].source == node)
            for route in routes
            if node in (demands[route.connection].source, demands[route.connection].destination)
        ]
        found.append([(connection, sends) for _, connection, sends in sorted(mine)])
    return found
