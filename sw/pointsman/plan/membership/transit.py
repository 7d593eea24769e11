"""Nodes whose routers a phase uses although they have no operator in it: can they know when it runs?

Such a node enters the phase on its way from a phase of its own to the next of its own (Metcalf 1997, §5.5.2). That only
works if every way between the two leads through the phase: whether an optional phase or a loop is run is decided by the nodes
that have an operator in it, and nobody tells the others (§5.2.2). The same holds for a node whose operators there are optional
while others of the phase are not. Only the last phase does no harm to a node that enters it in vain, if no barrier closes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.plan.errors import MembershipError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.certainty import readings
from pointsman.plan.structure.phase_graph import END, START, PhaseGraph
from pointsman.plan.structure.structure import Structure


def refuse_secret_phases(structure: Structure, planned: Sequence[PlannedPhase]) -> None:
    """Raise `MembershipError` for the first node that could not tell whether a phase runs that uses its router."""
    having = [outline.nodes for outline in structure.phases]
    for reading, certain in readings(structure):
        for index, phase in enumerate(planned):
            if ends_in_vain(structure, planned, index):
                continue
            for node in sorted(phase.nodes - certain[index]):
                own = frozenset(p for p, nodes in enumerate(having) if node in nodes)
                sure = frozenset(p for p, nodes in enumerate(certain) if node in nodes)
                if _may_be_passed(reading.graph_of(node), index, own, sure):
                    raise _refusal(index, phase, node)


def _refusal(index: int, phase: PlannedPhase, node: int) -> MembershipError:
    return MembershipError(
        f"{phase.operators[0].operator.position}: phase '{phase.name}' may be passed over and uses node {node}, which has no "
        "operator in it that it surely uses, and cannot tell whether it runs",
        hint=f"let node {node} take part in the loop or the optional group, or keep its words between nodes that are neighbours",
        phase=index,
        node=node,
    )


def ends_in_vain(structure: Structure, planned: Sequence[PlannedPhase], index: int) -> bool:
    """May a node enter the phase at its end though nobody uses it, because nobody ever leaves it?"""
    return planned[index].barrier is None and structure.successors[index] == {END}


def _may_be_passed(graph: PhaseGraph, phase: int, own: frozenset[int], sure: frozenset[int]) -> bool:
    """Can a node with operators in the phases ``own``, of which it passes over none of ``sure``, go from one to the next both
    through ``phase`` and past it?"""

    def reached(start: int, without: int | None = None) -> set[int]:
        """Phases of the node, ``phase`` or END that may come next after ``start``, on ways that avoid ``without``."""
        seen = graph.reached(graph.successors[start], lambda place: place not in sure, without)
        return {place for place in seen if place in (END, phase) or place in own}

    behind = reached(phase) - {phase}
    starts = (START, *sorted(own - {phase}))
    return any(phase in reached(start) and bool(behind & reached(start, phase)) for start in starts)
