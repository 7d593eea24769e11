"""Links and slots that a routed phase writes and reads, and slots that it leaves for commands (Metcalf 1997, §5.3, §7.1.5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import numpy as np

from numesh.codes import REPROGRAM_VFSM, MoveType
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.streams import RoutedPhase, largest_gap

Link = tuple[int, int, int]
"""(node, port, slot) of a write."""

Found = TypeVar("Found")


def cached_on_phase(function: Callable[[RoutedPhase], Found]) -> Callable[[RoutedPhase], Found]:
    """Decorator: the function is worked out once for a routed phase and kept with it. Its result must not be changed."""
    name = f"{function.__module__}.{function.__name__}"

    def once(routed: RoutedPhase) -> Found:
        here = routed.__dict__
        if name not in here:
            here[name] = function(routed)
        found: Found = here[name]
        return found

    once.__doc__, once.__name__ = function.__doc__, function.__name__
    return once


def memberships(members: Iterable[Collection[int]]) -> dict[tuple[int, ...], list[int]]:
    """Nodes grouped by the phases in which they have a part; ``members``: the nodes of each phase."""
    phases = list(members)
    groups: dict[tuple[int, ...], list[int]] = {}
    for node in sorted(frozenset().union(*phases)):
        key = tuple(i for i, nodes in enumerate(phases) if node in nodes)
        groups.setdefault(key, []).append(node)
    return groups


@cached_on_phase
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
    """Links and slots that operators continuing from ``one`` to ``other`` write in both: the same VFSM may go on (Table 5.2)."""
    pairs = [(routed, goes_on(routed, other.beside)) for routed in one.beside]
    return {link for routed, again in pairs if again is not None for link in link_writes(routed) & link_writes(again)}


@cached_on_phase
def link_reads(routed: RoutedPhase) -> set[Link]:
    """Every (node, port, slot of the writer at the other end) in which a VFSM reads the link at its own port."""
    return {
        (vfsm.node, vfsm.source.number, (slot - 1) % routed.period)
        for chain in (*routed.all_chains, *routed.second)
        for vfsm in chain.vfsms
        if vfsm.source.kind == "link" and vfsm.type != MoveType.FORK
        for slot in vfsm.slots
    }


@cached_on_phase
def forked_writes(routed: RoutedPhase) -> set[tuple[Link, int]]:
    """Every (node, port, slot) in which the first leg of a fork writes a link, with its pipeline: the second leg names the link
    in the slot after."""
    return {
        ((vfsm.node, vfsm.source.number, (slot - 1) % routed.period), vfsm.pipeline)
        for chain in (*routed.all_chains, *routed.second)
        for vfsm in chain.vfsms
        if vfsm.source.kind == "link" and vfsm.type == MoveType.FORK
        for slot in vfsm.slots
    }


def keep_off(routed: RoutedPhase, *, aliased_handshake: bool) -> frozenset[Link]:
    """Links and slots that another phase must not write, so as to share no wires with this phase; with an aliased
    handshake those of the opposite direction, too."""
    found = set(link_writes(routed))
    if aliased_handshake:
        ends = {(node, port): routed.topology.at_port[node][port] for node, port, _ in found}
        found |= {(*ends[node, port], slot) for node, port, slot in found}
    return frozenset(found)


@cached_on_phase
def _reprogramming(routed: RoutedPhase) -> np.ndarray:
    """Free slots in which VFSM 1 may run, by node, slot and pipeline: those not right after a VFSM that may write the
    interface (§7.1.5)."""
    held = routed.schedule >= REPROGRAM_VFSM
    writes = np.zeros(held.shape, np.bool_)
    for other in routed.beside:
        held |= other.schedule > 0
    vfsms = [v for chain in routed.all_chains for v in chain.vfsms if v.destination.kind == "deliver"]
    at = [(v.node, slot, v.pipeline) for v in vfsms for slot in v.slots]
    writes[tuple(np.array(at, np.int64).reshape(-1, 3).T)] = True
    free: np.ndarray = ~held & ~np.roll(writes, 1, axis=1)
    return free


def reprogram_slots(routed: RoutedPhase, node: int, pipeline: int) -> list[int]:
    """Free slots in which VFSM 1 may run, of a pipeline of a node."""
    slots: list[int] = np.flatnonzero(_reprogramming(routed)[node, :, pipeline]).tolist()
    return slots


@cached_on_phase
def command_gap(routed: RoutedPhase) -> int:
    """Most slots to wait for a reprogramming slot of pipeline 0, at any node that the phase uses."""
    nodes = {vfsm.node for chain in routed.all_chains for vfsm in chain.vfsms}
    rows = {tuple(row) for row in _reprogramming(routed)[sorted(nodes), :, 0].tolist()}
    gaps = [largest_gap([slot for slot, free in enumerate(row) if free], routed.period) for row in rows]
    return max(gaps, default=1)
