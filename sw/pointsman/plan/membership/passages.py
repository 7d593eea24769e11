"""Where nodes go through phases in which they have no operator, on their way from one of their phases to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from pointsman.plan.conflicts.link_slots import memberships
from pointsman.plan.errors import MembershipError
from pointsman.plan.plan import Plan
from pointsman.plan.structure.certainty import readings
from pointsman.plan.structure.phase_graph import END, START, PhaseGraph

from .transit import ends_in_vain

Passage = tuple[int, int, int, tuple[int, ...]]
"""(node, phase left or -1, phase entered or -1 for the end, phases on the way)."""


def passages(plan: Plan) -> tuple[Passage, ...]:
    """Where a node changes from one of its phases to another through phases in which it has no operator, or none that it
    surely uses; or leaves a phase that it does not change from: between two uses (to itself), or at its end (to -1).

    Raises
    ------
    MembershipError
        If the readings of the program (`certainty.readings`) take a node from one phase to another by different ways: it goes
        through the same phases each time.
    """
    found = []
    own_operators: dict[int, set[int]] = defaultdict(set)
    for number, phase in enumerate(plan.phases):
        for planned in phase.operators:
            for node in planned.roles:
                own_operators[node].add(number)
    continued: dict[int, set[int]] = defaultdict(set)
    for one in plan.continuing:
        for node in one.operator.roles:
            own_operators[node].add(one.enters[node])
            continued[node].add(one.enters[node])
    leaves = plan.leaving
    last = frozenset(p for p in range(len(plan.phases)) if ends_in_vain(plan.structure, plan.phases, p))
    by = readings(plan.structure)
    for members, nodes in memberships(plan.members()).items():
        for node in nodes:
            own = own_operators[node]
            ways: dict[tuple[int, int], tuple[int, ...]] = {}
            for structure, certain in by:
                graph = structure.graph_of(node)
                sure = frozenset(p for p in own if p in continued[node] or node in certain[p])
                if all(p in sure for p in members):
                    continue
                for number in (START, *sorted(own)):
                    for target, passed in _next(graph, number, own, sure, last.intersection(members) - own).items():
                        way = tuple(p for p in passed if p in members)
                        if way:
                            end = -1 if target == END else target
                            if ways.setdefault((number, end), way) != way:
                                raise _two_ways(plan, node, ways[number, end], way)
            for number in sorted(own_operators[node]):
                if node in leaves.at_end.get(number, ()):
                    ways.setdefault((number, -1), ())
                if node in leaves.between_uses.get(number, ()):
                    ways.setdefault((number, number), ())
            found += [(node, left, entered, way) for (left, entered), way in ways.items()]
    return tuple(found)


def _two_ways(plan: Plan, node: int, one: tuple[int, ...], other: tuple[int, ...]) -> MembershipError:
    names = [" then ".join(f"'{plan.phases[p].name}'" for p in way) for way in (one, other)]
    return MembershipError(
        f"node {node}, which has no part of its own there, would go through {names[0]} or through {names[1]}, not knowing which",
        phase=next(p for p in (*one, *other) if (p in one) != (p in other) or one.index(p) != other.index(p)),
        node=node,
    )


def _next(graph: PhaseGraph, phase: int, own: Set[int], sure: Set[int], last: Set[int]) -> dict[int, tuple[int, ...]]:
    """Phases of ``own`` (or END) that a node may use next after ``phase``, with the phases on a shortest way there. The node
    may pass over phases of ``own`` that are not ``sure``; it does not come to its end without a phase of ``last``, if there
    is a way through it."""
    found: dict[int, tuple[int, ...]] = {}
    queue: list[tuple[int, tuple[int, ...]]] = [(place, ()) for place in sorted(graph.successors[phase])]
    seen = set()
    for place, way in queue:
        if place == END and last and last.isdisjoint((phase, *way)):
            found.setdefault(END, way)
        elif place == END and (END not in found or last.isdisjoint((phase, *found[END]))):
            found[END] = way
        if place == END or place in seen:
            continue
        seen.add(place)
        if place in own:
            found[place] = way
        if place not in sure:
            queue += [(after, (*way, place)) for after in sorted(graph.successors[place])]
    return found
