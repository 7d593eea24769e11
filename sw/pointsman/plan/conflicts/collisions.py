"""TODO"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pointsman.operators.api.loading import Loading
from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.conflicts.link_slots import Link, kept_links, link_reads, link_writes
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.structure.structure import Structure
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.streams import RoutedPhase


def collisions(
    planned: list[PlannedPhase], structure: Structure, *, aliased_handshake: bool
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
    if structure.threads is not None or any(p.part is not None or _rescheduled(p) for p in planned):
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
    if _rescheduled(planned[later]):
        shared |= {link for link in writes[earlier] if link[0] in planned[later].nodes}
    if _rescheduled(planned[earlier]):
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
    if not links or not before or not any(before[later].values()) or _rescheduled(planned[later]):
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


Freed = dict[tuple[str, int], frozenset[Link]]
"""By operator and source, links and slots that its words may use though others of the phase may not."""


def freed(
    known: HappensBefore, planned: Sequence[PlannedPhase], later: int, taken: Mapping[int, Collection[Link]]
) -> Freed:
    """Which of the links that a phase has to leave alone, by the earlier phase that writes them, words of its operators may use
    all the same: their sources have heard in the phase that the node at the other end has come to it (§5.3.4). What of it holds
    for other routes of the phase is seen when it has been routed again (`collisions`)."""
    before = known.structure.before
    if not before or not any(before[later].values()) or _rescheduled(planned[later]):
        return {}
    holders: dict[Link, list[int]] = {}
    for p, links in taken.items():
        for link in links:
            holders.setdefault(link, []).append(p)
    writes = {p: link_writes(planned[p].routed) for p in taken}
    at_port = planned[later].routed.topology.at_port
    alike: dict[tuple[int, tuple[int, ...]], list[Link]] = {}
    for link, phases in holders.items():
        if all(link in writes[p] for p in phases):
            alike.setdefault((at_port[link[0]][link[1]][0], tuple(phases)), []).append(link)
    found: Freed = {}
    for one in planned[later].operators:
        label = one.operator.label
        if not before[later].get(label) or not _in_its_turn(one):
            continue
        for source in sorted({planned[later].routed.streams[number].source for number in one.streams}):
            own = frozenset(
                link
                for (end, phases), links in alike.items()
                if all(known.begins(p, later, label, source, end) for p in phases)
                for link in links
            )
            if own:
                found[label, source] = own
    return found


def written_by(phase: PlannedPhase, links: Collection[Link]) -> dict[Link, set[tuple[str | None, frozenset[int]]]]:
    """Of each link and slot, the operators whose words pass it and the nodes from which these come. None: words that may be
    sent before a node uses the operator, or when it has used all."""
    routed = phase.routed
    anywhere = _from_anywhere(routed)
    nobody: tuple[str | None, frozenset[int]] = None, frozenset()
    by_stream = dict.fromkeys(range(len(routed.streams)), nobody)
    # What closes the phase may use the streams of its operators.
    for one in phase.operators if phase.technique != "hijack" else ():
        for number in one.streams if _in_its_turn(one) else ():
            stream = routed.streams[number]
            senders = one.operator.nodes if number in anywhere else [stream.source]
            by_stream[number] = one.operator.label, frozenset(senders)
    chains = [(chain, by_stream[chain.stream]) for chain in (*routed.chains, *routed.second)]
    chains += [(chain, nobody) for other in routed.beside for chain in other.chains]
    found: dict[Link, set[tuple[str | None, frozenset[int]]]] = {}
    for chain, writer in chains:
        for vfsm in chain.vfsms:
            for slot in vfsm.slots if vfsm.destination.kind == "link" else ():
                link = vfsm.node, vfsm.destination.number, slot
                if link in links:
                    found.setdefault(link, set()).add(writer)
    return found


def _from_anywhere(routed: RoutedPhase) -> set[int]:
    """Numbers of the streams whose words may be from other nodes than their source."""
    onward = {stream.into for stream in routed.streams if stream.into is not None}
    return {
        number
        for number, stream in enumerate(routed.streams)
        if stream.injects_anywhere or stream.rewritten or stream.into is not None or stream.name in onward
    }


def _in_its_turn(one: PlannedOperator) -> bool:
    """Do only its I/O functions send words, not its load functions, nor its router by itself?"""
    return one.stages == 1 and not one.implementation.loading.moves_early


def left_behind(planned: Sequence[PlannedPhase], structure: Structure, index: int) -> RoutedPhase:
    """A phase without what continues from it wherever a node goes: that is left behind by the barrier of a later phase."""
    routed = planned[index].routed
    after = [planned[s].routed.beside for s in structure.successors[index] if s >= 0]
    ending = tuple(one for one in routed.beside if any(goes_on(one, beside) is None for beside in after))
    return replace(routed, beside=ending) if ending != routed.beside else routed


def _rescheduled(phase: PlannedPhase) -> bool:
    return phase.has_loading(Loading.RESCHEDULED)


def word_spans(planned: PlannedPhase, before: PlannedPhase) -> list[set[int]]:
    """Sets of nodes that words of a phase can join, of those words that pass links and slots of one before it: the nodes of each
    route, and the instance that it belongs to; also of what continues through it, but not from the one before."""
    shape = planned.routed.shape
    every = shape.aliased_handshake or _rescheduled(planned) or _rescheduled(before)
    shared = link_writes(planned.routed) & link_writes(before.routed)
    operators = [*planned.operators, *([planned.barrier] if planned.barrier else [])]
    instances = [set(instance.nodes) for one in operators for instance in one.operator.instances]
    new = [one for one in planned.routed.beside if goes_on(one, before.routed.beside) is None]
    anywhere = _from_anywhere(planned.routed)
    owner = {number: one.operator for one in operators for number in one.streams if number in anywhere}
    chains = [(chain, owner.get(chain.stream)) for chain in (*planned.routed.chains, *planned.routed.second)]
    chains += [(chain, None) for one in new for chain in one.chains]
    spans = []
    for chain, senders in chains:
        writes = {
            (v.node, v.destination.number, slot)
            for v in chain.vfsms
            if v.destination.kind == "link"
            for slot in v.slots
        }
        if every or writes & shared:
            passed = {vfsm.node for vfsm in chain.vfsms}
            if senders is not None:
                # Of its instance any node may be the one that sends.
                source = planned.routed.streams[chain.stream].source
                passed = passed.union(*(i.nodes for i in senders.instances if source in i.nodes))
            spans += [passed, *(own for own in instances if not own.isdisjoint(passed) and own >= passed)]
    if every:
        spans += instances
    return [span for i, span in enumerate(spans) if span not in spans[:i]]
