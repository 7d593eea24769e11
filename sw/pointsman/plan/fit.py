"""Does a plan fit the nodes: VFSMs of all phases and interface registers, before they get their numbers (``targets``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from numesh.codes import FIRST_FREE_VFSM
from numesh.shape import NodeShape

from .dependencies import keeping
from .plan import Plan, PlannedPhase
from .roles import PlanError
from .structure import Structure


def fit(plan: Plan) -> None:
    """Refuse a plan that no node can hold.

    Raises
    ------
    PlanError
        If a pipeline has too few VFSMs for the phases, or a node too few interface registers.
    """
    used: dict[tuple[int, int], int] = defaultdict(int)
    for phase in plan.phases:
        for chain in phase.routed.chains:
            for vfsm in chain.vfsms:
                used[vfsm.node, vfsm.pipeline] += 1
    for (node, pipeline), count in sorted(used.items()):
        if count + FIRST_FREE_VFSM > plan.shape.vfsms:
            raise PlanError(
                f"pipeline {pipeline} of node {node} has {plan.shape.vfsms} VFSMs and needs {count + FIRST_FREE_VFSM} for "
                f"{len(plan.phases)} phases",
                hint="use fewer phases, or a node with more VFSMs",
            )
    full = _full(plan.phases, plan.shape, keeping(plan.structure, plan.phases))
    if full is not None:
        index, node, left = full
        phase = plan.phases[index]
        raise PlanError(
            f"phase '{phase.name}' needs {phase.wiring.registers_used[node]} interface registers at node {node}, which has "
            f"{left} left of {plan.shape.registers}",
            hint="use fewer operators, or a node with more interface registers",
        )


def keeper(phases: Sequence[PlannedPhase], shape: NodeShape, structure: Structure) -> int | None:
    """A phase that keeps its registers, because nodes leave it each for itself, and others need them: that with the most where
    they are missing. None if all fit, or if there is none such."""
    keeps = keeping(structure, phases)
    full = _full(phases, shape, keeps)
    if full is None:
        return None
    _, node, _ = full
    used = {i: phase.wiring.registers_used.get(node, 0) for i, phase in enumerate(phases) if keeps[i]}
    index = max(used, key=lambda i: (used[i], i), default=None)
    return index if index is not None and used[index] else None


def _full(phases: Sequence[PlannedPhase], shape: NodeShape, keeps: Sequence[bool]) -> tuple[int, int, int] | None:
    """A phase for which a node has too few registers, the node, and how many it has left. Some phases keep their registers, all
    others share what is left."""
    kept: dict[int, int] = defaultdict(lambda: shape.pipelines)
    for index in sorted(range(len(phases)), key=lambda i: not keeps[i]):
        for node, count in phases[index].wiring.registers_used.items():
            if kept[node] + count > shape.registers:
                return index, node, shape.registers - kept[node]
            if keeps[index]:
                kept[node] += count
    return None
