"""The barrier that closes a phase: which nodes meet in it, and how many cycles they need to leave (Metcalf 1997, §5.2.3, §5.3.2).

Takes the operators of a phase and its routes, sets of nodes that words of later phases join, and partitions that need
no barrier. Gives a barrier operator with an instance for each other partition: instances of operators that share nodes
or routers belong together, and a partition that is not connected in the network is widened to the box around it. Leaves
alone: whether a barrier is needed (``techniques``), its streams.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from numesh.codes import POINTER_LATENCY, Codes
from pointsman.network import Topology
from pointsman.network.topology import connected, partitions
from pointsman.operators.api.operands import box
from pointsman.operators.scheduled.barrier import StrBarrierTree
from pointsman.plan.conflicts.link_slots import cached_on_phase, command_gap
from pointsman.plan.online import spans_of
from pointsman.plan.plan import OnlinePart
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.program.program import Instance, Operator
from pointsman.routing.streams import RoutedPhase

CLOSING = StrBarrierTree(part=True), StrBarrierTree(), StrBarrierTree(shallow=True)
"""How the barrier is done: in whichever slots the operators of the phase leave, which needs least; in slots in the order in which
its words come (``routing.phase_router.in_turn``); likewise, on a tree of few levels."""


def parts_of(phase: PhaseOutline, routed: RoutedPhase) -> list[set[int]]:
    """Nodes that belong together in a phase: instances that share nodes or routers (§5.2.3)."""
    return [set(part) for part in _parts(phase, routed)]


def _parts(phase: PhaseOutline, routed: RoutedPhase) -> list[set[int]]:
    """As `parts_of`, kept with the routes: they are asked for with the draft, the barrier, and each barrier that is wider."""
    known = _known_parts(routed)
    key = tuple(map(id, phase.operators))
    if key not in known:
        known[key] = phase.operators, partitions(_groups(phase, routed))
    return known[key][1]


@cached_on_phase
def _known_parts(_: RoutedPhase) -> dict[tuple[int, ...], tuple[tuple[Operator, ...], list[set[int]]]]:
    """By id() of the operators, these, so that Python gives their id() to no others, and the parts."""
    return {}


def _groups(phase: PhaseOutline, routed: RoutedPhase) -> list[set[int]]:
    groups: list[set[int]] = [set(i.nodes) for operator in phase.operators for i in operator.instances]
    names = {
        f"{operator.label}[{i}]": instance.nodes[0]
        for operator in phase.operators
        for i, instance in enumerate(operator.instances)
    }
    for chain in routed.chains:
        label = routed.streams[chain.stream].name.split(".")[0]
        if label in names:
            groups.append({names[label], *(v.node for v in chain.vfsms)})
    return groups


def closing_barrier(
    phase: PhaseOutline,
    routed: RoutedPhase,
    joined: Iterable[set[int]],
    part: OnlinePart | None = None,
    loose: Collection[set[int]] = (),
) -> Operator:
    """A barrier with an instance for each partition but those in ``loose``: instances that share nodes or routers
    belong together (§5.2.3), and so do nodes that words of a later phase with colliding wires join (``joined``)."""
    groups = [*_parts(phase, routed), *(spans_of(part) if part is not None else []), *joined]
    parts = partitions(groups)
    while True:
        # A part that is not connected is widened to the box around it.
        wider = [part if connected(part, routed.topology) else _widen(part, routed.topology) for part in parts]
        merged = partitions(wider)
        if merged == parts:
            break
        parts = merged
    instances = tuple(Instance(tuple(sorted(part)), ()) for part in parts if len(part) > 1 and part not in loose)
    return Operator(f"{phase_name(phase)} end", "barrier", instances, position=phase.operators[0].position)


def _widen(part: set[int], topology: Topology) -> set[int]:
    if topology.has_coordinates:
        around = set(box(sorted(part), topology))
        if connected(around, topology):
            return around
    # Faults, or a graph: all nodes that words can reach.
    return part | {node for node in range(topology.nodes) if topology.across([min(part), node]) < topology.nodes}


def settle_cycles(routed: RoutedPhase, span: range, *, at_run_time: bool = False) -> int:
    """Cycles within which all nodes of a barrier leave the phase: the spread of the word that releases them, the wait
    for a reprogramming slot, and the way of the command through the router (§5.3.2). ``at_run_time``: see `change_cycles`."""
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
    return longest + change_cycles(routed, at_run_time=at_run_time)


def change_cycles(routed: RoutedPhase, *, at_run_time: bool = False) -> int:
    """Most cycles from a node's decision to leave until its router runs the next schedule: each word of the command waits for a
    slot. A schedule that nodes make ``at_run_time`` leaves a single one."""
    gap = routed.period if at_run_time else command_gap(routed)
    return gap * Codes(routed.shape).command_words + 7 + POINTER_LATENCY


def phase_name(phase: PhaseOutline) -> str:
    name = "+".join(dict.fromkeys(operator.label for operator in phase.operators))
    return name if phase.value is None else f"{name}={','.join(map(str, phase.value))}"


def phase_nodes(phase: PhaseOutline, routed: RoutedPhase) -> frozenset[int]:
    return phase.nodes | {vfsm.node for chain in routed.chains for vfsm in chain.vfsms}
