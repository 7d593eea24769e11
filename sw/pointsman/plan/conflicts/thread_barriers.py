"""Planned phases of threads: which nodes may meet in a barrier, and which collisions need a barrier (Metcalf 1997,
§5.2.3, §6.2.2).

Threads change phases independently, so a barrier may only join nodes that come to its phase equally often: nodes of
several threads only if each of the threads comes through the phase once. Where that is not so, a later phase has to
keep off the wires of the phase before. The judge uses nothing of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pointsman.plan.errors import MembershipError, PlanError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.control_flow import control
from pointsman.plan.structure.extents import ProgramPart
from pointsman.plan.structure.phase_graph import START, PhaseGraph
from pointsman.plan.structure.structure import Structure
from pointsman.plan.structure.threads import child_of

from .link_slots import Link
from .writers import word_spans


def refuse_crossing(structure: Structure, planned: Sequence[PlannedPhase]) -> None:
    """Raise `PlanError` for a phase that needs a node of another thread, or a barrier in which nodes of several threads
    would wait for each other though they do not come there equally often."""
    if structure.threads is None:
        return
    for index, phase in enumerate(planned):
        where = phase.operators[0].operator.position
        for node in sorted(phase.nodes):
            if index not in structure.graph_of(node).later(START):
                raise PlanError(
                    f"{where}: words of phase '{phase.name}' pass through node {node}, which is in another thread"
                )
        for instance in phase.barrier.operator.instances if phase.barrier else ():
            odd = odd_one(structure, index, instance.nodes)
            if odd is not None:
                raise MembershipError(
                    f"{where}: node {odd} does not come to phase '{phase.name}' as often as others of its barrier, which are in "
                    "another thread",
                    phase=index,
                    node=odd,
                )


def odd_one(structure: Structure, index: int, nodes: Iterable[int]) -> int | None:
    """A node of ``nodes`` that may come to phase ``index`` more or less often than nodes of other threads; None if all
    come equally often."""
    threads = structure.threads
    if threads is None:
        return None
    nodes = sorted(nodes)
    for group in threads.groups:
        if index not in threads.phases_of(group):
            continue
        children = {node: child_of(group, node) for node in nodes}
        if len(set(children.values())) == 1:
            continue
        inside = {operator.label for operator in group.operators()}
        users = frozenset().union(*(o.nodes for o in structure.phases[index].operators if o.label not in inside))
        known: dict[object, int | None] = {}
        for node, child in children.items():
            key = child, threads.signature(node)
            if key not in known:
                known[key] = 0 if child is None else _visits(structure, index, child, node)
            if known[key] != 1 and not (known[key] == 0 and node in users):
                return node
    return None


def _visits(structure: Structure, index: int, child: ProgramPart, node: int) -> int | None:
    """How often a node comes through phase ``index`` each time that ``child`` runs: 0, 1, or None if not fixed."""
    assert structure.threads is not None
    graph = PhaseGraph(control(child, structure.threads.phases, node, structure.threads.passed).successors)
    if index not in graph.later(START):
        return 0
    if index not in graph.later(index) and index not in graph.optional:
        return 1
    return None


def unsolved(
    structure: Structure,
    planned: Sequence[PlannedPhase],
    found: Iterable[tuple[int, int, Link]],
    joined: Mapping[int, Mapping[int, list[frozenset[int]] | None]],
) -> list[tuple[int, int, Link]]:
    """Collisions, of those ``found``, that no barrier covers with the routes that the later phase has now. ``joined``:
    by phase and later phase, sets of nodes that its barrier joins; None if any barrier will do."""

    def open_still(earlier: int, later: int) -> bool:
        # Nodes that the barrier leaves out (``loose``) go on without it.
        if all_meet(structure, planned[earlier]):
            return False
        met = planned[earlier].barrier is not None and not planned[earlier].loose
        if met and not comes_next(structure, planned, earlier, later):
            return False
        if later not in joined.get(earlier, {}):
            return True
        known = joined[earlier][later]
        return known is not None and known != word_spans(planned[later], planned[earlier])

    return [(earlier, later, link) for earlier, later, link in found if open_still(earlier, later)]


def all_meet(structure: Structure, phase: PlannedPhase) -> bool:
    """Do all nodes meet in the barrier of a phase, so that no words of it are under way in any later phase? False with threads,
    whose nodes may be in other phases."""
    if structure.threads is not None or phase.barrier is None:
        return False
    working = phase.routed.topology.working
    return any(len(one.nodes) >= len(working) for one in phase.barrier.operator.instances)


def comes_next(structure: Structure, planned: Sequence[PlannedPhase], earlier: int, later: int) -> bool:
    """Can a node go straight from ``earlier`` to ``later``? If not, all nodes of the barrier of ``earlier`` have left
    it before words of ``later`` come. True without threads, where this is not made use of."""
    if structure.threads is None:
        return True
    for node in planned[earlier].nodes & planned[later].nodes:
        members = [i for i, phase in enumerate(planned) if node in phase.nodes]
        if later in structure.graph_of(node).next_among(earlier, members):
            return True
    return False
