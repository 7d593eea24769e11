"""When a node has to go through a phase's barrier although its own next use is of the same phase, or its program ends
(Metcalf 1997, §5.2.3, §5.5.2).

A barrier is passed by all of its nodes or by none, so whenever one of its nodes goes on to another phase all have to leave. A
node that has no part in that other phase does not see it: it uses the phase once more, or comes to the end of its program. This
module finds those cases. If all nodes of the barrier use the same operators of the phase, or each of them uses or passes the
phase just once before all leave it, they all leave it between any two uses, whatever any of them does in between. If they do
not, and a node could not tell when to leave, the plan is refused. At the end of the program all leave, once.

A node that may pass over all of its operators in a phase, because they are optional or in a loop, goes through it as a node
does that only lends its router (``certainty``).

Takes planned phases and which may follow which. Gives, by phase, the nodes that leave it between two uses, and the
nodes that leave it at the end of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pointsman.plan.errors import MembershipError
from pointsman.plan.plan import Leaving, PlannedPhase
from pointsman.plan.structure.certainty import Reading, readings
from pointsman.plan.structure.phase_graph import END, PhaseGraph
from pointsman.plan.structure.structure import Structure


def leaving(phases: Sequence[PlannedPhase], structure: Structure) -> Leaving:
    """Nodes that leave a phase without going on to another.

    Raises
    ------
    MembershipError
        If a node could not tell when to leave a phase, or how often to pass through it.
    """
    by = zip(readings(structure), readings(structure, together=True), strict=True)
    found = [_leaving(phases, reading, together) for reading, (_, together) in by]
    # By one reading or the other: who passes over a group leaves its phases with all others.
    between, at_end = ([one.between_uses for one in found], [one.at_end for one in found])
    return Leaving(_union(between), _union(at_end))


def _union(found: Sequence[Mapping[int, frozenset[int]]]) -> dict[int, frozenset[int]]:
    phases = sorted({phase for nodes in found for phase in nodes})
    return {phase: frozenset().union(*(nodes.get(phase, frozenset()) for nodes in found)) for phase in phases}


def _leaving(phases: Sequence[PlannedPhase], reading: Reading, together: Sequence[frozenset[int]]) -> Leaving:
    """``together``: by phase, the nodes that use an operator of it whenever anybody comes to it."""
    structure, certain = reading
    away = [sure - all_ for sure, all_ in zip(certain, together, strict=True)]
    having = [outline.nodes for outline in structure.phases]
    between: dict[int, frozenset[int]] = {}
    at_end: dict[int, frozenset[int]] = {}
    for z, phase in enumerate(phases):
        _check_round(z, phases, having[z], certain, structure)
        if phase.barrier is None:
            continue
        for instance in phase.barrier.operator.instances:
            part = frozenset(instance.nodes)
            here = part & certain[z]
            once = z not in structure.again and _single(phase, part & having[z])
            ways = _ways(structure, part)
            unseen = [
                node
                for node in sorted(here)
                if _round(z, node, part, phases, certain, structure.graph)
                or any(
                    _round(z, node, others, phases, certain, graph, away)
                    for graph, others in ways
                    if node not in others
                )
            ]
            if unseen:
                if not once and not (here == part and _alike(phase, here)):
                    raise _refusal(z, phase, unseen[0])
                between[z] = between.get(z, frozenset()) | here
            # Where a node only lends its router (``here != part``), it has gone through the barrier, so all leave at the end.
            if here != part or any(_away(z, node, phases, structure.graph_of(node)) for node in part):
                ending = frozenset(n for n in part & having[z] if _may_end(z, n, phases, structure.graph_of(n)))
                at_end[z] = at_end.get(z, frozenset()) | ending
    for z in range(len(phases)):
        _check_transit(z, phases, certain, structure, left_between=z in between)
    return Leaving(between, at_end)


def _single(phase: PlannedPhase, nodes: frozenset[int]) -> bool:
    """Does each of these nodes have one operator of the phase at most?"""
    return all(sum(node in one.operator.nodes for one in phase.operators) <= 1 for node in nodes)


def _alike(phase: PlannedPhase, nodes: frozenset[int]) -> bool:
    """Does each operator of the phase have all of these nodes or none?"""
    return all(not nodes & one.operator.nodes or nodes <= one.operator.nodes for one in phase.operators)


def _ways(structure: Structure, nodes: frozenset[int]) -> list[tuple[PhaseGraph, frozenset[int]]]:
    """The nodes by their threads, each with its ways."""
    if structure.threads is None:
        return []
    found: dict[tuple[tuple[int, ...], ...], set[int]] = {}
    for node in nodes:
        found.setdefault(structure.threads.signature(node), set()).add(node)
    return [(structure.graph_of(min(own)), frozenset(own)) for own in found.values()]


def _round(
    z: int,
    node: int,
    others: frozenset[int],
    phases: Sequence[PlannedPhase],
    certain: Sequence[frozenset[int]],
    graph: PhaseGraph,
    away: Sequence[frozenset[int]] | None = None,
) -> bool:
    """Can one of ``others`` leave phase ``z`` for another phase and come back by ``graph`` without ``node`` seeing it? ``away``:
    by phase, the nodes that may pass over it while other threads do not."""

    def hidden(phase: int) -> bool:
        if phase < 0 or phase == z:
            return False
        passed = away is not None and node in away[phase]
        return passed or (node not in certain[phase] and node not in phases[phase].nodes)

    out = graph.reached(graph.successors[z], hidden)
    back = [w for w in out if hidden(w) and z in graph.reached(graph.successors[w], hidden)]
    return any(others & phases[w].nodes for w in back)


def _away(z: int, node: int, phases: Sequence[PlannedPhase], graph: PhaseGraph) -> bool:
    """Can ``node`` go on to another of its phases, and the program end without phase ``z`` after that?"""
    after = graph.reached(graph.successors[z], lambda phase: phase != z)
    return any(
        w >= 0 and node in phases[w].nodes and END in graph.reached(graph.successors[w], lambda phase: phase != z)
        for w in after
        if w != z
    )


def _may_end(z: int, node: int, phases: Sequence[PlannedPhase], graph: PhaseGraph) -> bool:
    """Can ``z`` be the last phase of ``node``? If not, the node leaves it by going on to another."""
    return END in graph.reached(graph.successors[z], lambda phase: phase == z or node not in phases[phase].nodes)


def _check_transit(
    z: int,
    phases: Sequence[PlannedPhase],
    certain: Sequence[frozenset[int]],
    structure: Structure,
    *,
    left_between: bool,
) -> None:
    """Raise `MembershipError` if a node that only lends its router to phase ``z`` could not tell how often to enter it: it
    enters once on its way from an operator of its own to the next. Others may use the phase any number of times then, but not
    leave it."""
    phase = phases[z]
    for node in sorted(phase.nodes - certain[z]):

        def other(number: int, node: int = node) -> bool:
            return number != z and node not in certain[number]

        graph = structure.graph_of(node)
        first = graph.successors[z] if left_between else graph.successors[z] - {z}
        if z in graph.reached(first, other):
            raise MembershipError(
                f"{phase.operators[0].operator.position}: words of phase '{phase.name}' pass through node {node}, which has "
                "no operator in its loop and cannot tell how often it runs",
                hint="let the node take part in the operator (:valid says who has something to send)",
                phase=z,
                node=node,
            )


def _check_round(
    z: int,
    phases: Sequence[PlannedPhase],
    having: frozenset[int],
    certain: Sequence[frozenset[int]],
    structure: Structure,
) -> None:
    """Raise `MembershipError` if a node with operators in phase ``z`` (one of ``having``), between two uses of it, may pass
    through a phase without operators of its own, but not every time."""
    phase = phases[z]
    for node in sorted(having):

        def other(number: int, node: int = node) -> bool:
            return number != z and node not in certain[number]

        graph = structure.graph_of(node)
        between = [
            w for w in graph.reached(graph.successors[z], other) if w >= 0 and other(w) and node in phases[w].nodes
        ]
        often = z in structure.again or sum(node in one.operator.nodes for one in phase.operators) > 1
        back = [w for w in between if z in graph.reached(graph.successors[w], other)]
        if back and often:
            raise MembershipError(
                f"{phase.operators[0].operator.position}: node {node} cannot tell when to pass through phase "
                f"'{phases[back[0]].name}' between two uses of phase '{phase.name}': it has no operator in it",
                hint="give the operators the same subset (:valid says who has something to send), or put them into one phase",
                phase=back[0],
                node=node,
            )


def _refusal(z: int, phase: PlannedPhase, node: int) -> MembershipError:
    return MembershipError(
        f"{phase.operators[0].operator.position}: node {node} cannot tell when the others leave phase '{phase.name}', which "
        "a barrier closes: it has no part in what they do next, and they do not all use the same operators of the phase",
        hint="give the operators the same subset (:valid says who has something to send), or put them into one phase",
        phase=z,
        node=node,
    )
