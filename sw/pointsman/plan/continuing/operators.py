"""Operators that continue over changes of phase (Metcalf 1997, §5.1): where they end, and in which phase a node enters them.

A continuing operator keeps its route, VFSMs, interface registers and the slots of its first route in all of its phases.
So words go on over its wires whatever phases its nodes are in, and nodes that have nothing else to do in a phase need
not come to it. Takes routed operators (``routes``) and planned phases; gives `Continuing`. The judge has rules of its
own (``verify.phases.continuing``). Operators done by messages continue with their channels, and every processor goes on
serving them (§5.1.3).

Non-goals: operators whose router is rewritten; other slots from phase to phase (``slots``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import Continuing, Leaving, PlannedPhase
from pointsman.plan.structure.beside import by_messages
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.structure import Structure, Through
from pointsman.program.program import Operator
from pointsman.routing.streams import RoutedChain, RoutedPhase, RoutedVfsm, Stream


def ends_of(through: Through, structure: Structure) -> tuple[int, ...]:
    """Phases of the operator from which a node may go on to a phase without it; for an operator done by messages, which
    nodes may have to pass on for others, also those from which it may go to the end of the program."""
    least = END if by_messages(through.operator) else 0
    return tuple(
        p for p in through.phases if any(s >= least and s not in through.phases for s in structure.successors[p])
    )


def inside(operator: Operator, streams: Iterable[Stream], network: frozenset[int]) -> list[Stream]:
    """Streams of an operator, confined to the nodes of their instances: others would not know when to lend their routers."""
    instances = [frozenset(one.nodes) for one in operator.instances]
    found = []
    for stream in streams:
        # Instances may have nodes in common, so one end does not tell which it is. The router refuses a stream that is of none.
        ends = {stream.source, *stream.destinations}
        own = next((one for one in instances if ends <= one), frozenset[int]())
        found.append(replace(stream, keep_in=own & (stream.keep_in if stream.keep_in is not None else network)))
    return found


def taken_out(routed: RoutedPhase, span: range) -> RoutedPhase:
    """The streams ``span`` of a routed phase as a phase of their own, with the slots that they have."""
    numbers: dict[tuple[int, int], int] = {}
    chains = []
    for chain in routed.chains:
        if chain.stream not in span:
            continue
        new: dict[tuple[int, int, int], int] = {}
        for vfsm in chain.vfsms:
            key = vfsm.node, vfsm.pipeline
            numbers[key] = numbers.get(key, 1) + 1
            new[*key, vfsm.number] = numbers[key]
        vfsms = tuple(_renamed(vfsm, new) for vfsm in chain.vfsms)
        chains.append(RoutedChain(chain.stream - span.start, chain.chain, vfsms))
    streams = tuple(routed.streams[i] for i in span)
    return RoutedPhase(routed.shape, routed.topology, routed.period, streams, tuple(chains))


def _renamed(vfsm: RoutedVfsm, new: Mapping[tuple[int, int, int], int]) -> RoutedVfsm:
    def at(place):  # type: ignore[no-untyped-def]
        return place._replace(number=new[vfsm.node, vfsm.pipeline, place.number]) if place.kind == "buffer" else place

    number = new[vfsm.node, vfsm.pipeline, vfsm.number]
    return vfsm._replace(number=number, source=at(vfsm.source), destination=at(vfsm.destination))


def entered(
    through: Through, ends: Sequence[int], structure: Structure, planned: Sequence[PlannedPhase]
) -> dict[int, int]:
    """By node, the phase that the operator's load function enters from outside its phases.

    Raises
    ------
    PlanError
        If a node could not tell which phase that is, or would come to a phase in which it has no operator.
    """
    operator = through.operator
    found = {}
    for node in sorted(operator.nodes):
        own = _own(node, planned)
        graph = structure.graph_of(node)
        mine = own & set(through.phases)
        for p in set(through.phases) - mine - set(ends):
            if node in planned[p].nodes:
                raise _refused(
                    operator, f"node {node} would come to phase '{planned[p].name}', in which it has no operator"
                )
        if not mine:
            reached = graph.later(START)
            home = [p for p in ends or through.phases if p in reached]
            if len(ends) > 1 or not home:
                raise _refused(operator, f"node {node} has no other operator, and cannot tell in which phase it ends")
            found[node] = home[0]
            continue
        firsts = set()
        for start in (START, *sorted(own - set(through.phases))):
            firsts |= graph.reached(graph.successors[start], lambda p: p not in own) & mine  # noqa: B023
        if len(firsts) != 1:
            raise _refused(operator, f"node {node} cannot tell which of its phases comes first")
        (found[node],) = firsts
    return found


def refuse_tangles(through: Through, structure: Structure, planned: Sequence[PlannedPhase], leaving: Leaving) -> None:
    """Raise `PlanError` where a node in the barrier of a phase might wait for a node that waits for a word of the operator.

    Nodes of a barrier that have the operator must all have another operator in the next phase, so that each goes through the
    barrier to get there: a node that stays would use the operator while the others wait for it in the barrier.
    """
    operator = through.operator
    for p in through.phases:
        phase = planned[p]
        if leaving.between_uses.get(p):
            raise _refused(operator, f"nodes leave phase '{phase.name}' between two uses")
        for node in sorted(operator.nodes & phase.barrier.operator.nodes) if phase.barrier is not None else ():
            for q in structure.graph_of(node).successors[p]:
                if (
                    q in through.phases
                    and q != p
                    and not any(node in one.operator.nodes for one in planned[q].operators)
                ):
                    raise _refused(
                        operator,
                        f"node {node} is in the barrier of phase '{phase.name}' and has no operator in phase "
                        f"'{planned[q].name}', which may come next",
                    )
        meeting = sorted(operator.nodes & phase.barrier.operator.nodes) if phase.barrier is not None else []
        own = {node: _own(node, planned) for node in meeting}
        for node in meeting:
            passed = _passed_over(p, through, structure, own[node])
            for other in meeting:
                for q in sorted(passed & own[other]):
                    raise _refused(
                        operator,
                        f"node {node} may come to it again past phase '{planned[q].name}', in which it has no operator and node "
                        f"{other} has, and cannot tell one round from the next",
                    )


def _own(node: int, planned: Sequence[PlannedPhase]) -> set[int]:
    """Phases in which a node has an operator."""
    return {p for p, phase in enumerate(planned) if any(node in one.operator.nodes for one in phase.operators)}


def _passed_over(phase: int, through: Through, structure: Structure, own: set[int]) -> set[int]:
    """Phases on ways from ``phase`` back to the operator's phases, through none of these and none of ``own``."""
    graph, there = structure.graph, set(through.phases)
    outside = set(range(len(structure.phases))) - there - own
    found = graph.reached(graph.successors[phase], outside.__contains__) & outside
    return {q for q in found if graph.reached([q], outside.__contains__) & there}


def continuing(
    made: Sequence[tuple[Through, PlannedPhase]],
    structure: Structure,
    planned: Sequence[PlannedPhase],
    leaving: Leaving,
) -> tuple[Continuing, ...]:
    """The routed operators ``made``, with the phases in which they end and in which each node enters them."""
    found = []
    for through, alone in made:
        ends = ends_of(through, structure)
        refuse_tangles(through, structure, planned, leaving)
        found.append(Continuing(alone, through.phases, ends, entered(through, ends, structure, planned)))
    return tuple(found)


def _refused(operator: Operator, why: str) -> PlanError:
    return PlanError(
        f"{operator.position}: operator '{operator.label}' cannot continue over a change of phase: {why}",
        hint="put the operators beside it into a phase group",
    )
