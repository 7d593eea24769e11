"""Nodes and links. Nothing above this module knows a coordinate formula.

Node numbers run x fastest: node = x + X·(y + Y·z). A link joins a port of a node to a port of another and carries words
both ways; the ports of a mesh or torus are the neighbour codes of Metcalf 1997, Table 7.1 (-x, +x, -y, +y, -z, +z).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from numbers import Integral

from pointsman.errors import PointsmanError

MAX_NODES = 4096


@dataclass(frozen=True, order=True)
class Link:
    """A link between ``port`` of ``node`` and ``other_port`` of ``other``."""

    node: int
    port: int
    other: int
    other_port: int


@dataclass(frozen=True)
class Topology:
    """A network: its kind, its size and its links.

    Parameters
    ----------
    kind : str
        "mesh", "torus", "diamond" or "graph".
    size : tuple of int
        Nodes in each dimension, x first; for a diamond lattice or a graph its number of nodes.
    links : tuple of Link
        Every link once.
    dead : frozenset of int
        Nodes that do not work: no link leads to them, and programs leave them out.
    """

    kind: str
    size: tuple[int, ...]
    links: tuple[Link, ...] = field(repr=False)
    dead: frozenset[int] = frozenset()

    @cached_property
    def nodes(self) -> int:
        return prod(self.size)

    @cached_property
    def ports(self) -> int:
        """Number of ports that a node must have: two per dimension, or the largest port number in use plus 1."""
        if self.kind in ("mesh", "torus"):
            return 2 * len(self.size)
        return 1 + max((max(link.port, link.other_port) for link in self.links), default=0)

    @property
    def has_coordinates(self) -> bool:
        """Is the network a mesh or torus, perhaps with faults?"""
        return self.kind in ("mesh", "torus")

    @cached_property
    def regular(self) -> bool:
        """Is the network a mesh or torus without faults, so that ways follow from coordinates?"""
        if not self.has_coordinates:
            return False
        # A ring of two nodes may have one link or two.
        lines = [
            prod(self.size) // extent * (extent if self.kind == "torus" and extent > 2 else extent - 1)
            for extent in self.size
        ]
        return len({frozenset((link.node, link.other)) for link in self.links}) == sum(lines)

    @property
    def described(self) -> str:
        """Size and kind for people, for example "4x4 mesh with faults", or "graph of 7 nodes"."""
        return self.named + " with faults" * (bool(self.dead) or (self.has_coordinates and not self.regular))

    @property
    def named(self) -> str:
        """As `described`, without a word of faults."""
        if len(self.size) == 1:
            return f"{self.kind} of {self} {'node' if self.nodes == 1 else 'nodes'}"
        return f"{self} {self.kind}"

    @cached_property
    def working(self) -> tuple[int, ...]:
        """Nodes that work, in order."""
        return tuple(node for node in range(self.nodes) if node not in self.dead)

    @cached_property
    def ranks(self) -> dict[int, int]:
        """By node that works, its number among those, as programs count them."""
        return {node: rank for rank, node in enumerate(self.working)}

    @cached_property
    def at_port(self) -> tuple[dict[int, tuple[int, int]], ...]:
        """For each node, a mapping from port to (node at the far end, its port)."""
        table: tuple[dict[int, tuple[int, int]], ...] = tuple({} for _ in range(self.nodes))
        for link in self.links:
            for node, port, other, other_port in (
                (link.node, link.port, link.other, link.other_port),
                (link.other, link.other_port, link.node, link.port),
            ):
                if port in table[node]:
                    raise PointsmanError(f"port {port} of node {node} is joined twice")
                table[node][port] = (other, other_port)
        return table

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.size, self.links, self.dead))

    def __hash__(self) -> int:
        # Networks with many links are keys of many caches.
        return self._hash

    def coordinates(self, node: int) -> tuple[int, ...]:
        """Coordinates of ``node``, x first."""
        return self._places[self.check_node(node)]

    def node_at(self, *position: int) -> int:
        """Node at these coordinates, x first."""
        if len(position) != len(self.size) or any(not 0 <= p < s for p, s in zip(position, self.size, strict=True)):
            raise PointsmanError(f"coordinates {position} are outside the {self} {self.kind}")
        node = 0
        for p, s in zip(reversed(position), reversed(self.size), strict=True):
            node = node * s + p
        return node

    def across(self, nodes: Iterable[int]) -> int:
        """Number of links between opposite corners of the smallest box around ``nodes``; where ways do not follow from
        coordinates, from the first of them to the farthest."""
        wanted = [self.check_node(node) for node in nodes]
        if not self.regular:
            away = self._hops_from(wanted[0])
            return max(away[node] for node in wanted)
        places = [self._places[node] for node in wanted]
        return sum(max(axis) - min(axis) for axis in zip(*places, strict=True))

    def _hops_from(self, start: int) -> tuple[int, ...]:
        """For each node, the links on a shortest way from ``start``; as many as there are nodes if there is no way."""
        known = self._hops
        if start not in known:
            found = [self.nodes] * self.nodes
            found[start] = 0
            queue = [start]
            for node in queue:
                for other, _ in self.at_port[node].values():
                    if found[other] > found[node] + 1:
                        found[other] = found[node] + 1
                        queue.append(other)
            known[start] = tuple(found)
        return known[start]

    @cached_property
    def _hops(self) -> dict[int, tuple[int, ...]]:
        return {}

    @cached_property
    def _places(self) -> list[tuple[int, ...]]:
        return [place[::-1] for place in product(*map(range, reversed(self.size)))]

    def check_node(self, node: int) -> int:
        """``node``, if the network has a node of this number; otherwise an error."""
        if not 0 <= node < self.nodes:
            raise PointsmanError(f"node {node} is outside the network (0..{self.nodes - 1})")
        return node

    def __str__(self) -> str:
        return "x".join(map(str, self.size))


def mesh(*size: int) -> Topology:
    """Cartesian mesh of one to three dimensions."""
    return _cartesian("mesh", size)


def torus(*size: int) -> Topology:
    """Mesh whose dimensions of two or more nodes are closed to rings."""
    return _cartesian("torus", size)


def graph(nodes: int, edges: Iterable[tuple[int, int]]) -> Topology:
    """Any undirected graph; ports are given out in the order of ``edges``."""
    if not 1 <= nodes <= MAX_NODES:
        raise PointsmanError(f"a network must have 1 to {MAX_NODES} nodes, not {nodes}")
    used = [0] * nodes
    links = []
    for u, v in edges:
        if not (0 <= u < nodes and 0 <= v < nodes) or u == v:
            raise PointsmanError(f"edge {u}-{v} must join two different nodes of 0..{nodes - 1}")
        links.append(Link(u, used[u], v, used[v]))
        used[u] += 1
        used[v] += 1
    return Topology("graph", (nodes,), tuple(links))


def parse_size(text: str) -> tuple[int, ...]:
    """Read ``4x4`` or ``8x8x2``.

    Raises
    ------
    PointsmanError
        If it is not one to three whole numbers joined by x, or a number is too large.
    """
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise PointsmanError(f"a mesh size must be numbers joined by x, not {text!r}", hint="for instance 4x4")
    if any(len(part) > 5 for part in parts):
        raise PointsmanError(f"a network must have 1 to {MAX_NODES} nodes, not {text}")
    return tuple(map(int, parts))


# A network that is asked for again is the same object: it is the key of many caches, and comparing two takes long.
@lru_cache(maxsize=32)
def _cartesian(kind: str, size: tuple[int, ...]) -> Topology:
    if not 1 <= len(size) <= 3 or any(not isinstance(extent, Integral) or extent < 1 for extent in size):
        raise PointsmanError(f"a {kind} must have one to three positive dimensions, not {size}")
    size = tuple(map(int, size))
    if prod(size) > MAX_NODES:
        raise PointsmanError(f"a network must have 1 to {MAX_NODES} nodes, not {prod(size)}")
    links = []
    stride = 1
    for dimension, extent in enumerate(size):
        for node in range(prod(size)):
            at = node // stride % extent
            if at + 1 < extent:
                links.append(Link(node, 2 * dimension + 1, node + stride, 2 * dimension))
            elif kind == "torus" and extent > 1:
                links.append(Link(node, 2 * dimension + 1, node - at * stride, 2 * dimension))
        stride *= extent
    return Topology(kind, size, tuple(sorted(links)))


def partitions(groups: Iterable[set[int]]) -> list[set[int]]:
    """Unite groups that overlap: {0, 1}, {4}, {1, 2} give {0, 1, 2}, {4}. In the order of their lowest nodes."""
    part_of: dict[int, set[int]] = {}
    for group in groups:
        if group and group <= part_of.get(next(iter(group)), set()):
            continue
        # The largest part takes the others in, so that a node changes its part at most log2(nodes) times.
        parts = sorted({id(part): part for part in (part_of.get(one) for one in group) if part}.values(), key=len)
        united = parts.pop() if parts else set()
        new = set(group).union(*parts) - united
        united |= new
        part_of.update(dict.fromkeys(new, united))
    return sorted({id(part): part for part in part_of.values()}.values(), key=min)


def connected(part: set[int], topology: Topology) -> bool:
    """Can the nodes of ``part`` reach each other without leaving it?"""
    start = min(part)
    reached, stack = {start}, [start]
    while stack:
        for other, _ in topology.at_port[stack.pop()].values():
            if other in part and other not in reached:
                reached.add(other)
                stack.append(other)
    return reached == part
