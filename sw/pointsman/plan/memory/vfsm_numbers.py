"""Routed phases -> numbers of VFSMs at each node (Metcalf 1997, §5.4.2).

Takes phases whose VFSMs and pipelines are numbered for each phase alone; gives, for each phase and node, the VFSM numbers and
pipelines at the node. Where a node has VFSMs enough, no two phases share any, and all stay loaded. Else phases share VFSMs like
a cache (`residency_plan.VfsmPlaces`), and a phase's pipelines may be exchanged where that saves loads.

A phase that a node leaves without a barrier and enters again keeps its VFSMs, because words of its next use may wait in
their buffers; so does a phase whose VFSMs are made at run time. Operators that continue over several phases get the
first VFSMs (``kept_first``); at their nodes no pipelines are exchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from numesh.codes import FIRST_FREE_VFSM
from numesh.shape import NodeShape
from pointsman.operators.api.loading import Loading
from pointsman.plan.conflicts.link_slots import reprogram_slots
from pointsman.plan.errors import PlanError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.phase_graph import Distances, PhaseGraph
from pointsman.plan.structure.structure import Structure

from .residency_plan import VfsmPlaces

Members = tuple[tuple[int, tuple[int, ...]], ...]
"""(phase, number of VFSMs by the phase's pipeline) for each phase at a node."""


class CrowdedError(PlanError):
    """A phase needs more VFSMs than ``node`` has left for it; ``kept``: other phases that keep their VFSMs there."""

    def __init__(self, message: str, phase: str, node: int, kept: frozenset[int]) -> None:
        super().__init__(message, hint="use a node with more VFSMs, or fewer operators")
        self.phase = phase
        self.node = node
        self.kept = kept


@dataclass(frozen=True)
class VfsmMap:
    """Where the VFSMs of a phase are at a node."""

    pipelines: tuple[int, ...]
    """By pipeline of the phase, the pipeline of the node."""
    numbers: tuple[tuple[int, ...], ...]
    """By pipeline and number in the phase, counted from FIRST_FREE_VFSM: the number at the node."""

    def place(self, pipeline: int, number: int) -> tuple[int, int]:
        """Pipeline and number at the node of a VFSM, given those in the phase."""
        return self.pipelines[pipeline], self.numbers[pipeline][number - FIRST_FREE_VFSM]

    def own(self, pipeline: int) -> int:
        """The phase's pipeline that is ``pipeline`` at the node."""
        return self.pipelines.index(pipeline)


def vfsm_numbers(
    phases: Sequence[PlannedPhase],
    structure: Structure,
    shape: NodeShape,
    kept_first: Mapping[int, tuple[int, ...]] | None = None,
) -> list[dict[int, VfsmMap]]:
    """By phase and node, where its VFSMs are. Nodes with the same phases of the same sizes get the same map.

    Parameters
    ----------
    kept_first : mapping
        By node, how many VFSMs of each pipeline, from the first, belong to operators that continue.

    Raises
    ------
    CrowdedError
        If a phase has more VFSMs than a node has left for it.
    """
    counts = [_counts(phase, shape.pipelines) for phase in phases]
    found: list[dict[int, VfsmMap]] = [{} for _ in phases]
    for node in sorted({node for by_node in counts for node in by_node}):
        members = tuple((i, counts[i][node]) for i in range(len(phases)) if node in counts[i])
        graph = structure.graph_of(node)
        kept = frozenset(i for i, _ in members if keeps_buffers(phases[i], i, node, graph.distances))
        first = (kept_first or {}).get(node, (0,) * shape.pipelines)
        barred = _barred(members, node, phases, shape, first)
        places, crowded = _of_node(members, graph, kept, barred, first, shape)
        if crowded is not None:
            index, most = crowded
            room = shape.vfsms - FIRST_FREE_VFSM
            raise CrowdedError(
                f"phase '{phases[index].name}' needs {max(counts[index][node])} VFSMs of a pipeline of node {node}, which "
                f"has {room} besides the first two, {most} of them kept by others",
                phases[index].name,
                node,
                kept - {index},
            )
        for phase, place in places.items():
            found[phase][node] = place
    return found


def reserved(continuing: Sequence[PlannedPhase], shape: NodeShape) -> dict[int, tuple[int, ...]]:
    """By node, how many VFSMs of each pipeline belong to operators that continue."""
    found: dict[int, tuple[int, ...]] = {}
    for phase in continuing:
        for node, counts in _counts(phase, shape.pipelines).items():
            before = found.get(node, (0,) * shape.pipelines)
            found[node] = tuple(a + b for a, b in zip(before, counts, strict=True))
    return found


def reserved_numbers(continuing: Sequence[PlannedPhase], shape: NodeShape) -> list[dict[int, VfsmMap]]:
    """By continuing operator and node, where its VFSMs are: operator after operator, from FIRST_FREE_VFSM on."""
    identity = tuple(range(shape.pipelines))
    used: dict[int, list[int]] = defaultdict(lambda: [FIRST_FREE_VFSM] * shape.pipelines)
    found = []
    for phase in continuing:
        maps = {}
        for node, counts in _counts(phase, shape.pipelines).items():
            here = used[node]
            maps[node] = VfsmMap(identity, tuple(tuple(range(here[p], here[p] + counts[p])) for p in identity))
            used[node] = [here[p] + counts[p] for p in identity]
        found.append(maps)
    return found


def keeps_buffers(phase: PlannedPhase, index: int, node: int, between: Distances) -> bool:
    """Must the phase keep its VFSMs at a node, because words of its next use may wait in their buffers, or because it
    makes VFSMs at run time?"""
    again = index in between.get(index, {})
    return (again and node in phase.loose) or phase.has_loading(Loading.RESCHEDULED)


def _barred(
    members: Members, node: int, phases: Sequence[PlannedPhase], shape: NodeShape, first: tuple[int, ...]
) -> frozenset[tuple[int, int, int]]:
    """(phase, its pipeline, node's pipeline) that are not allowed: pipeline 0 needs slots for the commands that change
    the phase; beside continuing operators, and where other nodes send commands, pipelines stay as they are."""
    pipelines = range(shape.pipelines)
    if all(sum(counts[p] for _, counts in members) <= _room(shape, first, p) for p in pipelines):
        return frozenset()  # nothing will be exchanged
    found = {
        (phase, own, 0)
        for phase, _ in members
        for own in range(1, shape.pipelines)
        if not reprogram_slots(phases[phase].routed, node, own)
    }
    # Commands that come from other nodes name the pipeline.
    fixed = {p for p, _ in members if any(first) or phases[p].has_loading(Loading.REMOTE)}
    found |= {(phase, a, b) for phase in fixed for a in pipelines for b in pipelines if a != b}
    return frozenset(found)


def _room(shape: NodeShape, first: tuple[int, ...], pipeline: int) -> int:
    return shape.vfsms - FIRST_FREE_VFSM - first[pipeline]


def _counts(phase: PlannedPhase, pipelines: int) -> dict[int, tuple[int, ...]]:
    """By node, the number of VFSMs in each pipeline of the phase."""
    top: dict[int, list[int]] = defaultdict(lambda: [0] * pipelines)
    for chain in phase.routed.chains:
        for vfsm in chain.vfsms:
            here = top[vfsm.node]
            here[vfsm.pipeline] = max(here[vfsm.pipeline], vfsm.number - FIRST_FREE_VFSM + 1)
    return {node: tuple(here) for node, here in top.items()}


@lru_cache(maxsize=512)
def _of_node(
    members: Members,
    graph: PhaseGraph,
    kept: frozenset[int],
    barred: frozenset[tuple[int, int, int]],
    first: tuple[int, ...],
    shape: NodeShape,
) -> tuple[dict[int, VfsmMap], tuple[int, int] | None]:
    """By phase, where its VFSMs are at a node; and if a phase has too little room, its index, and the VFSMs that others keep."""
    identity = tuple(range(shape.pipelines))
    found: dict[int, VfsmMap] = {}
    if all(sum(counts[p] for _, counts in members) <= _room(shape, first, p) for p in identity):
        used = [FIRST_FREE_VFSM + first[p] for p in identity]
        for phase, counts in members:
            numbers = tuple(tuple(range(used[p], used[p] + counts[p])) for p in identity)
            found[phase] = VfsmMap(identity, numbers)
            used = [used[p] + counts[p] for p in identity]
        return found, None
    room = shape.vfsms - FIRST_FREE_VFSM
    places = VfsmPlaces(shape.pipelines, room, graph.distances)
    taken = [set(range(first[p])) for p in identity]
    rank = {phase: (phase not in kept, phase in graph.seldom, phase) for phase, _ in members}
    for phase, counts in sorted(members, key=lambda member: rank[member[0]]):
        away = frozenset((own, there) for one, own, there in barred if one == phase)
        try:
            order, chosen = places.add(phase, counts, None, [frozenset(one) for one in taken], away)
        except ValueError:
            return {}, (phase, max(map(len, taken)))
        found[phase] = VfsmMap(order, tuple(tuple(place + FIRST_FREE_VFSM for place in one) for one in chosen))
        if phase in kept:
            for own in identity:
                taken[order[own]] |= set(chosen[own])
    return found, None
