"""Does a plan fit the nodes: VFSMs of all phases and interface registers, before they get their numbers (``targets``)."""

from __future__ import annotations

from collections import defaultdict

from numesh.codes import FIRST_FREE_VFSM

from .plan import Plan
from .roles import PlanError


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
    # Phases that nodes leave each for itself keep their registers, all others share what is left.
    kept: dict[int, int] = defaultdict(lambda: plan.shape.pipelines)
    for phase in sorted(plan.phases, key=lambda phase: not phase.loose):
        for node, count in phase.wiring.registers_used.items():
            if kept[node] + count > plan.shape.registers:
                raise PlanError(
                    f"phase '{phase.name}' needs {count} interface registers at node {node}, which has "
                    f"{plan.shape.registers - kept[node]} left of {plan.shape.registers}",
                    hint="use fewer operators, or a node with more interface registers",
                )
            if phase.loose:
                kept[node] += count
