"""Online routing: the streams to neighbours that messages need, their expected traffic, and the path of each message over them.

A scheduled router carries no headers. For messages whose ends are known at run time only, every node gets streams to
neighbours, and processors pass messages on from one to the next (Metcalf 1997, §4.2). Takes the pairs of nodes between
which messages may go; gives the channels on their paths (none where no message goes), the next channel from each
node to each destination, and the traffic of each channel. Pure functions of the network; the streams are routed with all
others of the phase (``phase_router``).

Paths go dimension by dimension, x first, on a mesh; on a torus the shorter way round each dimension; on a graph a
shortest path, and likewise on a mesh or torus with faults. ``express`` adds channels of that many hops along each
dimension (§4.2.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import Literal

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.routing.streams import Stream

Pair = tuple[int, int]
"""Source and destination of messages."""
Traffic = Mapping[Pair, float]
"""Words by (source, destination)."""


@dataclass(frozen=True, order=True)
class Channel:
    """A stream for online messages from processor to processor, over the nodes of ``path``."""

    source: int
    target: int
    path: tuple[int, ...] = field(compare=False)

    @property
    def hops(self) -> int:
        return len(self.path) - 1


@dataclass(frozen=True)
class OnlineNetwork:
    """The channels of a phase, and the paths of messages over them.

    Parameters
    ----------
    channels : tuple of Channel
        In the order of their ends.
    onward : mapping
        By node and destination: index of the next channel of a message. Only for paths that are used.
    words : tuple of float
        Traffic of each channel: the words that it is expected to carry.
    """

    channels: tuple[Channel, ...]
    onward: Mapping[int, Mapping[int, int]]
    words: tuple[float, ...]
    name: str = field(default="neighbours", compare=False)
    """Shown to people."""

    def way(self, source: int, destination: int) -> tuple[int, ...]:
        """Indices of the channels that a message takes, in order."""
        found = []
        node = source
        while node != destination:
            found.append(self.onward[node][destination])
            node = self.channels[found[-1]].target
        return tuple(found)

    @property
    def nodes(self) -> frozenset[int]:
        """Nodes whose routers carry words of the channels."""
        return frozenset(node for channel in self.channels for node in channel.path)


@lru_cache(maxsize=1 << 16)
def next_channel(topology: Topology, node: int, destination: int, express: int = 0) -> Channel:
    """The channel that a message at ``node`` takes on its way to ``destination``, another node.

    Raises
    ------
    PointsmanError
        If there is no path, or the two nodes are the same.
    """
    if not topology.regular:
        towards = _towards(topology, destination)
        if towards[node] < 0:
            raise PointsmanError(f"there is no way from node {node} to node {destination}")
        return Channel(node, towards[node], (node, towards[node]))
    at, end = topology.coordinates(node), topology.coordinates(destination)
    for axis, size in enumerate(topology.size):
        distance = end[axis] - at[axis]
        if distance == 0:
            continue
        if topology.kind == "torus" and 2 * abs(distance) > size:
            distance -= size if distance > 0 else -size
        step = 1 if distance > 0 else -1
        length = 1
        if express > 1 and abs(distance) >= express and _has_express(at, axis, express):
            length = express
        path = []
        for hop in range(length + 1):
            place = list(at)
            place[axis] = (at[axis] + hop * step) % size
            path.append(topology.node_at(*place))
        return Channel(node, path[-1], tuple(path))
    raise PointsmanError(f"node {node} needs no way to itself")


def _has_express(at: Sequence[int], axis: int, express: int) -> bool:
    """Do express channels along ``axis`` begin and end at coordinates ``at``? Skewed, so that each node has them along a single
    dimension at most when ``express`` is not smaller than the number of dimensions (§4.2.3)."""
    return (sum(at) + axis * max(1, express // len(at))) % express == 0


@lru_cache(maxsize=4096)
def _towards(topology: Topology, destination: int) -> tuple[int, ...]:
    """For each node, the next node on a shortest path to ``destination`` over any links; -1: no path."""
    found = [-1] * topology.nodes
    found[destination] = destination
    queue = [destination]
    for node in queue:
        for _, (other, _) in sorted(topology.at_port[node].items()):
            if found[other] < 0:
                found[other] = node
                queue.append(other)
    return tuple(found)


def online_network(
    topology: Topology, traffic: Traffic, express: int = 0, next_of: Callable[[int, int], Channel] | None = None
) -> OnlineNetwork:
    """Channels for messages between all pairs of ``traffic``; a node needs none to itself.

    Parameters
    ----------
    traffic : mapping
        Words by (source, destination).
    express : int
        Hops of express channels; below 2: none.
    next_of : callable or None
        The channel that a message takes from a node to a destination; None: that of ``next_channel``.
    """
    onward: dict[int, dict[int, int]] = defaultdict(dict)
    found: dict[Channel, int] = {}
    words: list[float] = []
    targets: list[int] = []
    for (source, destination), amount in sorted(traffic.items()):
        node = source
        while node != destination:
            row = onward[node]
            number = row.get(destination)
            if number is None:
                channel = next_of(node, destination) if next_of else next_channel(topology, node, destination, express)
                number = row[destination] = found.setdefault(channel, len(found))
                if number == len(words):
                    words.append(0.0)
                    targets.append(channel.target)
            words[number] += amount
            node = targets[number]
    channels = tuple(sorted(found))
    index = {found[channel]: i for i, channel in enumerate(channels)}
    return OnlineNetwork(
        channels,
        {node: {end: index[c] for end, c in sorted(row.items())} for node, row in sorted(onward.items())},
        tuple(words[found[channel]] for channel in channels),
    )


@dataclass(frozen=True)
class Together:
    """Traffic of a group of operators in a phase: in a sequential group each pair of nodes carries the most words that any child
    needs, in a parallel group the sum (§4.2.2)."""

    kind: Literal["sequential", "parallel"]
    children: tuple[Together | Mapping[Pair, float], ...]


def combined(part: Together | Mapping[Pair, float]) -> dict[Pair, float]:
    """Words of a whole group by (source, destination)."""
    if not isinstance(part, Together):
        return dict(part)
    found: dict[Pair, float] = defaultdict(float)
    for child in part.children:
        for pair, words in combined(child).items():
            found[pair] = max(found[pair], words) if part.kind == "sequential" else found[pair] + words
    return dict(found)


CLASSES = 3
"""Number of different shares of bandwidth: 1, 1/2 and 1/4 of the busiest channel's."""


