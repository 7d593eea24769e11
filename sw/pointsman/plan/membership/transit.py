"""Nodes whose routers a phase uses although they have no operator in it: can they know when it runs?

Such a node enters the phase on its way from a phase of its own to the next of its own (Metcalf 1997, §5.5.2). That only
works if every way between the two leads through the phase: whether an optional phase is taken is decided by the nodes
that have an operator in it, and nobody tells the others (§5.2.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.phase_graph import END, START, PhaseGraph
from pointsman.plan.structure.structure import Structure


def refuse_secret_phases(structure: Structure, planned: Sequence[PlannedPhase]) -> None:
    """Raise `PlanError` for the first node that could not tell whether an optional phase runs that uses its router."""
    own: dict[int, set[int]] = {}
    for index, phase in enumerate(planned):
        for one in phase.operators:
            for node in one.operator.nodes:
                own.setdefault(node, set()).add(index)
    for index, phase in enumerate(planned):
        for node in sorted(phase.nodes):
            mine = frozenset(own.get(node, ()))
            if index in mine or not _may_be_passed(structure.graph_of(node), index, mine):
                continue
            raise PlanError(
                f"{phase.operators[0].operator.position}: phase '{phase.name}' is optional and uses node {node}, which has no "
                "operator in it and cannot tell whether it runs",
                hint=f"let node {node} take part in the optional group, or keep its words between nodes that are neighbours",
            )


def _may_be_passed(graph: PhaseGraph, phase: int, mine: frozenset[int]) -> bool:
    """Can a node with operators in the phases ``mine`` go from one to the next both through ``phase`` and past it?"""

    def reached(start: int, without: int | None = None) -> set[int]:
        """Phases of the node, ``phase`` or END that may come next after ``start``, on ways that avoid ``without``."""
        seen = graph.reached(graph.successors[start], lambda place: place not in mine, without)
        return {place for place in seen if place in (END, phase) or place in mine}

    behind = reached(phase) - {phase}
    return any(phase in reached(start) and bool(behind & reached(start, phase)) for start in (START, *sorted(mine)))
