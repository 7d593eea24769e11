"""Divisions by structure, where a set of connections has some: by what source and destination differ in, or into matchings.

On a torus, connections by the same offset load every node alike if all nodes have one; packed into phases like weights into
boxes they give all-to-all on 8×8 with 12 channels in 27 phases, which is the bound (30 in Feldmann et al. 1993, §5.1.3).
Matchings (König 1916) give every processor as much to do in a phase as any other.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pointsman.artifacts.channels.channels import ChannelProblem
from pointsman.connections.algorithms.crossbar import edge_colours
from pointsman.network import Topology
from pointsman.network.dimension_order import way

from .tables import Assignment, Tables, empty


def by_offset(problem: ChannelProblem, tables: Tables) -> Assignment | None:
    """Connections of one offset together, on ways in dimension order; None where that is not possible: on graphs, with
    an order, or where a way in dimension order is too long or has too many on a link."""
    topology = problem.topology
    if not topology.regular or problem.order or tables.least_sharers < len(tables.ends):
        return None
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, one in enumerate(problem.connections):
        groups.setdefault(_offset(topology, one.source, one.destination), []).append(index)
    ways = [_one_way(topology, one.source, one.destination) for one in problem.connections]
    loads = {}
    for offset, members in groups.items():
        loads[offset] = np.bincount([v for index in members for v in ways[index]], minlength=topology.nodes)
    if any(int(load.max()) > problem.channels for load in loads.values()):
        return None
    given = empty(tables)
    boxes: list[np.ndarray] = []
    for offset in sorted(groups, key=lambda offset: (-int(loads[offset].max()), -int(loads[offset].sum()), offset)):
        fitting = [p for p, box in enumerate(boxes) if (box + loads[offset]).max() <= problem.channels]
        if not fitting:
            boxes.append(np.zeros(topology.nodes, np.int64))
        p = max(fitting, key=lambda p: (int(boxes[p].sum()), -p), default=len(boxes) - 1)
        boxes[p] += loads[offset]
        for index in groups[offset]:
            put(given, index, p, ways[index])
    return given


def matchings(problem: ChannelProblem, phases: int, seed: int) -> np.ndarray:
    """A phase for each connection: matchings, as many in each phase as in any other but for one, long ways spread evenly."""
    pairs = np.array([(one.source, one.destination) for one in problem.connections], np.int64).reshape(-1, 2)
    mixed = np.random.default_rng([seed, len(pairs)]).permutation(len(pairs))
    colours = np.empty(len(pairs), np.int64)
    colours[mixed] = edge_colours(pairs[mixed], problem.topology.nodes)
    weight = np.bincount(colours, np.array(problem.distances) + 1.0)
    most = -(-len(weight) // phases)
    load, members = np.zeros(phases), np.zeros(phases, np.int64)
    phase_of = np.zeros(len(weight), np.int64)
    for colour in np.argsort(-weight, kind="stable").tolist():
        p = min((p for p in range(phases) if members[p] < most), key=lambda p: (load[p], p))
        load[p] += weight[colour]
        members[p] += 1
        phase_of[colour] = p
    return phase_of[colours]


def put(given: Assignment, index: int, phase: int, path: tuple[int, ...]) -> None:
    """Connection ``index`` is in ``phase`` on ``path``."""
    given.phase[index] = phase
    given.lengths[index] = len(path)
    given.paths[index, : len(path)] = path


def _offset(topology: Topology, source: int, destination: int) -> tuple[int, ...]:
    pairs = zip(topology.coordinates(destination), topology.coordinates(source), topology.size, strict=True)
    return tuple((d - s) % extent if topology.kind == "torus" else d - s for d, s, extent in pairs)


def _one_way(topology: Topology, source: int, destination: int) -> tuple[int, ...]:
    """The way in dimension order; half way round a ring upwards from every node, so that all load the nodes alike."""
    if topology.kind == "mesh":
        return way(topology, source, destination)
    place, end = list(topology.coordinates(source)), topology.coordinates(destination)
    nodes = [source]
    for axis, extent in enumerate(topology.size):
        ahead = (end[axis] - place[axis]) % extent
        step = 1 if 2 * ahead <= extent else -1
        while place[axis] != end[axis]:
            place[axis] = (place[axis] + step) % extent
            nodes.append(topology.node_at(*place))
    assert all(u != v for u, v in pairwise(nodes))
    return tuple(nodes)
