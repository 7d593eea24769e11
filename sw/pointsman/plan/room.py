"""Is there room in the nodes for what is planned? Numbers are given later (`pointsman.targets.numesh`), but a plan that
cannot get them must give way to another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from numesh.codes import FIRST_FREE_VFSM
from numesh.shape import NodeShape
from pointsman.cop.program import Operator
from pointsman.operators import Implementation, Wiring
from pointsman.streams.router import RoutingError
from pointsman.streams.stream import RoutedPhase

from .plan import PlannedPhase
from .roles import PlanError


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


def refuse_overfull(planned: Sequence[PlannedPhase], shape: NodeShape) -> None:
    """Raise `PlanError` if all phases together need more VFSMs than a pipeline has."""
    used: Counter[tuple[int, int]] = Counter()
    for phase in planned:
        used.update(vfsms_used(phase.routed))
    worst = max(used, key=lambda place: (used[place], place), default=None)
    if worst is not None and used[worst] + FIRST_FREE_VFSM > shape.vfsms:
        raise PlanError(
            f"pipeline {worst[1]} of node {worst[0]} has {shape.vfsms} VFSMs and {len(planned)} phases need "
            f"{used[worst] + FIRST_FREE_VFSM}",
            hint="use fewer values (:values) or phases, another implementation, or a node with more VFSMs",
        )


def vfsms_used(routed: RoutedPhase) -> dict[tuple[int, int], int]:
    """VFSMs of a phase by node and pipeline."""
    top: dict[tuple[int, int], int] = {}
    for chain in routed.chains:
        for vfsm in chain.vfsms:
            place = (vfsm.node, vfsm.pipeline)
            top[place] = max(top.get(place, 0), vfsm.number - FIRST_FREE_VFSM + 1)
    return top
