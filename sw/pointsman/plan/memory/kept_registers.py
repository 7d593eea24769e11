"""Which phases must not share their interface registers with others (Metcalf 1997, §5.3.4).

Takes planned phases and their order. A phase that nodes leave without a barrier, and come to again, may get words of
its next use while a node runs another phase: they wait in its registers, which no other phase may use then. Leaves
alone: numbers of registers (``targets``).
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure
from pointsman.routing.streams import RoutedPhase


def keeps_registers(structure: Structure, planned: Sequence[PlannedPhase]) -> list[bool]:
    """By phase, must it keep its interface registers to itself? It must if nodes leave it without a barrier, and a
    neighbour that is in it again may send words while a node has not left it yet: they wait in its registers while
    other phases run. Only neighbours that write a link to the node in this phase count."""
    if not planned:
        return []
    topology = planned[0].routed.topology
    known = HappensBefore(structure, planned, topology)
    found = []
    for index, phase in enumerate(planned):
        again = index in structure.graph.later(index)
        # A node without registers in the phase, alone in its instances, has none where words could wait.
        loose = {node for node in phase.loose if phase.wiring.registers_used.get(node)}
        found.append(
            bool(loose)
            and (
                structure.threads is not None
                or not again
                or any(
                    not known.has_left(index, index, other, node)
                    for other, node in link_senders(phase.routed)
                    if node in loose
                )
            )
        )
    return found


def link_senders(routed: RoutedPhase) -> set[tuple[int, int]]:
    """(node, neighbour) for each link over which words of a phase come to the neighbour."""
    ends = routed.topology.at_port
    writes = {
        (vfsm.node, vfsm.destination.number)
        for chain in (*routed.all_chains, *routed.second)
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
    }
    return {(node, ends[node][port][0]) for node, port in writes}
