"""Streams of a phase -> the bandwidth that each operator may expect, without routing them (Metcalf 1997, §6.2.6).

Streams share two kinds of resources: the way in and out of each processor, which carries as many words a cycle as the
router has pipelines, and the processor's interface can take; and the bisections of the mesh, one a dimension, half way
between the outermost ends of the streams, which carry as many words as there are links across it. The resource that is
furthest over its limit is shared out among its streams in proportion to their traffic, all streams of an operator go down to
the slowest of them, and so on until no resource is over its limit.

Leaves alone: timeslots, paths, VFSMs. On a network that is no mesh there are no bisections.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.network import Topology

_ENOUGH = 1e-9


@dataclass(frozen=True)
class Demand:
    """A stream as far as bandwidth is concerned.

    ``operator`` is any number that streams of one operator share, ``traffic`` its words over the whole program,
    ``limit`` the most words a cycle that it can use, ``alone`` for streams of online routing, which are slowed one by one.
    """

    operator: int
    source: int
    destinations: tuple[int, ...]
    traffic: float
    limit: float = 1.0
    alone: bool = False


@dataclass
class _Resource:
    capacity: float
    streams: list[int]


def expected_bandwidth(
    demands: Sequence[Demand], topology: Topology, *, pipelines: int, interface: float = 2.0
) -> list[float]:
    """Words per cycle of each stream, in the order of ``demands``.

    Parameters
    ----------
    pipelines : int
        Words that a node's router moves in a cycle.
    interface : float
        Words that a processor can write and read in a cycle, together.
    """
    bandwidth = [demand.limit for demand in demands]
    resources = _nodes(demands, min(pipelines, interface)) + _bisections(demands, topology)
    mates: dict[int, list[int]] = defaultdict(list)
    for number, demand in enumerate(demands):
        mates[demand.operator].append(number)
    # Each turn brings one resource down to its capacity for good, because bandwidths only fall.
    while resources:
        worst = max(resources, key=lambda r: sum(bandwidth[s] for s in r.streams) / r.capacity)
        if sum(bandwidth[s] for s in worst.streams) <= worst.capacity * (1 + _ENOUGH):
            break
        resources.remove(worst)
        for stream, share in _shares(worst, demands, bandwidth).items():
            slowed = [stream] if demands[stream].alone else mates[demands[stream].operator]
            for mate in slowed:
                bandwidth[mate] = min(bandwidth[mate], share)
    return bandwidth


def _shares(resource: _Resource, demands: Sequence[Demand], bandwidth: Sequence[float]) -> dict[int, float]:
    """The new bandwidths of the streams that have to be slowed. Those that are slower already keep what they have."""
    left = list(resource.streams)
    capacity = resource.capacity
    while True:
        traffic = sum(demands[s].traffic for s in left)
        shares = {s: capacity * demands[s].traffic / traffic if traffic else capacity / len(left) for s in left}
        slower = [s for s in left if bandwidth[s] <= shares[s] * (1 + _ENOUGH)]
        if not slower or len(slower) == len(left):
            return {s: share for s, share in shares.items() if share < bandwidth[s]}
        capacity -= sum(bandwidth[s] for s in slower)
        left = [s for s in left if s not in slower]


def _nodes(demands: Sequence[Demand], capacity: float) -> list[_Resource]:
    at: dict[int, list[int]] = defaultdict(list)
    for number, demand in enumerate(demands):
        for node in dict.fromkeys((demand.source, *demand.destinations)):
            at[node].append(number)
    return [_Resource(capacity, streams) for _, streams in sorted(at.items()) if len(streams) > 1]


def _bisections(demands: Sequence[Demand], topology: Topology) -> list[_Resource]:
    """Cuts across each dimension; a link across has one direction for each way, so each way counts on its own."""
    if topology.kind == "graph" or not demands:
        return []
    ends = {node: topology.coordinates(node) for d in demands for node in (d.source, *d.destinations)}
    low = [min(axis) for axis in zip(*ends.values(), strict=True)]
    high = [max(axis) for axis in zip(*ends.values(), strict=True)]
    found = []
    for axis in range(len(low)):
        if low[axis] == high[axis]:
            continue
        middle = (low[axis] + high[axis]) / 2
        links = 1
        for other in range(len(low)):
            if other != axis:
                links *= high[other] - low[other] + 1
        if topology.kind == "torus":
            links *= 2
        for upward in (True, False):
            crossing = [
                number
                for number, demand in enumerate(demands)
                if (ends[demand.source][axis] <= middle) == upward
                and any((ends[node][axis] > middle) == upward for node in demand.destinations)
            ]
            if crossing:
                found.append(_Resource(float(links), crossing))
    return found