def online_streams(network: OnlineNetwork, name: str) -> list[Stream]:
    """The streams to route, one for each channel, with shares of bandwidth by their traffic.

    Shares follow the square root of the traffic: this makes queues shortest (Kleinrock 1964), and a single message is not slowed
    down by a channel with little traffic. They are rounded to CLASSES values, as a group for each channel would make routing slow
    and gain little.
    """
    roots = [sqrt(words) for words in network.words]
    most = max(roots, default=0.0) or 1.0
    streams = []
    for channel, words in zip(network.channels, roots, strict=True):
        rank = next((k for k in range(CLASSES - 1) if words > most * 0.7 / 2**k), CLASSES - 1)
        streams.append(
            Stream(
                f"{name}[0].{channel.source}-{channel.target}",
                channel.source,
                (channel.target,),
                weight=most / 2**rank,
                group=f"{name} {rank}",
                keep_in=frozenset(channel.path),
                path=channel.path,
            )
        )
    return streams


def dependencies(network: OnlineNetwork) -> dict[int, frozenset[int]]:
    """For each channel, the channels that a message may need next while it holds it (the channel dependency graph)."""
    found: dict[int, set[int]] = {i: set() for i in range(len(network.channels))}
    for i, channel in enumerate(network.channels):
        here = network.onward.get(channel.target, {})
        for end, after in here.items():
            if network.onward.get(channel.source, {}).get(end) == i:
                found[i].add(after)
    return {i: frozenset(after) for i, after in found.items()}


def circle(graph: Mapping[int, Iterable[int]]) -> tuple[int, ...] | None:
    """The members of a cycle in a directed graph, in order; None if there is no cycle."""
    state: dict[int, int] = {}
    for start in graph:
        if start in state:
            continue
        stack = [(start, iter(graph[start]))]
        way = [start]
        state[start] = 1
        while stack:
            node, rest = stack[-1]
            for after in rest:
                if state.get(after) == 1:
                    return tuple(way[way.index(after) :])
                if after not in state:
                    state[after] = 1
                    way.append(after)
                    stack.append((after, iter(graph[after])))
                    break
            else:
                state[node] = 2
                way.pop()
                stack.pop()
    return None
