"""Phases whose words would meet on a wire, because a node is still in the one when its neighbour is in the other (Metcalf 1997,
§5.3, Table 5.2, as corrected in docs/phases.md).

Takes planned phases and their order. Gives pairs of phases that write the same link in the same slot and are not kept apart by
what happens before what (`collisions`), phases before which nodes have to wait until their neighbours have left the phase before
(`settling`), and, where both handshakes are on one wire, links that the later of two phases turns round (`turned_round`).
Leaves alone: what is done about it (``reroute``, ``phases``). The judge has rules of its own (``verify.phases.links``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure

from .happens_before import HappensBefore
from .link_slots import Link, kept_links, link_reads, link_writes
from .writers import left_behind, rescheduled, written_by


def collisions(
    planned: Sequence[PlannedPhase], structure: Structure, *, aliased_handshake: bool
) -> list[tuple[int, int, Link]]:
    """(earlier, later, link) for phases whose writes a later phase repeats (Table 5.2).

    A node may still be in the earlier phase when its neighbour has gone on, so a word written on the same link in
    the same slot would be taken for one of the earlier phase. The neighbour may be several phases ahead: those in
    between need not have joined the two. Where they have, because they depend on each other, it does no harm.
    """
    found = []
    known = HappensBefore(structure, planned, planned[0].routed.topology) if planned else None
    writes = [link_writes(phase.routed) for phase in planned]
    left = [link_writes(left_behind(planned, structure, index)) for index in range(len(planned))]
    for earlier, phase in enumerate(planned):
        if phase.technique == "none":
            continue
        for later in sorted(structure.graph.later(earlier) - {earlier}):
            shared = _shared(planned, left, writes, earlier, later, aliased_handshake=aliased_handshake)
            if phase.loose and known is not None:
                shared = {link for link in shared if not apart(known, phase, earlier, later, link)}
                shared -= set(_in_turn(known, planned, shared, earlier, later, aliased_handshake=aliased_handshake))
            if shared:
                found.append((earlier, later, min(shared)))
    return found


def settling(
    planned: Sequence[PlannedPhase], structure: Structure, *, aliased_handshake: bool
) -> list[frozenset[int] | None]:
    """By phase that nodes leave together, those that a node may only enter when its neighbours have had time to leave it as well:
    later phases that write the same wires in the same slots, and itself (§5.3.2: "there is no need to worry" about others). None:
    every one that comes next."""
    # Who goes on within threads, or serves messages of others, has the neighbours around it at once.
    if structure.threads is not None or any(p.part is not None or rescheduled(p) for p in planned):
        return [None] * len(planned)
    writes = [link_writes(phase.routed) for phase in planned]
    left = [link_writes(left_behind(planned, structure, index)) for index in range(len(planned))]
    return [
        frozenset(
            later
            for later in structure.graph.later(earlier)
            if later == earlier or _shared(planned, left, writes, earlier, later, aliased_handshake=aliased_handshake)
        )
        for earlier in range(len(planned))
    ]


def turned_round(planned: Sequence[PlannedPhase], structure: Structure) -> dict[tuple[int, int], frozenset[Link]]:
    """Phases that follow each other behind a barrier and turn wires round, though both handshakes are on one wire.

    Readers of the later one would ask for words as soon as a router has changed, while the neighbour, which has yet to change,
    does so as well. A time to settle comes too late for that, but before a phase that does not come next. Gives what the later
    one may not write.
    """
    found: dict[tuple[int, int], frozenset[Link]] = {}
    nodes = range(planned[0].routed.topology.nodes) if planned else ()
    members = [{i for i, phase in enumerate(planned) if node in phase.nodes} for node in nodes]
    for earlier, phase in enumerate(planned):
        if phase.barrier is None:
            continue
        at_port = phase.routed.topology.at_port
        left = link_writes(left_behind(planned, structure, earlier))
        for later in sorted(structure.graph.later(earlier) - {earlier}):
            turned = left & link_reads(planned[later].routed)
            straight = {
                node for node, _, _ in turned if later in structure.graph_of(node).next_among(earlier, members[node])
            }
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
    """Links and slots that are written in both phases, or turned round though handshakes share a wire. ``left``: what is written
    in a phase and left behind with it."""
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


def apart(known: HappensBefore, phase: PlannedPhase, earlier: int, later: int, link: Link) -> bool:
    """Is the node at the other end of a link out of ``phase``, number ``earlier``, when words of a later one come over it?"""
    node, port, _ = link
    end = phase.routed.topology.at_port[node].get(port)
    # The one that may linger is at the other end; which of them writes does not matter if handshakes share a wire.
    return (
        end is not None
        and end[0] in phase.loose
        and known.has_left(earlier, later, node, end[0])
        and (node not in phase.loose or known.has_left(earlier, later, end[0], node))
    )


def _in_turn(
    known: HappensBefore,
    planned: Sequence[PlannedPhase],
    links: Collection[Link],
    earlier: int,
    later: int,
    *,
    aliased_handshake: bool,
) -> Iterator[Link]:
    """Those of ``links`` that only operators of the later phase write whose sources have heard in it that the node at the other
    end has come, by operators that are used before (§5.3.4). With handshakes on one wire they must not be turned round, because a
    VFSM asks for words as soon as its phase runs."""
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
