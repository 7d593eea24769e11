"""Whose words pass a link in a slot, and which nodes these words can join.

Takes planned phases. Gives, for links and slots, the operators whose words pass there and the nodes where these words begin
(`written_by`); for two phases that write the same links, the sets of nodes that such words join (`word_spans`), which have to
meet in a barrier before words of the later phase may come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pointsman.operators.api.loading import Loading
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.structure.structure import Structure
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.streams import RoutedPhase

from .link_slots import Link, link_writes


def written_by(phase: PlannedPhase, links: Collection[Link]) -> dict[Link, set[tuple[str | None, frozenset[int]]]]:
    """Of each link and slot, the operators whose words pass it and the nodes from which these come. None: words that may be
    sent before a node uses the operator, or when it has used all."""
    routed = phase.routed
    anywhere = from_anywhere(routed)
    nobody: tuple[str | None, frozenset[int]] = None, frozenset()
    by_stream = dict.fromkeys(range(len(routed.streams)), nobody)
    # What closes the phase may use the streams of its operators.
    for one in phase.operators if phase.technique != "hijack" else ():
        for number in one.streams if in_its_turn(one) else ():
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


def from_anywhere(routed: RoutedPhase) -> set[int]:
    """Numbers of the streams whose words may be from other nodes than their source."""
    onward = {stream.into for stream in routed.streams if stream.into is not None}
    return {
        number
        for number, stream in enumerate(routed.streams)
        if stream.injects_anywhere or stream.rewritten or stream.into is not None or stream.name in onward
    }


def in_its_turn(one: PlannedOperator) -> bool:
    """Do only its I/O functions send words, not its load functions, nor its router by itself?"""
    return one.stages == 1 and not one.implementation.loading.moves_early


def rescheduled(phase: PlannedPhase) -> bool:
    return phase.has_loading(Loading.RESCHEDULED)


def left_behind(planned: Sequence[PlannedPhase], structure: Structure, index: int) -> RoutedPhase:
    """A phase without what continues from it wherever a node goes: that is left behind by the barrier of a later phase."""
    routed = planned[index].routed
    after = [planned[s].routed.beside for s in structure.successors[index] if s >= 0]
    ending = tuple(one for one in routed.beside if any(goes_on(one, beside) is None for beside in after))
    return replace(routed, beside=ending) if ending != routed.beside else routed


def word_spans(planned: PlannedPhase, before: PlannedPhase) -> list[set[int]]:
    """Sets of nodes that words of a phase can join, of those words that pass links and slots of one before it: the nodes of each
    route, and the instance that it belongs to; also of what continues through it, but not from the one before."""
    shape = planned.routed.shape
    every = shape.aliased_handshake or rescheduled(planned) or rescheduled(before)
    shared = link_writes(planned.routed) & link_writes(before.routed)
    operators = [*planned.operators, *([planned.barrier] if planned.barrier else [])]
    instances = [set(instance.nodes) for one in operators for instance in one.operator.instances]
    new = [one for one in planned.routed.beside if goes_on(one, before.routed.beside) is None]
    anywhere = from_anywhere(planned.routed)
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
