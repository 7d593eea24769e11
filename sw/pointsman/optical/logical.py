"""Logical topologies: connections that stay, over which packets hop, with a channel and a path for each (Yuan 1998, §4.1).

*torus*: every node with its neighbours. *hypercube*: nodes whose numbers differ in one bit. *allxy*: all nodes of the same row or
column. *all-to-all*: everyone with everyone. *Links of the user's own*: any graph that leads from every node to every other. A
packet goes in dimension order, on a hypercube the lowest bit first, on links of the user's own the shortest way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pointsman.artifacts.configurations.configurations import (
    Configurations,
    Connection,
    ConnectionProblem,
    Kind,
    Network,
)
from pointsman.connections import configure
from pointsman.connections.algorithms.all_to_all import all_to_all
from pointsman.connections.algorithms.dsatur import dsatur
from pointsman.connections.algorithms.hypercube import assign_hypercube, hypercube
from pointsman.connections.algorithms.square_torus import square_rows_and_columns, suits
from pointsman.connections.conflicts import Conflicts
from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .fabric import Fabric

LOGICAL = ("torus", "hypercube", "allxy", "all-to-all")
MOST_ALL_TO_ALL = 256
"""Most nodes of an all-to-all or of rows and columns that are assigned by search."""

_STRIDE = 3
"""Neighbouring configurations of the all-to-all are so many slots apart, and the first slot is a quarter of a frame away. Any
order will do. This one was chosen among strides so that GS and TSCF of Table 6.2 take as long as printed on 8×8; P3M 2 and 3 and
TOMCATV (Tables 6.2 and 6.6) then do, too (``docs/optical.md``)."""


@dataclass(frozen=True)
class Logical:
    """A logical topology on a fabric.

    Parameters
    ----------
    name : str
    fabric : Fabric
    paths : tuple of (int, int)
        Its connections, from where to where.
    slots : array, int64
        Channel of each connection.
    bound : int
        Channels that are needed at least: ports, and links on the ways that connections take.
    next_path : array, int32 [nodes, nodes]
        For each node and destination the connection to take, -1 at the destination.
    """

    name: str
    fabric: Fabric
    paths: tuple[Connection, ...]
    slots: np.ndarray
    bound: int
    next_path: np.ndarray

    @property
    def degree(self) -> int:
        """Channels of a link: slots of a frame."""
        return int(self.slots.max()) + 1

    def route(self, source: int, destination: int) -> tuple[int, ...]:
        """Nodes at which a packet is routed, both ends included."""
        nodes = [source]
        while nodes[-1] != destination:
            nodes.append(self.paths[self.next_path[nodes[-1], destination]][1])
        return tuple(nodes)

    def intermediate(self) -> float:
        """Mean number of intermediate nodes between different nodes (h)."""
        ends = np.array([end for _, end in self.paths])
        hops = np.zeros(self.next_path.shape)
        for destination in range(self.fabric.nodes):
            at = np.arange(self.fabric.nodes)
            while True:
                going = np.flatnonzero(at != destination)
                if not len(going):
                    break
                hops[going, destination] += 1
                at[going] = ends[self.next_path[at[going], destination]]
        return float(hops.sum()) / (self.fabric.nodes * (self.fabric.nodes - 1)) - 1

    def configurations(self) -> Configurations:
        """As the answer of ``pointsman configure``, to be judged; meshes and tori only."""
        topology = self.fabric.topology
        network = _network(topology)
        assert network is not None
        pairs: list[list[Connection]] = [[] for _ in range(self.degree)]
        for pair, slot in zip(self.paths, self.slots.tolist(), strict=True):
            pairs[slot].append(pair)
        ways = tuple(tuple(self.fabric.way(*pair) for pair in part) for part in pairs)
        return Configurations(ConnectionProblem(network, self.paths), tuple(map(tuple, pairs)), ways, self.name)


def logical(fabric: Fabric, name: str, links: Sequence[Connection] | None = None, *, seed: int = 0) -> Logical:
    """Assign a logical topology, by its name or by its ``links``, to the channels of a fabric.

    Raises
    ------
    PointsmanError
        If the fabric cannot have it, or the links do not lead from everywhere to everywhere.
    """
    if links is not None:
        paths = tuple(links)
        _check_links(paths, fabric.nodes)
        table = _shortest(paths, fabric.nodes)
        return _made("links", fabric, paths, assign(fabric, paths, seed=seed), table)
    if name not in LOGICAL:
        raise PointsmanError(
            f"logical: there is no topology '{name}'", hint=f"known are {', '.join(LOGICAL)}, or links"
        )
    topology = fabric.topology
    if name == "all-to-all":
        paths = tuple((u, v) for u in range(fabric.nodes) for v in range(fabric.nodes) if u != v)
        table = np.full((fabric.nodes, fabric.nodes), -1, np.int32)
        table[tuple(np.array(paths).T)] = np.arange(len(paths))
        return _made(name, fabric, paths, _all_pairs(fabric, paths, seed), table)
    if name == "hypercube":
        if fabric.nodes & (fabric.nodes - 1):
            raise PointsmanError(f"logical: a hypercube needs a power of two of nodes, not {fabric.nodes}")
        paths = tuple(hypercube(fabric.nodes.bit_length() - 1))
        nodes = np.arange(fabric.nodes)
        table = _table(paths, nodes[:, None] ^ (x := nodes[:, None] ^ nodes[None, :]) & -x)
        network = _network(topology)
        if network is None or len(topology.size) > 2 or any(side & (side - 1) for side in topology.size):
            return _made(name, fabric, paths, assign(fabric, paths, seed=seed), table)
        return _made(name, fabric, paths, _numbers(paths, assign_hypercube(network)), table)
    if not topology.regular or (name == "torus" and topology.kind != "torus"):
        raise PointsmanError(
            f"logical: {name} is for a {'torus' if name == 'torus' else 'mesh or torus'}, not for a {topology.described}"
        )
    if name == "torus":
        follower = np.where(
            fabric.next_link[0] >= 0, np.array([end for _, end in fabric.links])[fabric.next_link[0]], -1
        )
        np.fill_diagonal(follower, np.arange(fabric.nodes))
        return _made(name, fabric, fabric.links, _directions(topology, fabric.links), _table(fabric.links, follower))
    return _all_xy(fabric, seed)


def assign(fabric: Fabric, paths: Sequence[Connection], *, seed: int = 0) -> np.ndarray:
    """A channel for each connection: by ``connections.configure`` on meshes and tori, on graphs by saturation (dsatur)."""
    network = _network(fabric.topology)
    if network is None:
        return np.asarray(dsatur(_conflicts(fabric, paths)), np.int64)
    found = configure(ConnectionProblem(network, tuple(paths)), seed=seed)
    return _numbers(paths, found.configurations)


def _made(name: str, fabric: Fabric, paths: tuple[Connection, ...], slots: np.ndarray, table: np.ndarray) -> Logical:
    if len(fabric.next_link) > 1:  # packets take the first way of several
        fabric = Fabric(fabric.topology, fabric.links, fabric.next_link[:1])
    ends = np.array(paths, np.int64).reshape(-1, 2)
    bound = int(fabric.loads(ends[:, 0], ends[:, 1], np.ones(len(ends), np.int64)).max(initial=0))
    return Logical(name, fabric, paths, np.asarray(slots, np.int64), bound, table.astype(np.int32))


def _all_pairs(fabric: Fabric, paths: tuple[Connection, ...], seed: int) -> np.ndarray:
    network = _network(fabric.topology)
    if network is not None and (fabric.nodes > MOST_ALL_TO_ALL or (network.kind == "torus" and suits(network.size))):
        slots = _numbers(paths, all_to_all(network))
        degree = int(slots.max()) + 1
        return (_STRIDE * slots + degree // 4) % degree if degree % _STRIDE else slots
    return assign(fabric, paths, seed=seed)


def _all_xy(fabric: Fabric, seed: int) -> Logical:
    topology = fabric.topology
    places = np.array([topology.coordinates(node) for node in range(fabric.nodes)])
    same = places[:, None, :] == places[None, :, :]
    paths: tuple[Connection, ...] = tuple((int(u), int(v)) for u, v in np.argwhere((~same).sum(axis=2) == 1))
    # The node with the destination's first coordinate that is not the packet's yet, and else the packet's own.
    first = np.argmin(same, axis=2)
    strides = np.concatenate([[1], np.cumprod(topology.size)[:-1]])
    u, v = np.indices(first.shape)
    follower = u + (places[v, first] - places[u, first]) * strides[first]
    side = topology.size[0]
    found: np.ndarray | None = None
    if topology.kind == "torus" and suits(topology.size):
        lines = square_rows_and_columns(side)
        if len(lines) <= max(2 * side - 2, -(-side * side // 8)) or fabric.nodes > MOST_ALL_TO_ALL:
            found = _numbers(paths, lines)
    if found is None:
        found = assign(fabric, paths, seed=seed)
    return _made("allxy", fabric, paths, found, _table(paths, follower))


def _directions(topology: Topology, links: Sequence[Connection]) -> np.ndarray:
    """A channel for each direction of each dimension: up, down, left and right on a torus of two dimensions."""
    kinds = []
    for u, v in links:
        axis, step = next(
            (axis, (b - a) % extent == 1)
            for axis, (a, b, extent) in enumerate(
                zip(topology.coordinates(u), topology.coordinates(v), topology.size, strict=True)
            )
            if a != b
        )
        kinds.append(2 * axis + (0 if topology.size[axis] == 2 else int(step)))
    return np.asarray(np.unique(kinds, return_inverse=True)[1], np.int64)


def _table(paths: Sequence[Connection], follower: np.ndarray) -> np.ndarray:
    """Next paths from next nodes."""
    nodes = len(follower)
    number = np.full((nodes, nodes), -1, np.int32)
    number[tuple(np.array(paths).T)] = np.arange(len(paths))
    return number[np.arange(nodes)[:, None], follower]


def _shortest(paths: Sequence[Connection], nodes: int) -> np.ndarray:
    """Next paths on shortest ways over the user's links, of equally short ones over the link that is named first."""
    into: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for index, (source, destination) in enumerate(paths):
        into[destination].append((source, index))
    table = np.full((nodes, nodes), -1, np.int32)
    for end in range(nodes):
        away = {end: 0}
        queue = [end]
        for node in queue:
            for source, index in into[node]:
                if source not in away:
                    away[source] = away[node] + 1
                    queue.append(source)
                    table[source, end] = index
                elif away[source] == away[node] + 1:
                    table[source, end] = min(table[source, end], index)
        if len(away) < nodes:
            missing = next(node for node in range(nodes) if node not in away)
            raise PointsmanError(f"logical.links: there is no way from node {missing} to node {end}")
    return table


