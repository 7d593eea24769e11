"""Is there room in the nodes for what is planned? Numbers are given later (`pointsman.targets.numesh`), but a plan that
cannot get them must give way to another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from numesh.shape import NodeShape
from pointsman.cop.program import Operator
from pointsman.operators import Implementation, Wiring
from pointsman.streams.router import RoutingError


def refuse_overfull_phase(wiring: Wiring, shape: NodeShape) -> None:
    """Raise `RoutingError` if a phase alone needs more interface registers than a node has."""
    room = shape.registers - shape.pipelines
    for node, count in sorted(wiring.registers_used.items()):
        if count > room:
            raise RoutingError(
                f"node {node} would need {count} interface registers and has {room} besides its command registers",
                hint="use fewer operators, another implementation, or a node with more interface registers",
            )


def refuse_two_makers(operators: Sequence[Operator], implementations: Sequence[Implementation]) -> None:
    """Raise `RoutingError` if two operators of a phase make schedules at run time: each would put its own over the other's."""
    makers = [one.label for one, how in zip(operators, implementations, strict=True) if how.rescheduled]
    if len(makers) > 1:
        raise RoutingError(
            f"operators '{makers[0]}' and '{makers[1]}' both make their schedule at run time, and a phase has room for one",
            hint="use another implementation for one of them, or phases of their own",
        )
