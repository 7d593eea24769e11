"""Whose words pass a link in a slot, and which nodes these words can join.

Takes planned phases. Gives, for links and slots, the operators whose words pass there and the nodes where these words
begin (`written_by`); for two phases that write the same links, the sets of nodes that such words join (`word_spans`),
which have to meet in a barrier before words of the later phase may come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pointsman.operators.api.loading import Loading
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.structure.structure import Structure
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.streams import RoutedPhase

from .link_slots import Link, cached_on_phase, link_writes


def written_by(phase: PlannedPhase, links: Collection[Link]) -> dict[Link, set[tuple[str | None, frozenset[int]]]]:
    """By link and slot, labels of the operators whose words pass there, each with the nodes that send them. Label None:
    words that a node may send before it uses the operator or after it has used all, such as those of a barrier."""
    routed = phase.routed
    anywhere = from_anywhere(routed)
    nobody: tuple[str | None, frozenset[int]] = None, frozenset()
    by_stream: dict[int, set[tuple[str | None, frozenset[int]]]] = {}
    # With "hijack", closing the phase may use the streams of its operators.
    for one in phase.operators if phase.technique != "hijack" else ():
        for number in one.streams if in_its_turn(one) else ():
            stream = routed.streams[number]
            senders = one.operator.nodes if number in anywhere else [stream.source]
            by_stream.setdefault(number, set()).add((one.operator.label, frozenset(senders)))
    chains = [(chain, by_stream.get(chain.stream, {nobody})) for chain in (*routed.chains, *routed.second)]
    chains += [(chain, {nobody}) for other in routed.beside for chain in other.chains]
    found: dict[Link, set[tuple[str | None, frozenset[int]]]] = {}
    for chain, writers in chains:
        for vfsm in chain.vfsms:
            for slot in vfsm.slots if vfsm.destination.kind == "link" else ():
                link = vfsm.node, vfsm.destination.number, slot
                if link in links:
                    found.setdefault(link, set()).update(writers)
    return found


def from_anywhere(routed: RoutedPhase) -> set[int]:
    """Numbers of the streams that may carry words of other nodes than their source."""
    onward = {stream.into for stream in routed.streams if stream.into is not None}
    return {
        number
        for number, stream in enumerate(routed.streams)
        if stream.injects_anywhere or stream.rewritten or stream.into is not None or stream.name in onward
    }


def in_its_turn(one: PlannedOperator) -> bool:
    """Are words of the operator sent by its I/O functions only, not by its load functions, nor by a router on its own?"""
    return one.stages == 1 and not one.implementation.loading.moves_early


def rescheduled(phase: PlannedPhase) -> bool:
    return phase.has_loading(Loading.RESCHEDULED)


def left_behind(planned: Sequence[PlannedPhase], structure: Structure, index: int) -> RoutedPhase:
    """The routes of phase ``index`` without operators that continue into all of its successors: their words are left
    behind only by the barrier of a later phase."""
    routed = planned[index].routed
    after = [planned[s].routed.beside for s in structure.successors[index] if s >= 0]
    ending = tuple(one for one in routed.beside if any(goes_on(one, beside) is None for beside in after))
    return replace(routed, beside=ending) if ending != routed.beside else routed


@cached_on_phase
def _chains(routed: RoutedPhase) -> list[tuple[int, set[Link], frozenset[int]]]:
    """Of each chain: the number of its stream, the links and slots that it writes, and its nodes."""
    return [
        (
            chain.stream,
            {
                (v.node, v.destination.number, slot)
                for v in chain.vfsms
                if v.destination.kind == "link"
                for slot in v.slots
            },
            frozenset(vfsm.node for vfsm in chain.vfsms),
        )
        for chain in (*routed.chains, *routed.second)
    ]


def word_spans(planned: PlannedPhase, before: PlannedPhase) -> list[frozenset[int]]:
    """Sets of nodes that words of ``planned`` can join, for words that pass a link and slot which ``before`` writes
    too: the nodes of each route, and the instance around it. Routes of operators that continue through ``planned``
    count unless they come from ``before``."""
    shape = planned.routed.shape
    every = shape.aliased_handshake or rescheduled(planned) or rescheduled(before)
    shared = link_writes(planned.routed) & link_writes(before.routed)
    operators = [*planned.operators, *([planned.barrier] if planned.barrier else [])]
    # Most operators name the same nodes, as a rule the whole mesh.
    instances = list(
        dict.fromkeys(frozenset(instance.nodes) for one in operators for instance in one.operator.instances)
    )
    new = [one for one in planned.routed.beside if goes_on(one, before.routed.beside) is None]
    anywhere = from_anywhere(planned.routed)
    owner = {number: one.operator for one in operators for number in one.streams if number in anywhere}
    chains = [(chain, owner.get(chain[0])) for chain in _chains(planned.routed)]
    chains += [(chain, None) for one in new for chain in _chains(one)]
    spans: list[frozenset[int]] = []
    for (stream, writes, passed), senders in chains:
        if every or not writes.isdisjoint(shared):
            if senders is not None:
                # Any node of the instance may send.
                source = planned.routed.streams[stream].source
                passed = passed.union(*(i.nodes for i in senders.instances if source in i.nodes))
            spans += [passed, *(own for own in instances if not own.isdisjoint(passed) and own >= passed)]
    if every:
        spans += instances
    return list(dict.fromkeys(spans))
