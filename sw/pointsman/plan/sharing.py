"""Operators of a phase -> its streams, of which operators that come one after the other have the same if they can.

A stream keeps the order of its words. So where all nodes use one operator after another, and both have streams between the same
nodes, words of the second follow those of the first through the same registers and slots: a reader takes as many words as the
first has, and the next are the second's. For example, two all-reduces of a word in an iteration need as many registers, slots
and commands as one, and each is as quick as if it were alone; with streams of its own each would have half of the slots.

Takes operators with their implementations. Leaves alone: operators in different phases, routes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from pointsman.operators import Implementation
from pointsman.operators.api.cached import kept
from pointsman.operators.api.loading import Loading
from pointsman.program.order import Place, in_order
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

Way = tuple[Operator, Implementation]
StreamsOf = Callable[[Operator, Implementation], list[Stream]]


def sets_that_share(ways: Sequence[Way], places: Mapping[str, Place], streams_of: StreamsOf) -> list[list[int]]:
    """Numbers of the operators of a phase, those together that have the same streams.

    Parameters
    ----------
    ways : sequence of (Operator, Implementation)
        What is in the phase.
    places : mapping
        By label, where an operator is in the program (`pointsman.program.order.places`).
    """
    by_kin: dict[Hashable, list[list[int]]] = {}
    for number, (operator, implementation) in enumerate(ways):
        sets = by_kin.setdefault((id(implementation), _kin(operator)), [])
        for one in sets:
            if all(_can_share(ways[other], ways[number], places, streams_of) for other in one):
                one.append(number)
                break
        else:
            sets.append([number])
    return sorted(one for sets in by_kin.values() for one in sets)


def streams_of_phase(
    ways: Sequence[Way], places: Mapping[str, Place], streams_of: StreamsOf
) -> tuple[list[Stream], list[range]]:
    """The streams of a phase, and by operator the indices of its own among them. Parameters as for `sets_that_share`."""
    streams: list[Stream] = []
    spans = [range(0)] * len(ways)
    for first, *others in sets_that_share(ways, places, streams_of):
        own = streams_of(*ways[first])
        for other in others:
            own = [_joined(*both) for both in zip(own, streams_of(*ways[other]), strict=True)]
        for number in (first, *others):
            spans[number] = range(len(streams), len(streams) + len(own))
        streams += own
    return streams, spans


def _kin(operator: Operator) -> Hashable:
    """What operators have in common that can share streams."""
    return kept(
        operator, "kin", (), lambda: (operator.kind, tuple([instance.nodes for instance in operator.instances]))
    )


def _can_share(one: Way, other: Way, places: Mapping[str, Place], streams_of: StreamsOf) -> bool:
    """Can two operators of a kind, on the same nodes, have the same streams if they are done in the same way in one phase?"""
    (first, way), (second, _) = one, other
    return (
        not first.runtime_names
        and not second.runtime_names
        and in_order(places[first.label], places[second.label])
        and way.loading is Loading.LOCAL
        and way.stages(first) == way.stages(second) == 1
        and (ends := _ends(streams_of(first, way), first.label)) is not None
        and ends == _ends(streams_of(second, way), second.label)
    )


def _ends(streams: Sequence[Stream], label: str) -> Hashable:
    """Key that is equal for operators whose streams lead in the same way between the same nodes. None where routers do not hold
    the same VFSMs for them as long as the phase runs, or join them."""
    if not all(replace(stream, path=None).is_plain for stream in streams):
        return None
    return tuple(
        replace(
            stream,
            name=stream.name.removeprefix(label),
            group=stream.group.removeprefix(label),
            turn=stream.turn and stream.turn._replace(operator=""),
            weight=1.0,
            max_words=None,
        )
        for stream in streams
    )


def _joined(stream: Stream, other: Stream) -> Stream:
    """A stream that also carries the words of another."""
    most = None if stream.max_words is None or other.max_words is None else max(stream.max_words, other.max_words)
    weight = stream.weight + other.weight
    return replace(stream, weight=weight, max_words=most, also=(*stream.also, other.name))
