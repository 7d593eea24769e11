"""Program -> ways to divide it into phases that are worth routing.

Takes a Program and the implementations; gives `Structure`s, the most promising first: the one that the search finds by its
estimates, a phase for each operator, and everything in one phase, which any program can fall back on. The planner routes
them and keeps the quickest; where one cannot be routed, or a node could not follow its phases, the next one is left.

Leaves alone: routes and real ends. Non-goals, so far: phases inside parallel groups (operators that continue), and
threads that change their phases without each other; both stay in one phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pointsman.cop.program import Program
from pointsman.operators import Context, Implementation

from .choice import able
from .estimates import Estimates
from .extents import Part, disjoint_tree
from .options import best_rate
from .phase_tree import Break, breaks, fold
from .search import search
from .structure import Structure, divided, outline

BUDGET = 3000
"""Search nodes."""


def divisions(
    program: Program, context: Context, implementations: Sequence[Implementation], *, period: int
) -> list[Structure]:
    """Structures without doubles. ``period`` is the schedule length that estimates assume."""
    root = disjoint_tree(program)
    free = set(_free(root))
    found = []
    if free:
        choices = {}
        for operator in program.operators():
            known = [one for _, one in able(operator, implementations, context)]
            ways = [one for one in known if not one.by_value] or known
            metrics = [(one, one.metric(operator, context)) for one in ways]
            choices[operator.label] = [
                (one, replace(metric, words_per_cycle=best_rate(operator, metric.words_per_cycle, period)))
                for one, metric in metrics
                if metric is not None
            ]
        costs = Estimates(choices, program.rounds(), context, period=period)
        best = search(root, costs, budget=BUDGET, allowed=lambda place: place in free)
        found.append(divided(program, root, best.phases))
    found.append(outline(program))
    if root.operators():
        found.append(divided(program, root, fold(root, lambda part, i: False)))
    distinct: dict[tuple[tuple[str, ...], ...], Structure] = {}
    for structure in found:
        key = tuple(tuple(operator.label for operator in phase.operators) for phase in structure.phases)
        distinct.setdefault(key, structure)
    return list(distinct.values())


def _free(root: Part) -> Iterator[Break]:
    """Places to end a phase that are in no parallel or disjoint group."""
    bound = {
        child
        for part in root.walk()
        if part.kind in ("parallel", "disjoint")
        for child in part.walk()
        if child is not part
    }
    return (place for place in breaks(root) if place[0] not in bound)
