"""Pairs of phases whose words could meet on a wire, because a node may still be in the earlier phase when its neighbour
is in the later (Metcalf 1997, §5.3, Table 5.2, as corrected in docs/phase_rules.md).

Takes planned phases and their order. Gives pairs of phases that write the same link in the same slot without any proof
that nodes have left the earlier (`collisions`), phases before which nodes have to wait until their neighbours have left
the phase before (`settling`), and, where a wire carries the handshakes of both directions of a link, links that the
later of two phases uses in the other direction (`turned_round`). Leaves alone: what is done about it (``reroute``,
``phases``). The judge has rules of its own (``verify.phases.links``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from numesh.codes import POINTER_LATENCY
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure

from .happens_before import HappensBefore
from .link_slots import Link, forked_writes, kept_links, link_reads, link_writes, reprogram_slots
from .writers import left_behind, rescheduled, written_by


def collisions(
    planned: Sequence[PlannedPhase],
    structure: Structure,
    *,
    aliased_handshake: bool,
    known: HappensBefore | None = None,
) -> list[tuple[int, int, Link]]:
    """(earlier, later, link) for pairs of phases that write the same link in the same slot (Table 5.2).

    A node may still be in the earlier phase when its neighbour has gone on, and would take a word of the later phase
    for a word of its own. The neighbour may be several phases ahead. Pairs for which `HappensBefore` proves that the
    node has left the earlier phase by then are not given. ``known``: the dependency graph of these phases, if it is there.
    """
    found = []
    following = Following(structure, planned)
    if known is None and planned:
        known = HappensBefore(structure, planned, planned[0].routed.topology)
    writes = [link_writes(phase.routed) for phase in planned]
    left = [link_writes(left_behind(planned, structure, index)) for index in range(len(planned))]
    for earlier, phase in enumerate(planned):
        if phase.technique == "none":
            continue
        for later in sorted(structure.graph.later(earlier) - {earlier}):
            shared = _shared(planned, left, writes, earlier, later, aliased_handshake=aliased_handshake)
            if phase.loose and known is not None:
                shared = apart_not_proved(known, phase, earlier, later, shared)
                shared -= set(_in_turn(known, planned, shared, earlier, later, aliased_handshake=aliased_handshake))
                shared.update(_forked_in_both(structure, planned, earlier, later, following))
            if shared:
                found.append((earlier, later, min(shared)))
    return found


def settling(
    planned: Sequence[PlannedPhase], structure: Structure, *, aliased_handshake: bool, straight: bool = False
) -> list[frozenset[int] | None]:
    """By phase, the phases that a node may enter after it only when its neighbours have had time to leave it as well:
    later phases that write the same wires in the same slots, and itself (§5.3.2: "there is no need to worry" about
    others). None: any phase that comes next. ``straight``: only of the phases that may come straight after it."""
    # In threads, and where nodes serve messages of others, a node may meet words of its neighbours at once.
    if structure.threads is not None or any(p.part is not None or rescheduled(p) for p in planned):
        return [None] * len(planned)
    writes = [link_writes(phase.routed) for phase in planned]
    left = [link_writes(left_behind(planned, structure, index)) for index in range(len(planned))]
    return [
        frozenset(
            later
            for later in structure.graph.later(earlier)
            if not straight or later in structure.successors[earlier]
            if later == earlier or _shared(planned, left, writes, earlier, later, aliased_handshake=aliased_handshake)
        )
        for earlier in range(len(planned))
    ]


def turned_round(planned: Sequence[PlannedPhase], structure: Structure) -> dict[tuple[int, int], frozenset[Link]]:
    """(earlier, later) -> links and slots that the later phase may not write, for phases that follow each other behind
    a barrier and use a link in both directions, where both handshakes share a wire.

    Readers of the later phase ask for words as soon as their router has changed, while the neighbour, which has yet to change,
    still does the same on that wire. Waiting for neighbours to leave is too late for that, unless another phase is in between.
    """
    found: dict[tuple[int, int], frozenset[Link]] = {}
    following = Following(structure, planned)
    for earlier, phase in enumerate(planned):
        if phase.barrier is None:
            continue
        at_port = phase.routed.topology.at_port
        left = link_writes(left_behind(planned, structure, earlier))
        for later in sorted(structure.graph.later(earlier) - {earlier}):
            turned = left & link_reads(planned[later].routed)
            straight = {node for node, _, _ in turned if later in following.after(node, earlier)}
            if straight:
                found[earlier, later] = frozenset((*at_port[node][port], slot) for node, port, slot in left)
    return found


def _shared(
    planned: Sequence[PlannedPhase],
    left: Sequence[set[Link]],
    writes: Sequence[set[Link]],
    earlier: int,
    later: int,
    *,
    aliased_handshake: bool,
) -> set[Link]:
    """Links and slots that both phases write, or, where handshakes share a wire, use in opposite directions. ``left``:
    by phase, what it writes without operators that continue from it."""
    shared = left[earlier] & writes[later]
    shared -= kept_links(planned[earlier].routed, planned[later].routed)
    if aliased_handshake:
        shared |= left[earlier] & link_reads(planned[later].routed)
    # A schedule that is made at run time may use any slot of the links among its nodes.
    if rescheduled(planned[later]):
        shared |= {link for link in writes[earlier] if link[0] in planned[later].nodes}
    if rescheduled(planned[earlier]):
        shared |= {link for link in writes[later] if link[0] in planned[earlier].nodes}
    return shared


class Following:
    """By node and phase, the phases of the node that may come straight after it; asked for once."""

    def __init__(self, structure: Structure, planned: Sequence[PlannedPhase]) -> None:
        self.structure, self.planned = structure, planned
        self._members: dict[int, frozenset[int]] = {}
        self._known: dict[tuple[int, int], frozenset[int]] = {}

    def after(self, node: int, phase: int) -> frozenset[int]:
        if (node, phase) not in self._known:
            if node not in self._members:
                self._members[node] = frozenset(i for i, one in enumerate(self.planned) if node in one.nodes)
            found = self.structure.graph_of(node).next_among(phase, self._members[node])
            self._known[node, phase] = frozenset(found)
        return self._known[node, phase]


def _forked_in_both(
    structure: Structure, planned: Sequence[PlannedPhase], earlier: int, later: int, following: Following
) -> Iterator[Link]:
    """Links and slots in which a node has the first leg of a fork in both phases, and goes straight from one to the other,
    without a barrier, in a way that it may come to ``earlier`` again. If its schedule changes between the two legs, the second
    leg of ``later`` takes a word that waited for the next round of ``earlier`` (Metcalf 1997, §7.1)."""
    if earlier not in structure.graph.later(later):
        return
    here, there = planned[earlier], planned[later]
    kept = kept_links(here.routed, there.routed)
    for link, _ in forked_writes(here.routed) & forked_writes(there.routed):
        node, _, slot = link
        command = (slot - POINTER_LATENCY) % here.routed.period
        if node in here.loose and link not in kept and command in reprogram_slots(here.routed, node, 0):
            if later in following.after(node, earlier):
                yield link


def apart_not_proved(
    known: HappensBefore, phase: PlannedPhase, earlier: int, later: int, links: Collection[Link]
) -> set[Link]:
    """Those of ``links`` that words of phase ``later`` may pass while the node at their other end is still in ``phase``, number
    ``earlier``."""
    at_port, loose = phase.routed.topology.at_port, phase.loose
    ends = {(node, port): at_port[node].get(port) for node, port, _ in links}
    others = [(at, end[0]) for at, end in ends.items() if end is not None and end[0] in loose]
    left = known.all_left(earlier, later) if others else None
    if left is None:
        return set(links)
    # The writer must not linger either, because handshakes may share a wire.
    safe = {at for at, other in others if left[at[0]] >> other & 1 and (at[0] not in loose or left[other] >> at[0] & 1)}
    return {link for link in links if link[:2] not in safe} if safe else set(links)


def _in_turn(
    known: HappensBefore,
    planned: Sequence[PlannedPhase],
    links: Collection[Link],
    earlier: int,
    later: int,
    *,
    aliased_handshake: bool,
) -> Iterator[Link]:
    """Those of ``links`` that are safe because all operators of the later phase that write them come after others which
    tell their sources that the node at the other end has left the earlier phase (§5.3.4). With handshakes on one wire,
    links used in the other direction are not safe, because a VFSM asks for words as soon as its phase runs."""
    before = known.structure.before
    if not links or not before or not any(before[later].values()) or rescheduled(planned[later]):
        return
    turned = link_reads(planned[later].routed) if aliased_handshake else set()
    writers = written_by(planned[later], links)
    for link in links:
        node, port, _ = link
        end = planned[later].routed.topology.at_port[node].get(port)
        if end is None or end[0] not in planned[earlier].loose or link in turned or not writers.get(link):
            continue
        if all(
            label is not None and all(known.begins(earlier, later, label, source, end[0]) for source in sources)
            for label, sources in writers[link]
        ):
            yield link
