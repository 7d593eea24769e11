"""The optical network: its directed links, a sender and a receiver at each node, and the ways between nodes.

What a connection occupies has a number, a *resource*: senders 0 … N-1, receivers N … 2N-1, then directed links. A sender or a
receiver is the link between a node and its switch, and carries one connection per channel as every other link does (Yuan 1998,
§2.1 and Chapter 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.kernels import kernel
from pointsman.network import Topology

MOST_NODES = 1024
"""Nodes of a network at most: tables have an entry for each pair."""
ROUTINGS = ("xy", "adaptive")


@dataclass(frozen=True)
class Fabric:
    """A network with its ways.

    Parameters
    ----------
    topology : Topology
    links : tuple of (int, int)
        Directed links, ascending; nodes that are joined twice have a single link in each direction.
    next_link : array, int32 [ways, nodes, nodes]
        For each way, node and destination the link to take, -1 at the destination. With "adaptive" routing there are several
        ways: all orders of dimensions, or the two extremes of the shortest ways through a graph.
    """

    topology: Topology
    links: tuple[tuple[int, int], ...]
    next_link: np.ndarray

    @property
    def nodes(self) -> int:
        return self.topology.nodes

    @property
    def resources(self) -> int:
        return 2 * self.nodes + len(self.links)

    def way(self, source: int, destination: int, number: int = 0) -> tuple[int, ...]:
        """Nodes of a way, both ends included."""
        nodes = [source]
        while nodes[-1] != destination:
            nodes.append(self.links[self.next_link[number, nodes[-1], destination]][1])
        return tuple(nodes)

    def longest(self) -> int:
        """Links of the longest way."""
        return int(_longest(self.next_link, np.array([end for _, end in self.links], np.int32)))

    def hops(self) -> np.ndarray:
        """Links between all pairs of nodes on their first way, int32 [nodes, nodes]."""
        return np.asarray(_hops(self.next_link, np.array([end for _, end in self.links], np.int32)))

    def loads(self, sources: np.ndarray, destinations: np.ndarray, packets: np.ndarray) -> np.ndarray:
        """Packets on each resource if all take their first way, int64 [resources]."""
        found = np.zeros(self.resources, np.int64)
        np.add.at(found, sources, packets)
        np.add.at(found, self.nodes + destinations, packets)
        ends = np.array([end for _, end in self.links])
        at = sources.copy()
        while len(going := np.flatnonzero(at != destinations)):
            link = self.next_link[0, at[going], destinations[going]]
            np.add.at(found, 2 * self.nodes + link, packets[going])
            at[going] = ends[link]
        return found


def fabric(topology: Topology, routing: str = "xy") -> Fabric:
    """A fabric on any network that is connected.

    "xy": dimension order, odd-even half way round a ring (``network.dimension_order``), and on a graph the shortest way by
    neighbours of low numbers. "adaptive": a choice of shortest ways.

    Raises
    ------
    PointsmanError
        If the network is too large, has a single node, or is not connected.
    """
    if routing not in ROUTINGS:
        raise PointsmanError(f"routing: there is no routing '{routing}'", hint=f"known are {', '.join(ROUTINGS)}")
    if not 2 <= topology.nodes <= MOST_NODES:
        raise PointsmanError(f"network: there must be 2 to {MOST_NODES} nodes, not {topology.nodes}")
    pairs = {(link.node, link.other) for link in topology.links}
    links = tuple(sorted(pairs | {(v, u) for u, v in pairs}))
    number = np.full((topology.nodes, topology.nodes), -1, np.int32)
    for index, (u, v) in enumerate(links):
        number[u, v] = index
    if topology.regular:
        orders = [tuple(range(len(topology.size)))]
        if routing == "adaptive":
            orders = list(permutations(orders[0]))
        tables = [_dimension_order(topology, order, number) for order in orders]
    else:
        ends = np.array(links, np.int32).reshape(-1, 2)
        tables = [_shortest(topology.nodes, ends, number)]
        if routing == "adaptive":
            tables.append(_shortest(topology.nodes, ends[::-1].copy(), number))
        if (tables[0] < 0).sum() > topology.nodes:
            u, v = next((int(u), int(v)) for u, v in np.argwhere(tables[0] < 0) if u != v)
            raise PointsmanError(f"network: it must be connected, and there is no way from node {u} to node {v}")
    return Fabric(topology, links, np.stack(tables))


def _dimension_order(topology: Topology, order: tuple[int, ...], number: np.ndarray) -> np.ndarray:
    """Next links when dimensions are crossed in this order. Where both ways round a ring are equally long, the node is the one
    where the connection enters the dimension, so its own coordinate is the source's."""
    nodes = topology.nodes
    place = np.array([topology.coordinates(node) for node in range(nodes)], np.int32)
    follower = np.full((nodes, nodes), -1, np.int32)
    for axis in reversed(order):  # the first dimension in which there is a way to go has the last word
        extent = topology.size[axis]
        stride = int(np.prod(topology.size[:axis]))
        at, end = place[:, axis][:, None], place[:, axis][None, :]
        if topology.kind == "mesh":
            up = end > at
        else:
            ahead = (end - at) % extent
            behind = (at - end) % extent
            up = (ahead < behind) | ((ahead == behind) & (at % 2 == 0))
        there = np.where(up, (at + 1) % extent, (at - 1) % extent)
        node = np.arange(nodes, dtype=np.int32)[:, None] + (there - at) * stride
        follower = np.where(at != end, node, follower)
    table = np.full((nodes, nodes), -1, np.int32)
    u, v = np.nonzero(follower >= 0)
    table[u, v] = number[u, follower[u, v]]
    return table


@kernel
def _shortest(nodes: int, links: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Next links on shortest ways of a graph: of the neighbours that are nearer, the one whose link stands first."""
    table = np.full((nodes, nodes), -1, np.int32)
    away = np.empty(nodes, np.int32)
    queue = np.empty(nodes, np.int32)
    first = np.zeros(nodes + 1, np.int32)
    for link in range(len(links)):
        first[links[link, 0] + 1] += 1
    for node in range(nodes):
        first[node + 1] += first[node]
    place = first.copy()
    out = np.empty(len(links), np.int32)
    for link in range(len(links)):
        node = links[link, 0]
        out[place[node]] = links[link, 1]
        place[node] += 1
    for end in range(nodes):
        away[:] = -1
        away[end] = 0
        queue[0] = end
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for at in range(first[node], first[node + 1]):
                if away[out[at]] < 0:
                    away[out[at]] = away[node] + 1
                    queue[tail] = out[at]
                    tail += 1
        for node in range(nodes):
            if away[node] > 0:
                for at in range(first[node], first[node + 1]):
                    if away[out[at]] == away[node] - 1:
                        table[node, end] = number[node, out[at]]
                        break
    return table


@kernel
def _hops(next_link: np.ndarray, link_end: np.ndarray) -> np.ndarray:
    nodes = next_link.shape[1]
    hops = np.zeros((nodes, nodes), np.int32)
    for u in range(nodes):
        for v in range(nodes):
            node = u
            while node != v:
                node = link_end[next_link[0, node, v]]
                hops[u, v] += 1
    return hops


@kernel
def _longest(next_link: np.ndarray, link_end: np.ndarray) -> int:
    longest = 0
    for way in range(next_link.shape[0]):
        for u in range(next_link.shape[1]):
            for v in range(next_link.shape[1]):
                node, hops = u, 0
                while node != v:
                    node = link_end[next_link[way, node, v]]
                    hops += 1
                longest = max(longest, hops)
    return longest
