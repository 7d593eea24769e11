"""How a phase may end: which technique is safe, which nodes meet in its barrier, which wires it must not share with later ones.

Source: Metcalf 1997, §5.2.3, §5.3, as corrected in docs/phases.md. The judge has rules of its own (``streams.check_ends``,
``streams.check_phases``) and uses nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterable

from numesh.codes import POINTER_LATENCY
from pointsman.cop.program import Instance, Operator
from pointsman.network import Topology
from pointsman.operators.implementation import box
from pointsman.streams.stream import RoutedPhase

from .online import OnlinePart, spans_of
from .partition import connected, partitions
from .plan import PlannedOperator, PlannedPhase
from .structure import PhaseOutline, Structure
from .wires import Link, command_gap, link_reads, link_writes


def needs_barrier(
    planned: tuple[PlannedOperator, ...], phase: PhaseOutline, nodes: frozenset[int], routed: RoutedPhase
) -> str | None:
    """Why messages alone do not end this phase safely; None if they do (§5.2.3, "Message-Bound Synchronization")."""
    if nodes != phase.nodes:
        return "words pass through nodes that take no part"
    for one in planned:
        operator = one.operator
        what = f"'{operator.label}'" if len(planned) > 1 else "the operator"
        if not one.message_bound:
            return f"messages of {what} ({operator.m} words) can be buffered on their way"
        if operator.nodes != nodes:
            # A node that is through with its own operators does not hear of this one.
            return f"not all nodes take part in {what}"
        stray = _stray(one, routed)
        if stray is not None:
            return f"words of one instance of {what} pass through node {stray}, which is in another"
    return None


def closing_barrier(
    phase: PhaseOutline, routed: RoutedPhase, joined: Iterable[set[int]], part: OnlinePart | None = None
) -> Operator:
    """A barrier over each partition: instances that share nodes or routers belong together (§5.2.3), and so do those
    that a later phase with colliding wires joins."""
    groups: list[set[int]] = [set(i.nodes) for operator in phase.operators for i in operator.instances]
    groups += spans_of(part) if part is not None else []
    names = {
        f"{operator.label}[{i}]": instance.nodes[0]
        for operator in phase.operators
        for i, instance in enumerate(operator.instances)
    }
    for chain in routed.chains:
        label = routed.streams[chain.stream].name.split(".")[0]
        if label in names:
            groups.append({names[label], *(v.node for v in chain.vfsms)})
    groups += joined
    parts = partitions(groups)
    while True:
        # A part whose nodes do not hang together is widened to the box around it.
        wider = [part if connected(part, routed.topology) else _widen(part, routed.topology) for part in parts]
        merged = partitions(wider)
        if merged == parts:
            break
        parts = merged
    instances = tuple(Instance(tuple(sorted(part)), ()) for part in parts if len(part) > 1)
    return Operator(f"{phase_name(phase)} end", "barrier", instances, position=phase.operators[0].position)


def _widen(part: set[int], topology: Topology) -> set[int]:
    if topology.kind == "graph":
        return set(range(topology.nodes))
    return set(box(sorted(part), topology))


def settle_cycles(routed: RoutedPhase, span: range) -> int:
    """Cycles within which all nodes of a barrier leave the phase: the spread of the word down, the wait for a
    reprogramming slot, and the way of the command through the router (§5.3.2)."""
    longest = 0
    for chain in routed.chains:
        if chain.stream not in span:
            continue
        elapsed = [0] * len(chain.vfsms)
        for i, vfsm in enumerate(chain.vfsms):
            if vfsm.parent >= 0:
                parent = chain.vfsms[vfsm.parent]
                step = (vfsm.slots[0] - parent.slots[0]) % routed.period
                elapsed[i] = elapsed[vfsm.parent] + step
        longest = max(longest, *elapsed)
    return longest + command_gap(routed) + 7 + POINTER_LATENCY


def collisions(
    planned: list[PlannedPhase], structure: Structure, *, aliased_handshake: bool
) -> list[tuple[int, int, Link]]:
    """(earlier, later, link) for phases closed by messages whose writes a later phase repeats (Table 5.2).

    A node may still be in the earlier phase when its neighbour has gone on, so a word written on the same link in
    the same slot would be taken for one of the earlier phase. The neighbour may be several phases ahead: those in
    between need not have joined the two nodes.
    """
    found = []
    writes = [link_writes(phase.routed) for phase in planned]
    for earlier, phase in enumerate(planned):
        if phase.technique == "none":
            continue
        for later in sorted(structure.reachable(earlier) - {earlier}):
            shared = writes[earlier] & writes[later]
            if aliased_handshake:
                shared |= writes[earlier] & link_reads(planned[later].routed)
            if shared:
                found.append((earlier, later, min(shared)))
    return found


def word_spans(planned: PlannedPhase) -> list[set[int]]:
    """Sets of nodes that words of a phase can join: its instances, its barrier's, and the nodes of each route."""
    operators = [*planned.operators, *([planned.barrier] if planned.barrier else [])]
    spans = [set(instance.nodes) for one in operators for instance in one.operator.instances]
    return spans + [{vfsm.node for vfsm in chain.vfsms} for chain in planned.routed.chains]


def phase_name(phase: PhaseOutline) -> str:
    name = "+".join(dict.fromkeys(operator.label for operator in phase.operators))
    return name if phase.value is None else f"{name}={','.join(map(str, phase.value))}"


def phase_nodes(phase: PhaseOutline, routed: RoutedPhase) -> frozenset[int]:
    return phase.nodes | {vfsm.node for chain in routed.chains for vfsm in chain.vfsms}


def _stray(planned: PlannedOperator, routed: RoutedPhase) -> int | None:
    """A node through which an instance's words pass that is not in the instance; the lowest one."""
    operator = planned.operator
    own = {f"{operator.label}[{i}]": frozenset(instance.nodes) for i, instance in enumerate(operator.instances)}
    found = {
        vfsm.node
        for chain in routed.chains
        if chain.stream in planned.streams
        for vfsm in chain.vfsms
        if vfsm.node not in own[routed.streams[chain.stream].name.split(".")[0]]
    }
    return min(found, default=None)
