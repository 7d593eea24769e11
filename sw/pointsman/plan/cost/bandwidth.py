"""Operators of a phase -> the bandwidth that each may expect, without routing them (Metcalf 1997, §6.2.6).

Operators share two kinds of resources: each node, which makes as many moves a cycle as its router has pipelines, or as
its processor can access the interface, if that is less; and each cut across the mesh, with a word a cycle for each link
across it, in each direction. The resource that is furthest over its limit is shared out in proportion to the traffic,
an operator goes at the pace of its slowest stream, and so on until no resource is over its limit.

The thesis cuts the mesh once in each dimension, half way between the outermost ends of the streams. Here every cut counts, and
cuts are made once for a program, not for each phase. A multicast costs two moves a word at each of its destinations.

Leaves alone: timeslots, paths, VFSMs. A network that is no mesh has no cuts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from pointsman.network import Topology

from .bandwidth_kernel import shared_out


@dataclass(frozen=True)
class Resources:
    """What operators share. ``capacity``: moves a cycle of each node, then words a cycle of each cut and direction."""

    topology: Topology
    capacity: np.ndarray
    cuts: tuple[tuple[int, int, bool], ...]
    """(dimension, coordinate below the cut, upward) of each cut and direction."""

    @classmethod
    def of(cls, topology: Topology, *, pipelines: float, interface: float = 2.0) -> Resources:
        """Resources of a network whose routers make ``pipelines`` moves a cycle, and whose processors access their
        interfaces ``interface`` times a cycle."""
        cuts: list[tuple[int, int, bool]] = []
        capacity = [min(pipelines, interface)] * topology.nodes
        if topology.has_coordinates:
            for axis, length in enumerate(topology.size):
                links = prod(topology.size) // length * (2 if topology.kind == "torus" and length > 2 else 1)
                for below in range(length - 1):
                    for upward in (True, False):
                        cuts.append((axis, below, upward))
                        capacity.append(float(links))
        return cls(topology, np.array(capacity), tuple(cuts))

    def usage(self, streams: Iterable[tuple[int, Sequence[int]]]) -> np.ndarray:
        """By resource, the moves or words that a word on each of ``streams`` (source, destinations) takes."""
        nodes = self.topology.nodes
        cost = [0] * nodes
        # By cut and direction, by how much more words cross it than the cut before; a dimension has a place beyond its last cut.
        steps = [([0] * length, [0] * length) for length in self.topology.size] if self.cuts else []
        place = self.topology.coordinates
        for source, destinations in streams:
            cost[source] += 1
            forks = 2 if len(destinations) > 1 else 1
            for node in destinations:
                cost[node] += forks
            if not steps or not destinations:
                continue
            there = tuple(zip(*map(place, destinations), strict=True))
            for at, along, (up, down) in zip(place(source), there, steps, strict=True):
                low, high = min(along), max(along)
                if high > at:
                    up[at] += 1
                    up[high] -= 1
                if low < at:
                    down[low] += 1
                    down[at] -= 1
        found = np.zeros(len(self.capacity))
        found[:nodes] = cost
        first = nodes
        for up, down in steps:
            # A cut has two numbers: first for words upward, then for words downward.
            end = first + 2 * (len(up) - 1)
            found[first:end:2] = list(accumulate(up[:-1]))
            found[first + 1 : end : 2] = list(accumulate(down[:-1]))
            first = end
        return found


def expected_bandwidth(usage: np.ndarray, traffic: np.ndarray, limits: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """Words per cycle on each stream of each operator.

    Parameters
    ----------
    usage : array, operators x resources
        Moves or words that a word on every stream of an operator takes; see `Resources.usage`.
    traffic : array, operators
        Words of each operator over the whole program. More than 0.
    limits : array, operators
        Most words per cycle that each operator can use.
    capacity : array, resources
    """
    return shared_out(usage, traffic, limits.astype(float), capacity)
