"""Can every node tell which of an operator's schedules runs, where the operator has a schedule for each run-time value?

Only nodes of the instance learn the value from their application. Takes planned phases; raises `PlanError` if words of such a
phase pass other nodes, or its barrier joins nodes of different instances (Metcalf 1997, §4.1.1 "Multiple Schedules").
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure


def refuse_split_barriers(structure: Structure, planned: Sequence[PlannedPhase]) -> None:
    """Raise `PlanError` if a node would need to know which schedule the nodes of another instance run."""
    for outline, phase in zip(structure.phases, planned, strict=True):
        if outline.value is None:
            continue
        operator = outline.operators[0]  # all have the same nodes
        instances = [frozenset(one.nodes) for one in operator.instances]
        parts = [frozenset(one.nodes) for one in phase.barrier.operator.instances] if phase.barrier else []
        stray = phase.nodes - operator.nodes
        if stray or any(not any(part <= own for own in instances) for part in parts):
            raise PlanError(
                f"{operator.position}: operator '{operator.label}' has a schedule for each value, and nodes outside its "
                "instances would have to know which of them runs, because they meet in one barrier or pass words on",
                hint="use another implementation, or one instance of all nodes",
            )
