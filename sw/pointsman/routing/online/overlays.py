"""Sets of channels for online messages: channels to all neighbours are not always best.

A router gives its processor an access per pipeline and cycle, so the channels that begin or end at a node share its slots; and a
processor spends two cycles on each word that it passes on. Fewer channels per node make long messages fast; fewer stops make
short messages fast, and many at once. Takes the nodes between which messages may go; gives *overlays*, sets of channels over the
links of the mesh, and the paths of messages over them.

``streets``: rows and columns are one-way streets in alternating directions, the outermost such that they make a ring (as in a
Manhattan street network: Maxemchuk 1987). A node has two channels out and two in, instead of four and four.
``expressways``: the streets, and express channels of several hops against their direction (Metcalf 1997, §4.2.3).

Leaves alone boxes of one or three dimensions, and graphs; wrap-around links of a torus are not used.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

from pointsman.network import Topology
from pointsman.routing.streams import Stream

from .channels import Channel, OnlineNetwork, Pair, Traffic, online_network
from .frames import frame_length

EXPRESS = (2, 3)
"""Hops of express channels that are tried."""
STOP_CYCLES = 11.0
"""Cycles that a header takes from a processor to the next, without the wait for a slot (benchmarks/online.py)."""
ACCESSES = 2
"""Cycles of a processor for each word that it passes on."""
CROWDED = 1.6
"""Factor on the mean cycles of the busiest processor, or channel, when several messages are under way at once."""
FULL = 1.12
"""Factor on the slots of a frame: the closing barrier and reprogramming take some slots of the period."""


@dataclass(frozen=True)
class Overlay:
    """Channels that messages may take. ``name`` is for people."""

    name: str
    channels: tuple[Channel, ...]


@dataclass(frozen=True)
class Burst:
    """Messages that an operator sends at the same time: ``messages`` of ``words`` words each, between pairs of ``traffic``."""

    traffic: Traffic
    words: int
    messages: float
    weight: float = 1.0
    """How often the burst occurs, relative to others."""


def boxes_of(topology: Topology, pairs: Iterable[Pair]) -> list[tuple[range, ...]] | None:
    """Disjoint boxes of nodes, around nodes that messages connect, within which all messages can stay; None for a graph
    and for a network with faults."""
    if not topology.regular:
        return None
    boxes: list[tuple[range, ...]] = []
    for a, b in sorted(set(pairs)):
        ends = zip(topology.coordinates(a), topology.coordinates(b), strict=True)
        box = tuple(range(min(x, y), max(x, y) + 1) for x, y in ends)
        meeting = [other for other in boxes if _meet(box, other)]
        while meeting:
            boxes = [other for other in boxes if other not in meeting]
            sides = zip(*meeting, box, strict=True)
            box = tuple(range(min(r.start for r in side), max(r.stop for r in side)) for side in sides)
            meeting = [other for other in boxes if _meet(box, other)]
        boxes.append(box)
    return sorted(boxes, key=lambda box: [(side.start, side.stop) for side in box])


def _meet(a: Sequence[range], b: Sequence[range]) -> bool:
    return all(x.start < y.stop and y.start < x.stop for x, y in zip(a, b, strict=True))


def overlays(topology: Topology, pairs: Iterable[Pair]) -> Iterator[Overlay]:
    """Overlays for messages between ``pairs``, besides channels to all neighbours; none unless all boxes have two dimensions."""
    boxes = boxes_of(topology, pairs)
    if not boxes or any(sum(len(side) > 1 for side in box) != 2 for box in boxes):
        return
    local = [channel for box in boxes for channel in _streets(topology, box, 1, against=False)]
    yield Overlay("streets", tuple(sorted(local)))
    for hops in EXPRESS:
        express = [channel for box in boxes for channel in _streets(topology, box, hops, against=True)]
        if express:
            yield Overlay(f"expressways of {hops}", tuple(sorted({*local, *express})))


def _streets(topology: Topology, box: Sequence[range], hops: int, *, against: bool) -> Iterator[Channel]:
    """Channels of ``hops`` along the streets of a box, or against them."""
    first, second = (axis for axis, side in enumerate(box) if len(side) > 1)
    for along, across, turned in ((first, second, False), (second, first, True)):
        for line in box[across]:
            ahead = (line - box[across].start) % 2 == 0 and line != box[across][-1]
            step = 1 if ahead != (turned != against) else -1
            for start in box[along]:
                if start + step * hops not in box[along]:
                    continue
                place = [side.start for side in box]
                place[across] = line
                path = []
                for hop in range(hops + 1):
                    place[along] = start + step * hop
                    path.append(topology.node_at(*place))
                yield Channel(path[0], path[-1], tuple(path))


def over(overlay: Overlay, topology: Topology, traffic: Traffic) -> OnlineNetwork | None:
    """The channels that messages of ``traffic`` take, with their paths; None if some message cannot reach its destination."""
    sources: dict[int, set[int]] = {}
    for source, end in traffic:
        if source != end:
            sources.setdefault(end, set()).add(source)
    following = _ways(overlay, sources)
    if any((s, d) not in following for s, d in traffic if s != d):
        return None
    return online_network(topology, traffic, next_of=lambda node, end: following[node, end])


def _ways(overlay: Overlay, sources: Mapping[int, Collection[int]]) -> dict[Pair, Channel]:
    """The channel from a node towards a destination: fewest channels, then fewest hops, then the lowest. ``sources``: by
    destination, where messages to it come from; nodes that are farther away than these may be absent."""
    into: dict[int, list[Channel]] = defaultdict(list)
    for channel in overlay.channels:
        into[channel.target].append(channel)
    found: dict[Pair, Channel] = {}
    for end, wanted in sources.items():
        far = {end: (0, 0)}
        queue = deque([end])
        left = set(wanted)
        last = inf
        while queue:
            node = queue.popleft()
            if far[node][0] >= last:
                break
            for channel in into[node]:
                there = far[node][0] + 1, far[node][1] + channel.hops
                known = far.get(channel.source)
                if known is None:
                    queue.append(channel.source)
                    left.discard(channel.source)
                    if not left:
                        # All nodes that are as near are seen from nodes nearer by one.
                        last = min(last, there[0])
                if known is None or there < known:
                    far[channel.source] = there
                    found[channel.source, end] = channel
    return found


def frame_of(network: OnlineNetwork, topology: Topology) -> int:
    """Slots of a frame in which every channel has a word."""
    return _frame_of(tuple(channel.path for channel in network.channels), topology)


@lru_cache(maxsize=256)
def _frame_of(paths: tuple[tuple[int, ...], ...], topology: Topology) -> int:
    return frame_length([Stream("", path[0], (path[-1],), path=path) for path in paths], topology)


def registers_of(network: OnlineNetwork) -> int:
    """Interface registers that a node needs for its channels, at most."""
    ends: dict[int, int] = defaultdict(int)
    for channel in network.channels:
        ends[channel.source] += 1
        ends[channel.target] += 1
    return max(ends.values(), default=0)


@dataclass(frozen=True)
class BurstLoad:
    """Where the messages of a burst go over a network: mean ``stops`` (channels) and ``hops`` of one, and in words of a message
    those that the busiest processor reads and writes (``served``) and that each channel takes (``carried``)."""

    stops: float
    hops: float
    served: float
    carried: Mapping[int, float]


def load_of(network: OnlineNetwork, burst: Burst) -> BurstLoad | None:
    """The load of a burst; None if its messages stay where they are."""
    whole = sum(words for (s, d), words in burst.traffic.items() if s != d)
    if not whole:
        return None
    stops = hops = 0.0
    served: dict[int, float] = defaultdict(float)
    carried: dict[int, float] = defaultdict(float)
    for (source, destination), words in burst.traffic.items():
        if source == destination:
            continue
        share = words / whole
        for index in network.way(source, destination):
            channel = network.channels[index]
            stops += share
            hops += share * channel.hops
            served[channel.source] += share * burst.messages
            served[channel.target] += share * burst.messages
            carried[index] += share * burst.messages
    return BurstLoad(stops, hops, max(served.values()), carried)


def expected_cycles(network: OnlineNetwork, topology: Topology, bursts: Sequence[Burst]) -> float:
    """Estimated cycles of all bursts over a network.

    A message takes time for each stop, and its words follow each other at the pace of frames or of a processor's two accesses per
    word. Many messages at once wait for the busiest processor and the busiest channel.
    """
    frame = frame_of(network, topology)
    gap = max(frame * FULL, float(ACCESSES))
    total = 0.0
    for burst in bursts:
        load = load_of(network, burst)
        if load is None:
            continue
        latency = load.stops * (STOP_CYCLES + frame / 2) + load.hops
        length = burst.words + 1
        busiest = length * load.served
        fullest = length * max(load.carried.values()) * gap
        crowd = CROWDED if burst.messages > 1 else 1.0
        total += burst.weight * (latency + max(burst.words * gap, crowd * busiest, crowd * fullest))
    return total


def chosen(
    topology: Topology, traffic: Traffic, bursts: Sequence[Burst], plain: OnlineNetwork, registers: int, period: int
) -> OnlineNetwork:
    """The network with the fewest estimated cycles; ``plain`` if no overlay has fewer. ``registers``: most registers of a node
    for channels. ``period``: slots of the schedule, into which two frames have to fit."""
    best, least = plain, expected_cycles(plain, topology, bursts)
    for overlay in overlays(topology, traffic):
        network = over(overlay, topology, traffic)
        if network is None or registers_of(network) > registers or 2 * frame_of(network, topology) > period:
            continue
        cycles = expected_cycles(network, topology, bursts)
        if cycles < least:
            best, least = replace(network, name=overlay.name), cycles
    return best
