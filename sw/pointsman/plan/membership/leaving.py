"""When a node has to go through a phase's barrier although its own next use is of the same phase, or its program ends
(Metcalf 1997, §5.2.3, §5.5.2).

A barrier is passed by all of its nodes or by none, so whenever one of its nodes goes on to another phase all have to leave. A
node that has no part in that other phase does not see it: it uses the phase once more, or comes to the end of its program. This
module finds those cases. If all nodes of the barrier use the same operators of the phase, they all leave it between any two
uses, whatever any of them does in between. If they do not, and a node could not tell when to leave, the program is refused.

Takes planned phases and which may follow which. Gives, by phase, the nodes that leave it between two uses, and the
nodes that leave it at the end of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import Leaving, PlannedPhase
from pointsman.plan.structure.phase_graph import END, PhaseGraph
from pointsman.plan.structure.structure import Structure


def leaving(phases: Sequence[PlannedPhase], structure: Structure, optional: Mapping[str, frozenset[int]]) -> Leaving:
    """Nodes that leave a phase without going on to another.

    Parameters
    ----------
    optional : mapping
        By label of an operator, the optional groups around it.

    Raises
    ------
    PlanError
        If a node could not tell when to leave a phase, or how often to pass through it.
    """
    users = [_users(phase) for phase in phases]
    between: dict[int, frozenset[int]] = {}
    at_end: dict[int, frozenset[int]] = {}
    for z, phase in enumerate(phases):
        _check_skipped(phase, optional)
        _check_round(z, phases, users, structure)
        if phase.barrier is None:
            continue
        for instance in phase.barrier.operator.instances:
            part = frozenset(instance.nodes)
            here = part & users[z]
            alike = _alike(phase, here) and here == part
            unseen = [node for node in sorted(here) if _round(z, node, part, phases, users, structure.graph)]
            if unseen:
                if not alike:
                    _refuse(phase, unseen[0])
                between[z] = between.get(z, frozenset()) | here
            # Where a node only lends its router (``here != part``), it has gone through the barrier, so all leave at the end.
            if here != part or any(_away(z, node, phases, structure.graph_of(node)) for node in part):
                ending = frozenset(node for node in here if _may_end(z, node, phases, structure.graph_of(node)))
                quiet = [
                    node
                    for node in sorted(ending)
                    if not alike and not _always_last(z, node, users, structure.graph_of(node))
                ]
                if quiet:
                    _refuse(phase, quiet[0])
                at_end[z] = at_end.get(z, frozenset()) | ending
    for z in range(len(phases)):
        _check_transit(z, phases, users, structure, left_between=z in between)
    return Leaving(between, at_end)


def _users(phase: PlannedPhase) -> frozenset[int]:
    return frozenset().union(*(one.operator.nodes for one in phase.operators))


def _alike(phase: PlannedPhase, nodes: frozenset[int]) -> bool:
    """Does each operator of the phase have all of these nodes or none?"""
    return all(not nodes & one.operator.nodes or nodes <= one.operator.nodes for one in phase.operators)


def _round(
    z: int,
    node: int,
    part: frozenset[int],
    phases: Sequence[PlannedPhase],
    users: Sequence[frozenset[int]],
    graph: PhaseGraph,
) -> bool:
    """Can another node of the barrier ``part`` go on to another phase and come back without ``node`` seeing it?"""

    def hidden(phase: int) -> bool:
        return phase >= 0 and phase != z and node not in users[phase] and node not in phases[phase].nodes

    out = graph.reached(graph.successors[z], hidden)
    back = [w for w in out if hidden(w) and z in graph.reached(graph.successors[w], hidden)]
    return any(part & phases[w].nodes for w in back)


def _away(z: int, node: int, phases: Sequence[PlannedPhase], graph: PhaseGraph) -> bool:
    """Can ``node`` go on to another of its phases, and the program end without phase ``z`` after that?"""
    after = graph.reached(graph.successors[z], lambda phase: phase != z)
    return any(
        w >= 0 and node in phases[w].nodes and END in graph.reached(graph.successors[w], lambda phase: phase != z)
        for w in after
        if w != z
    )


def _always_last(z: int, node: int, users: Sequence[frozenset[int]], graph: PhaseGraph) -> bool:
    """Can no phase that ``node`` uses follow phase ``z``, so that the node knows its last use of it?"""
    after = graph.later(z)
    return z not in after and not any(node in users[w] for w in after)


def _may_end(z: int, node: int, phases: Sequence[PlannedPhase], graph: PhaseGraph) -> bool:
    """Can ``z`` be the last phase of ``node``? If not, the node leaves it by going on to another."""
    return END in graph.reached(graph.successors[z], lambda phase: phase == z or node not in phases[phase].nodes)


def _check_transit(
    z: int,
    phases: Sequence[PlannedPhase],
    users: Sequence[frozenset[int]],
    structure: Structure,
    *,
    left_between: bool,
) -> None:
    """Raise `PlanError` if a node that only lends its router to phase ``z`` could not tell how often to enter it: it enters once
    on its way from an operator of its own to the next. Others may use the phase any number of times then, but not leave it."""
    phase = phases[z]
    for node in sorted(phase.nodes - users[z]):

        def other(number: int, node: int = node) -> bool:
            return number != z and node not in users[number]

        graph = structure.graph_of(node)
        first = graph.successors[z] if left_between else graph.successors[z] - {z}
        if z in graph.reached(first, other):
            raise PlanError(
                f"{phase.operators[0].operator.position}: words of phase '{phase.name}' pass through node {node}, which has "
                "no operator in its loop and cannot tell how often it runs",
                hint="let the node take part in the operator (:valid says who has something to send)",
            )


def _check_skipped(phase: PlannedPhase, optional: Mapping[str, frozenset[int]]) -> None:
    """Raise `PlanError` if a node of a phase may pass over all of its operators there (optional groups) while others use it."""
    around = [optional.get(one.operator.label, frozenset()) for one in phase.operators]
    always = frozenset.intersection(*around) if around else frozenset()
    for node in sorted(_users(phase)):
        own = [groups for one, groups in zip(phase.operators, around, strict=True) if node in one.operator.nodes]
        if not any(groups == always for groups in own):
            raise PlanError(
                f"{phase.operators[0].operator.position}: node {node} may pass over all of its operators in phase "
                f"'{phase.name}' while others use the phase and its router",
                hint="do not put optional operators and others into one phase, or let the node take part in the others",
            )


def _check_round(
    z: int,
    phases: Sequence[PlannedPhase],
    users: Sequence[frozenset[int]],
    structure: Structure,
) -> None:
    """Raise `PlanError` if a node, between two uses of phase ``z``, may pass through a phase without operators of its
    own, but not every time."""
    phase = phases[z]
    for node in sorted(users[z]):

        def other(number: int, node: int = node) -> bool:
            return number != z and node not in users[number]

        graph = structure.graph_of(node)
        between = [
            w for w in graph.reached(graph.successors[z], other) if w >= 0 and other(w) and node in phases[w].nodes
        ]
        often = z in structure.again or sum(node in one.operator.nodes for one in phase.operators) > 1
        back = [w for w in between if z in graph.reached(graph.successors[w], other)]
        if back and often:
            raise PlanError(
                f"{phase.operators[0].operator.position}: node {node} cannot tell when to pass through phase "
                f"'{phases[back[0]].name}' between two uses of phase '{phase.name}': it has no operator in it",
                hint="give the operators the same subset (:valid says who has something to send), or put them into one phase",
            )


def _refuse(phase: PlannedPhase, node: int) -> None:
    raise PlanError(
        f"{phase.operators[0].operator.position}: node {node} cannot tell when the others leave phase '{phase.name}', which "
        "a barrier closes: it has no part in what they do next, and they do not all use the same operators of the phase",
        hint="give the operators the same subset (:valid says who has something to send), or put them into one phase",
    )
