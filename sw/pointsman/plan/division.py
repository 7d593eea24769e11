"""Program -> ways to divide it into phases that are worth routing.

Takes a Program and the implementations; gives `Structure`s, the most promising first: the one that the search finds by its
estimates, a phase for each operator, and everything in one phase, which any program can fall back on. The planner routes
them and keeps the quickest; where one cannot be routed, or a node could not follow its phases, the next one is left.

Leaves alone: routes and real ends. Non-goals, so far: phases inside parallel groups (operators that continue), and
threads that change their phases without each other; both stay in one phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pointsman.cop.program import Program
from pointsman.operators import Context, Implementation

from .choice import able
from .estimates import Estimates
from .extents import Part, disjoint_tree
from .phase_tree import Break, breaks, fold
from .search import Found, search
from .structure import Structure, divided, outline

BUDGET = 3000
"""Search nodes, times the effort."""


def costs_of(
    program: Program, context: Context, implementations: Sequence[Implementation], *, period: int
) -> Estimates:
    """What phases of a program would cost with this schedule length."""
    choices = {}
    for operator in program.operators():
        ways = [one for _, one in able(operator, implementations, context)]
        metrics = [(one, one.metric(operator, context)) for one in ways]
        choices[operator.label] = [(one, metric) for one, metric in metrics if metric is not None]
    return Estimates(choices, program.rounds(), context, period=period)


def searched(program: Program, costs: Estimates, *, effort: float = 1.0) -> Found | None:
    """The search's answer; None if there is nothing to choose."""
    root = disjoint_tree(program)
    free = set(_free(root))
    if not free:
        return None
    # The loader phase is one more.
    most = max(1, costs.context.shape.schedule_depth // costs.period - 1)
    budget = max(1, int(BUDGET * effort))
    return search(root, costs, budget=budget, allowed=lambda place: place in free, most=most)


def divisions(program: Program, found: Found | None) -> list[Structure]:
    """Structures without doubles; ``found`` is the search's answer."""
    root = disjoint_tree(program)
    ways = []
    if found is not None:
        ways.append(divided(program, found.root, found.phases))
    ways.append(outline(program))
    if root.operators():
        ways.append(divided(program, root, fold(root, lambda part, i: False)))
    distinct: dict[tuple[tuple[str, ...], ...], Structure] = {}
    for structure in ways:
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
