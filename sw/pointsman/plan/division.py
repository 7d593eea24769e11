"""Program -> ways to divide it into phases that are worth routing.

Takes a Program and the implementations; gives `Structure`s, the most promising first: the one that the search finds by its
estimates, a phase for each operator, and everything in one phase, which any program can fall back on. The planner routes
them and keeps the quickest; where one cannot be routed, or a node could not follow its phases, the next one is left.

Leaves alone: routes and real ends. Non-goals, so far: phases inside parallel groups (operators that continue), and
threads that change their phases without each other; both stay in one phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Divisions:
    """Ways to divide a program, without doubles; what they would cost; and the search's answer, if there was one."""

    structures: tuple[Structure, ...]
    costs: Estimates
    found: Found | None

    def estimate(self, structure: Structure, period: int) -> float:
        """Cycles of a division with this schedule length."""
        return self.costs.at(period).of((phase.operators, phase.exits) for phase in structure.phases)


def divisions(
    program: Program,
    context: Context,
    implementations: Sequence[Implementation],
    *,
    period: int,
    effort: float = 1.0,
) -> Divisions:
    """Divisions worth routing. ``period`` is the schedule length that the search assumes."""
    root = disjoint_tree(program)
    free = set(_free(root))
    found = []
    choices = {}
    for operator in program.operators():
        ways = [one for _, one in able(operator, implementations, context)]
        metrics = [(one, one.metric(operator, context)) for one in ways]
        choices[operator.label] = [(one, metric) for one, metric in metrics if metric is not None]
    costs = Estimates(choices, program.rounds(), context, period=period)
    best = None
    if free:
        best = search(root, costs, budget=max(1, int(BUDGET * effort)), allowed=lambda place: place in free)
        found.append(divided(program, root, best.phases))
    found.append(outline(program))
    if root.operators():
        found.append(divided(program, root, fold(root, lambda part, i: False)))
    distinct: dict[tuple[tuple[str, ...], ...], Structure] = {}
    for structure in found:
        key = tuple(tuple(operator.label for operator in phase.operators) for phase in structure.phases)
        distinct.setdefault(key, structure)
    return Divisions(tuple(distinct.values()), costs, best)


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
