"""All-to-all on rings, arrays, tori and meshes as configurations (Yuan 1998, §4.1.2 and §5.4.3).

On a ring of N nodes, N a multiple of 4 and at least 8, N²/8 configurations are enough, the least that the links permit. In
each, four connections (arcs) of lengths l, N/2 - l, l, N/2 - l close the ring clockwise, four others anticlockwise, and no node
is an end of both kinds. Each node's connection to itself goes into a configuration that does not use the node. A ring
configuration for the rows and another for the columns make a configuration of a torus: a connection takes the x links of its
row's connection, and the y links of the column where it turns. So an 8×8 torus takes 64 configurations, which is optimal
(N³/8). Larger square tori are in ``square_torus``."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, product

import numpy as np

from pointsman.artifacts.configurations.configurations import ConfigurationBound, Connection, ConnectionProblem, Network
from pointsman.connections.conflicts import Conflicts, directed_links
from pointsman.network import mesh, torus
from pointsman.network.dimension_order import way

from .dsatur import dsatur
from .square_torus import square_all_to_all, suits
from .tabu import place_all, without_last


def ring_configurations(nodes: int) -> list[list[Connection]]:
    """Configurations of all pairs of a ring, including each node with itself; of pairs half-way round, even nodes send one way
    and odd nodes the other. Optimal (N²/8) for multiples of 4 from 8 on; else near the bound.
    """
    if nodes < 8 or nodes % 4:
        return _packed("torus", nodes)
    half, quarter = nodes // 2, nodes // 4
    configurations: list[list[Connection]] = []
    for length in range(1, quarter):
        turn = next(t for t in range(1, half) if t % half not in (length, half - length))
        for start in range(half):
            configurations.append(_arcs(nodes, start, length, 1) + _arcs(nodes, (start + turn) % half, length, -1))
    for start in range(quarter):
        configurations.append(_arcs(nodes, start, quarter, 1) + _arcs(nodes, (start + 1) % quarter, quarter, -1))
    for start in range(0, half, 2):
        configurations.append(
            [(start, start + half), (start + half, start), (start + 1, start + 1 + half), (start + 1 + half, start + 1)]
        )
    _add_idle(configurations, nodes)
    return configurations


def array_configurations(nodes: int) -> list[list[Connection]]:
    """Configurations of all pairs of a linear array, including each node with itself."""
    return _packed("mesh", nodes)


@lru_cache(maxsize=8)
def all_to_all(network: Network) -> tuple[tuple[Connection, ...], ...]:
    """Configurations of all pairs of nodes of a network, xy-routed; on a crossbar, a configuration for each cyclic distance."""
    if network.kind == "crossbar":
        ports = network.nodes
        return tuple(tuple((u, (u + turn) % ports) for u in range(ports)) for turn in range(ports))
    if network.kind == "torus" and suits(network.size) and network.size[0] > 8:
        return tuple(map(tuple, square_all_to_all(network.size[0])))
    lines = [
        ring_configurations(extent) if network.kind == "torus" else array_configurations(extent)
        for extent in network.size
    ]
    answer = []
    for chosen in product(*lines):
        pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
        for part in chosen:
            pairs = [((*a, s), (*b, d)) for a, b in pairs for s, d in part]
        node_at = network.topology.node_at
        answer.append(tuple((node_at(*a), node_at(*b)) for a, b in pairs))
    return tuple(answer)


@lru_cache(maxsize=8)
def configuration_of_pairs(network: Network) -> dict[Connection, int]:
    """For each pair of nodes the number of its configuration in ``all_to_all``."""
    return {pair: number for number, pairs in enumerate(all_to_all(network)) for pair in pairs}


def all_to_all_bound(network: Network) -> ConfigurationBound:
    """Least configurations for all pairs of different nodes, with any routing: by ports, or by the links across a middle cut."""
    nodes = network.nodes
    best = ConfigurationBound(nodes - 1, "ports", f"every node sends to {nodes - 1} others")
    if network.kind == "crossbar":
        return best
    for axis, extent in enumerate(network.size):
        low = extent // 2
        across = nodes // extent * low * (nodes // extent) * (extent - low)
        if low:
            ways = nodes // extent * (2 if network.kind == "torus" and extent > 2 else 1)
            need = -(-across // ways)
            if need > best.value:
                best = ConfigurationBound(
                    need, "cut", f"{across} connections cross the middle of {'xyz'[axis]} by {ways} links"
                )
    return best


def _arcs(nodes: int, start: int, length: int, direction: int) -> list[Connection]:
    """Four connections that close the ring in ``direction``: from ``start``, of lengths l, N/2 - l, l, N/2 - l."""
    half = nodes // 2
    corners = [start, start + length, start + half, start + half + length]
    pairs = [(corners[k] % nodes, corners[(k + 1) % 4] % nodes) for k in range(4)]
    return pairs if direction > 0 else [(d, s) for s, d in pairs]


def _add_idle(configurations: list[list[Connection]], nodes: int) -> None:
    """Add each node's pair with itself to the first configuration in which the node neither sends nor receives."""
    for node in range(nodes):
        for configuration in configurations:
            if all(node not in pair for pair in configuration):
                configuration.append((node, node))
                break
        else:
            configurations.append([(node, node)])


@lru_cache(maxsize=64)
def _packed_cached(kind: str, nodes: int) -> tuple[tuple[Connection, ...], ...]:
    """All pairs by saturation and a short tabu search; a node's pair with itself occupies its ports only."""
    topology = (torus if kind == "torus" else mesh)(nodes)
    pairs = [(s, d) for s in range(nodes) for d in range(nodes)]
    paths = tuple(way(topology, s, d) for s, d in pairs)
    network = Network("torus" if kind == "torus" else "mesh", (nodes,))
    number = {pair: 2 * nodes + index for index, pair in enumerate(directed_links(network))}
    rows = [[p[0], nodes + p[-1], *(number[hop] for hop in pairwise(p))] for p in paths]
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    flat = np.array([resource for row in rows for resource in row], np.int64)
    ways = np.arange(len(pairs) + 1, dtype=np.int64)
    table = Conflicts(ConnectionProblem(network, ()), 2 * nodes + len(number), ways, first, flat, paths)
    colours, chosen = dsatur(table), ways[:-1].copy()
    while (count := int(colours.max()) + 1) > table.loads().max():
        trial = without_last(colours, table, chosen, count - 1)
        if not place_all(table, trial, chosen, count - 1, 20_000, 0):
            break
        colours = trial
    answer: list[list[Connection]] = [[] for _ in range(int(colours.max()) + 1)]
    for pair, colour in zip(pairs, colours.tolist(), strict=True):
        answer[colour].append(pair)
    return tuple(map(tuple, answer))


def _packed(kind: str, nodes: int) -> list[list[Connection]]:
    return [list(configuration) for configuration in _packed_cached(kind, nodes)]