def _check_links(paths: Sequence[Connection], nodes: int) -> None:
    seen = set()
    for index, (u, v) in enumerate(paths):
        place = f"logical.links[{index}]"
        for node in (u, v):
            if not 0 <= node < nodes:
                raise PointsmanError(f"{place}: a node must be one of 0..{nodes - 1}, not {node}")
        if u == v:
            raise PointsmanError(f"{place}: a link must join two nodes, not {u} and itself")
        if (u, v) in seen:
            raise PointsmanError(f"{place}: a link must be named once, and {u} -> {v} is named before")
        seen.add((u, v))


def _network(topology: Topology) -> Network | None:
    """The network as ``configure`` knows it; None for a graph."""
    if not topology.regular:
        return None
    kind: Kind = "torus" if topology.kind == "torus" else "mesh"
    return Network(kind, topology.size)


def _numbers(paths: Sequence[Connection], configurations: Sequence[Sequence[Connection]]) -> np.ndarray:
    """The configuration of each path; those that no path uses are left out."""
    number = {pair: index for index, pairs in enumerate(configurations) for pair in pairs}
    found = np.array([number[pair] for pair in paths], np.int64)
    return np.asarray(np.unique(found, return_inverse=True)[1], np.int64)


def _conflicts(fabric: Fabric, paths: Sequence[Connection]) -> Conflicts:
    """Resources of connections on the fabric's first ways."""
    number = {pair: 2 * fabric.nodes + index for index, pair in enumerate(fabric.links)}
    ways = [fabric.way(*pair) for pair in paths]
    rows = [[way[0], fabric.nodes + way[-1], *(number[hop] for hop in pairwise(way))] for way in ways]
    return Conflicts(
        ConnectionProblem(Network("crossbar", (fabric.nodes,)), tuple(paths)),
        fabric.resources,
        np.arange(len(rows) + 1, dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.array([resource for row in rows for resource in row], np.int64),
        tuple(ways),
    )
