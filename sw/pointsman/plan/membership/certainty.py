"""Which nodes surely use an operator of a phase whenever the phase runs.

A phase may hold an optional operator beside others, and then a node that has a part in the optional one only may be past the
phase without a load function that would have entered it. Such a node is treated like a node that only lends its router: it goes
through the phase on its way (``passages``), so that barriers there count right, and words of others pass.

Takes planned phases and the optional groups around operators. `Structure.passed` names operators of groups that every
node goes through whether it uses them or not; so nobody is certain to use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure


def certain_users(
    phases: Sequence[PlannedPhase], structure: Structure, optional: Mapping[str, frozenset[int]]
) -> list[frozenset[int]]:
    """By phase, the nodes that use an operator of it whenever it runs. ``optional``: by label of an operator, the optional
    groups around it."""
    return [_certain(phase, structure.passed, optional) for phase in phases]


def users(phases: Sequence[PlannedPhase]) -> list[frozenset[int]]:
    """By phase, the nodes that have an operator in it."""
    return [frozenset().union(*(one.operator.nodes for one in phase.operators)) for phase in phases]


def _certain(phase: PlannedPhase, passed: frozenset[str], optional: Mapping[str, frozenset[int]]) -> frozenset[int]:
    around = [optional.get(one.operator.label, frozenset()) for one in phase.operators]
    always = frozenset.intersection(*around) if around else frozenset()
    return frozenset().union(
        *(
            one.operator.nodes
            for one, groups in zip(phase.operators, around, strict=True)
            if groups == always and one.operator.label not in passed
        )
    )
