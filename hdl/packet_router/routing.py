"""Where a message may go next, as a pure function; RTL, cycle model and the proof of freedom from deadlock agree with it.

Dimension order sends along x first. On a torus the shorter way round is taken (up, in a tie), on channel 0 as long as the link
that closes the ring lies ahead, then on channel 1.

Adaptive routing may use any shortest way on the channels above these, the dimension with most hops left first. Such a channel is
given to a message only when it is *empty*. A message that finds none takes the channel in dimension order, and may go
back to the others later. So a message at the front of any buffer can always wait for a channel in dimension order, and these
depend on each other without a cycle (Duato 1993; the test builds the graph).

On a graph, *up-down* routing (Schroeder et al. 1991, "up*/down*"): nodes are ranked by distance from node 0, equals by their
number; a link leads up to the end with the lower rank. A message goes up for as long as no way to its end leads down all along,
then down. So no channel that leads down is ever followed by one that leads up; ranks fall going up and rise going down, and
the channels depend on each other without a cycle. Where to go depends on node and destination alone. Ways are not always
shortest ones, and links near node 0 are busier than others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

from .shape import RouterShape


@dataclass(frozen=True)
class Ways:
    """Ways on from a node. ``escape`` is (port, channel); ``adaptive`` ports in order of preference, on any channel that
    is not for escape."""

    escape: tuple[int, int]
    adaptive: tuple[int, ...]


def ways(shape: RouterShape, here: tuple[int, ...], there: tuple[int, ...]) -> Ways | None:
    """Ways from ``here`` to ``there``; None on arrival."""
    if shape.graph is not None:
        port = up_down_table(shape)[here[0]][there[0]]
        return None if port is None else Ways((port, 0), ())
    escape = None
    left = []
    for dimension, (at, to, extent) in enumerate(zip(here, there, shape.size, strict=True)):
        if at == to:
            continue
        hops = abs(to - at)
        up = to > at
        if shape.torus:
            hops = (to - at) % extent
            up = 2 * hops <= extent
            hops = min(hops, extent - hops)
        port = 2 * dimension + up
        if escape is None:
            closes = (to < at) if up else (to > at)
            escape = (port, 0 if closes or not shape.torus else 1)
        left.append((-hops, dimension, port))
    if escape is None:
        return None
    adaptive = tuple(port for _, _, port in sorted(left)) if shape.routing == "adaptive" else ()
    return Ways(escape, adaptive)


def graph_ends(shape: RouterShape) -> list[list[tuple[int, int]]]:
    """For each node of a graph the node and port at the other end of each of its ports."""
    assert shape.graph is not None
    ends: list[list[tuple[int, int]]] = [[] for _ in range(shape.nodes)]
    for one, other in shape.graph:
        ports = len(ends[one]), len(ends[other])
        ends[one].append((other, ports[1]))
        ends[other].append((one, ports[0]))
    return ends


@lru_cache(maxsize=16)
def up_down_table(shape: RouterShape) -> tuple[tuple[int | None, ...], ...]:
    """By node and destination: the port to take; None on arrival.

    Of several ways down the shortest, of several up the one that makes the whole way shortest; then the lowest port.
    """
    ends = graph_ends(shape)
    distance = {0: 0}
    queue = deque(distance)
    while queue:
        node = queue.popleft()
        for other, _ in ends[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    rank = [(distance[node], node) for node in range(shape.nodes)]
    order = sorted(range(shape.nodes), key=rank.__getitem__)
    table: list[list[int | None]] = [[None] * shape.nodes for _ in range(shape.nodes)]
    for to in range(shape.nodes):
        # Ways that lead down all along, from the lowest node up; then those that go up first, from the top down.
        hops: dict[int, int] = {to: 0}
        for down in (True, False):
            for node in reversed(order) if down else order:
                if node in hops:
                    continue
                found = [
                    (hops[other] + 1, port)
                    for port, (other, _) in enumerate(ends[node])
                    if other in hops and (rank[other] > rank[node]) == down
                ]
                if found:
                    hops[node], table[node][to] = min(found)
    return tuple(map(tuple, table))
