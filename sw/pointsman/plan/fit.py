"""Does a plan fit the nodes: VFSMs and interface registers, before they get their numbers (``targets``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from numesh.shape import NodeShape

from .plan import Plan, PlannedPhase
from .roles import PlanError
from .structure import Structure
from .vfsms import CrowdedError, vfsm_numbers


def fit(plan: Plan) -> None:
    """Refuse a plan that no node can hold.

    Raises
    ------
    PlanError
        If a pipeline has too few VFSMs for a phase beside those that are kept, or a node too few interface registers.
    """
    vfsm_numbers(plan.phases, plan.structure, plan.shape)
    full = _full(plan.phases, plan.shape)
    if full is not None:
        index, node, left = full
        phase = plan.phases[index]
        raise PlanError(
            f"phase '{phase.name}' needs {phase.wiring.registers_used[node]} interface registers at node {node}, which has "
            f"{left} left of {plan.shape.registers}",
            hint="use fewer operators, or a node with more interface registers",
        )


def keeper(phases: Sequence[PlannedPhase], shape: NodeShape, structure: Structure) -> int | None:
    """A phase that nodes leave each for itself, and whose registers or VFSMs, which it therefore keeps, are needed by others:
    that with the most where they are missing. None if all fit, or if there is none such."""
    full = _full(phases, shape)
    if full is not None:
        _, node, _ = full
        used = {i: phase.wiring.registers_used.get(node, 0) for i, phase in enumerate(phases) if phase.loose}
    else:
        try:
            vfsm_numbers(phases, structure, shape)
        except CrowdedError as error:
            used = {i: _vfsms_at(phases[i], error.node) for i in error.kept if phases[i].loose}
        else:
            return None
    index = max(used, key=lambda i: (used[i], i), default=None)
    return index if index is not None and used[index] else None


def _vfsms_at(phase: PlannedPhase, node: int) -> int:
    return sum(vfsm.node == node for chain in phase.routed.chains for vfsm in chain.vfsms)


def _full(phases: Sequence[PlannedPhase], shape: NodeShape) -> tuple[int, int, int] | None:
    """A phase for which a node has too few registers, the node, and how many it has left. Phases that nodes leave each for itself
    keep their registers, all others share what is left."""
    kept: dict[int, int] = defaultdict(lambda: shape.pipelines)
    for index in sorted(range(len(phases)), key=lambda i: not phases[i].loose):
        for node, count in phases[index].wiring.registers_used.items():
            if kept[node] + count > shape.registers:
                return index, node, shape.registers - kept[node]
            if phases[index].loose:
                kept[node] += count
    return None
