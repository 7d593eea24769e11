"""Where nodes go through phases in which they have no operator, on their way from one of their phases to another."""

from __future__ import annotations

from collections import defaultdict

from pointsman.plan.conflicts.link_slots import memberships
from pointsman.plan.plan import Plan
from pointsman.plan.structure.phase_graph import END, START

Passage = tuple[int, int, int, tuple[int, ...]]
"""(node, phase left or -1, phase entered or -1 for the end, phases on the way)."""


def passages(plan: Plan) -> tuple[Passage, ...]:
    """Where a node changes from one of its phases to another through phases in which it has no operator, or leaves a
    phase that it does not change from: between two uses (to itself), or at its end (to -1)."""
    found = []
    own_operators: dict[int, set[int]] = defaultdict(set)
    for number, phase in enumerate(plan.phases):
        for planned in phase.operators:
            for node in planned.roles:
                own_operators[node].add(number)
    for one in plan.continuing:
        for node in one.operator.roles:
            own_operators[node].add(one.enters[node])
    leaves = plan.leaving
    for members, nodes in memberships(plan.members()).items():
        for node in nodes:
            graph = plan.structure.graph_of(node)
            ways: dict[tuple[int, int], tuple[int, ...]] = {}
            if any(p not in own_operators[node] for p in members):
                for number in (START, *sorted(own_operators[node])):
                    for target in graph.next_among(number, own_operators[node]):
                        shortest = graph.next_among(number, {target})[target]
                        way = tuple(p for p in shortest if p in members)
                        if way:
                            ways[number, -1 if target == END else target] = way
            for number in sorted(own_operators[node]):
                if node in leaves.at_end.get(number, ()):
                    ways.setdefault((number, -1), ())
                if node in leaves.between_uses.get(number, ()):
                    ways.setdefault((number, number), ())
            found += [(node, left, entered, way) for (left, entered), way in ways.items()]
    return tuple(found)
