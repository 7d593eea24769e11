"""Does each node in the barrier of a phase come to it in every round of a loop in which the others do?

A phase may hold operators at the end of a loop and operators after the loop. In each round nodes leave it for the rest of the
loop, through its barrier. A node that has only operators after the loop, or only optional ones in it, does not come, and the
others would wait for it for ever. (``leaving`` finds the case that such a node has no part in the rest of the loop either.)

Takes planned phases; raises `PlanError` for the first such node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure
from pointsman.program.program import Group, Operator, Program

from .certainty import certain_users


def refuse_missed_rounds(
    program: Program, structure: Structure, planned: Sequence[PlannedPhase], optional: Mapping[str, frozenset[int]]
) -> None:
    """Raise `PlanError` if a node in the barrier of a phase could miss rounds in which the others come to it.
    ``optional``: by label of an operator, the optional groups around it."""
    loops = _loops(program)
    # Nodes that may pass over their operators in the phase go through it all the same (``passages``).
    for phase, users in zip(planned, certain_users(planned, structure, optional), strict=True):
        if phase.barrier is None:
            continue
        labels = {one.operator.label for one in phase.operators}
        for inside in loops:
            if not inside & labels or inside <= labels:
                continue
            own = [one.operator for one in phase.operators if one.operator.label in inside]
            for instance in phase.barrier.operator.instances:
                part = frozenset(instance.nodes)
                for node in sorted(part & users):
                    # Whenever an operator without this node is used, is one with this node used as well?
                    sure = [optional[one.label] for one in own if node in one.nodes]
                    without = [one for one in own if node not in one.nodes and part & frozenset(one.nodes)]
                    if all(any(groups <= optional[one.label] for groups in sure) for one in without):
                        continue
                    none = "it has no operator of it" if not sure else "all that it has of it is optional"
                    raise PlanError(
                        f"{own[0].position}: node {node} cannot tell when the others leave phase '{phase.name}', "
                        f"which a barrier closes: {none} in the loop in which they do",
                        hint="let a phase end after the loop, or give the operators the same subset",
                    )


def _loops(program: Program) -> list[frozenset[str]]:
    """Labels of the operators in each loop."""
    found: list[frozenset[str]] = []
    for part, _ in program.root.walk():
        if isinstance(part, Group) and part.kind == "loop":
            found.append(frozenset(inner.label for inner, _ in part.walk() if isinstance(inner, Operator)))
    return found
