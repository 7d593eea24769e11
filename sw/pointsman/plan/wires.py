"""What a routed phase does to links and slots, as far as other phases and reprogramming care (Metcalf 1997, §5.3, §7.1.5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from numesh.codes import REPROGRAM_VFSM, MoveType
from pointsman.streams.standing import goes_on
from pointsman.streams.stream import RoutedPhase

from .progress import largest_gap

Link = tuple[int, int, int]
"""(node, port, slot) of a write."""


def memberships(members: Iterable[Collection[int]]) -> dict[tuple[int, ...], list[int]]:
    """Nodes by the phases in which they have a part, given the nodes of each phase."""
    phases = list(members)
    groups: dict[tuple[int, ...], list[int]] = {}
    for node in sorted(frozenset().union(*phases)):
        key = tuple(i for i, nodes in enumerate(phases) if node in nodes)
        groups.setdefault(key, []).append(node)
    return groups


def link_writes(routed: RoutedPhase) -> set[Link]:
    """Every (node, port, slot) in which a VFSM writes a link."""
    return {
        (vfsm.node, vfsm.destination.number, slot)
        for chain in (*routed.all_chains, *routed.second)
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
        for slot in vfsm.slots
    }


def kept_links(one: RoutedPhase, other: RoutedPhase) -> set[Link]:
    """Writes of what continues from one phase to another: the same VFSM may go on writing (Table 5.2)."""
    pairs = [(routed, goes_on(routed, other.beside)) for routed in one.beside]
    return {link for routed, again in pairs if again is not None for link in link_writes(routed) & link_writes(again)}


def link_reads(routed: RoutedPhase) -> set[Link]:
    """Every (node, port, slot of the writer at the other end) in which a VFSM reads the link at its own port."""
    return {
        (vfsm.node, vfsm.source.number, (slot - 1) % routed.period)
        for chain in (*routed.all_chains, *routed.second)
        for vfsm in chain.vfsms
        if vfsm.source.kind == "link" and vfsm.type != MoveType.FORK
        for slot in vfsm.slots
    }


def keep_off(routed: RoutedPhase, *, aliased_handshake: bool) -> frozenset[Link]:
    """What another phase must not write in order to have no wires in common with this one."""
    found = set(link_writes(routed))
    if aliased_handshake:
        ends = {(node, port): routed.topology.at_port[node][port] for node, port, _ in found}
        found |= {(*ends[node, port], slot) for node, port, slot in found}
    return frozenset(found)


def reprogram_slots(routed: RoutedPhase, node: int, pipeline: int) -> list[int]:
    """Free slots in which VFSM 1 may run: those not right after a VFSM that may write the interface (§7.1.5)."""
    schedule = routed.schedule[node, :, pipeline]
    held = {
        slot
        for other in routed.beside
        for chain in other.chains
        for vfsm in chain.vfsms
        if vfsm.node == node and vfsm.pipeline == pipeline
        for slot in vfsm.slots
    }
    writers = {
        slot
        for chain in routed.all_chains
        for vfsm in chain.vfsms
        if vfsm.node == node and vfsm.pipeline == pipeline and vfsm.destination.kind == "deliver"
        for slot in vfsm.slots
    }
    return [
        slot
        for slot in range(routed.period)
        if schedule[slot] < REPROGRAM_VFSM and slot not in held and (slot - 1) % routed.period not in writers
    ]


def command_gap(routed: RoutedPhase) -> int:
    """Longest wait for a reprogramming slot of pipeline 0 at any node that the phase uses."""
    nodes = sorted({vfsm.node for chain in routed.all_chains for vfsm in chain.vfsms})
    gaps = {}
    for node in nodes:
        slots = tuple(reprogram_slots(routed, node, 0))
        gaps[slots] = largest_gap(slots, routed.period)
    return max(gaps.values(), default=1)
