"""Program -> ways to divide it into phases that are worth routing.

Takes a Program and the implementations; gives `Structure`s, the most promising first: those that the search finds by its
estimates, with and without threads that change their phases without each other, a phase for each operator, and everything in one
phase, which any program can fall back on. The planner routes them and keeps the quickest; where one cannot be routed, or a
node could not follow its phases, the next one is left.

Leaves alone: routes and real ends. Non-goals, so far: phases inside parallel groups (operators that continue).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pointsman.cop.program import Program
from pointsman.operators import Context, Implementation

from .choice import able
from .estimates import Estimates
from .extents import Part, PartKind, disjoint_tree
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
    found: list[Structure] = []
    kinds: tuple[tuple[PartKind, ...], ...] = (("parallel",), ("parallel", "disjoint"))
    free = list(dict.fromkeys(tuple(_free(root, around)) for around in kinds))
    if free[0]:
        choices = {}
        for operator in program.operators():
            ways = [one for _, one in able(operator, implementations, context)]
            metrics = [(one, one.metric(operator, context)) for one in ways]
            choices[operator.label] = [(one, metric) for one, metric in metrics if metric is not None]
        costs = Estimates(choices, program.rounds(), context, period=period)
        best = [search(root, costs, budget=BUDGET, allowed=set(places).__contains__) for places in free if places]
        # Threads that are not expected to be quicker are not worth the time to route them.
        if len(best) > 1 and best[0].cost >= best[1].cost:
            del best[0]
        found += [divided(program, root, one.phases) for one in best]
    found.append(outline(program))
    if root.operators():
        found.append(divided(program, root, fold(root, lambda part, i: False)))
    distinct: dict[tuple[tuple[str, ...], ...], Structure] = {}
    for structure in found:
        key = tuple(tuple(operator.label for operator in phase.operators) for phase in structure.phases)
        distinct.setdefault(key, structure)
    return list(distinct.values())


def _free(root: Part, around: Collection[PartKind]) -> Iterator[Break]:
    """Places to end a phase that are in no group of these kinds."""
    bound = {child for part in root.walk() if part.kind in around for child in part.walk() if child is not part}
    return (place for place in breaks(root) if place[0] not in bound)
