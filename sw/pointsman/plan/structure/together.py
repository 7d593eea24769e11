"""Parallel groups -> those whose operators nodes are taken to call at the same time.

Nodes may use the operators of a parallel group in any order. Most applications call one function after the other; but the
broadcasts of an all-gather, and operators made for it, are taken to be called together (`pointsman.runtime.Node.together`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.operators import IMPLEMENTATIONS
from pointsman.operators.api.operands import is_constant, operand
from pointsman.program.program import Group, Operator

MADE_FOR_IT = frozenset(one.name for one in IMPLEMENTATIONS if one.at_once)
"""Implementations made for several operators at the same time."""


def called_together(group: Group) -> bool:
    """Are the operators of a group made to be called together, by their implementations or as an all-gather?"""
    if group.kind != "parallel":
        return False
    made_for_it = [isinstance(one, Operator) and one.impl in MADE_FOR_IT for one in group.children]
    operators = all(isinstance(one, Operator) for one in group.children)
    return operators and (sum(made_for_it) > 1 or is_all_gather(group.children))


def is_all_gather(parts: Sequence[Group | Operator]) -> bool:
    """Are these broadcasts from each position of the same instances?"""
    operators = [
        one for one in parts if isinstance(one, Operator) and one.kind == "broadcast" and is_constant(one, "source")
    ]
    if len(operators) < max(2, len(parts)):
        return False
    if len({tuple(instance.nodes for instance in one.instances) for one in operators}) > 1:
        return False
    return all(
        {operand(one, i, "source", ()) for one in operators} == set(range(len(instance.nodes)))
        for i, instance in enumerate(operators[0].instances)
    )
