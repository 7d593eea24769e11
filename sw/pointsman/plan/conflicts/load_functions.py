"""Operators whose load functions get in each other's way, so that they cannot share a phase.

Takes the operators of a phase with their implementations, or as planned; raises `RoutingError`, so that the planner tries other
implementations or another division. Leaves alone: words and wires.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from pointsman.operators import Implementation
from pointsman.operators.api.loading import Loading
from pointsman.plan.plan import PlannedOperator
from pointsman.program.program import Operator
from pointsman.routing.errors import RoutingError

HINT = "use another implementation for one of them, or phases of their own"


def refuse_two_makers(operators: Sequence[Operator], implementations: Sequence[Implementation]) -> None:
    """Raise `RoutingError` if two operators of a phase make schedules at run time: each would put its own over the other's."""
    loadings = zip(operators, (one.loading for one in implementations), strict=True)
    makers = [operator.label for operator, loading in loadings if loading is Loading.RESCHEDULED]
    if len(makers) > 1:
        raise RoutingError(
            f"operators '{makers[0]}' and '{makers[1]}' both make their schedule at run time, and a phase has room for one",
            hint=HINT,
        )


def refuse_mixed_commands(planned: Sequence[PlannedOperator]) -> None:
    """Raise `RoutingError` if a router is sent commands by another node, and load functions of its own for another
    operator of the phase rewrite it, too: words of two commands could mix (Metcalf 1997, §4.1.1)."""
    remote = (one for one in planned if one.implementation.loading is Loading.REMOTE)
    for one, other in product(remote, planned):
        both = _rewritten(one) & _rewritten(other)
        if both and one is not other:
            raise RoutingError(
                f"node {min(both)} is sent commands for '{one.operator.label}' by another node, and its load functions for "
                f"'{other.operator.label}' send it commands, too",
                hint=HINT,
            )


def _rewritten(planned: PlannedOperator) -> set[int]:
    """Nodes whose routers load functions of an operator rewrite."""
    return {node for node, roles in planned.roles.items() if any(role.settings for role in roles)}
