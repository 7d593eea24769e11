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
from weakref import WeakValueDictionary

from pointsman.operators import Context, Implementation
from pointsman.operators.api.cached import kept, streams_of
from pointsman.operators.api.loading import Loading
from pointsman.program.order import Place, in_order
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

Way = tuple[Operator, Implementation]


def sets_that_share(ways: Sequence[Way], places: Mapping[str, Place], context: Context) -> list[list[int]]:
    """Numbers of the operators of a phase, those together that have the same streams.

    Parameters
    ----------
    ways : sequence of (Operator, Implementation)
        What is in the phase.
    places : mapping
        By label, where an operator is in the program (`pointsman.program.order.places`).
    """
    found: list[list[int]] = []
    alike: dict[_Ends, list[list[int]]] = {}
    for number, (operator, implementation) in enumerate(ways):
        ends = _ends(operator, implementation, context)
        sets = [] if ends is None else alike.setdefault(ends, [])
        place = places.get(operator.label, ())
        always = all(step.ordered for step in place)
        for one in sets:
            if always or all(in_order(places[ways[other][0].label], place) for other in one):
                one.append(number)
                break
        else:
            found.append([number])
            sets.append(found[-1])
    return found


def streams_of_phase(
    ways: Sequence[Way],
    places: Mapping[str, Place],
    context: Context,
    streams_in: Callable[[Operator, Implementation], list[Stream]],
) -> tuple[list[Stream], list[range]]:
    """The streams of a phase, and by operator the indices of its own among them. ``streams_in``: the streams of an operator, with
    the words a period that they may have; other parameters as for `sets_that_share`."""
    streams: list[Stream] = []
    spans = [range(0)] * len(ways)
    for first, *others in sets_that_share(ways, places, context):
        own = streams_in(*ways[first])
        if others:
            own = [_joined(alike) for alike in zip(own, *(streams_in(*ways[other]) for other in others), strict=True)]
        for number in (first, *others):
            spans[number] = range(len(streams), len(streams) + len(own))
        streams += own
    return streams, spans


class _Ends:
    """Where the streams of operators lead that can share them: one object for all of these operators."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: Hashable) -> None:
        self.key = key


_known: WeakValueDictionary[Hashable, _Ends] = WeakValueDictionary()


def _ends(operator: Operator, implementation: Implementation, context: Context) -> _Ends | None:
    """Where the streams of an operator lead; None if it can share them with none: values are given at run time, or routers do not
    hold the same VFSMs for it as long as the phase runs, or join its streams, or whichever node has the message writes it, so
    that nodes do not use several such operators in the same order."""

    def ask() -> _Ends | None:
        fixed = not operator.runtime_names and implementation.loading is Loading.LOCAL and operator.kind != "collect"
        if not fixed or implementation.stages(operator) > 1:
            return None
        streams = streams_of(implementation, operator, context)
        if not all(replace(stream, path=None).is_plain for stream in streams):
            return None
        nodes = tuple([instance.nodes for instance in operator.instances])
        key = operator.kind, implementation, nodes, tuple([_unnamed(stream, operator.label) for stream in streams])
        ends = _known.get(key)
        if ends is None:
            ends = _known[key] = _Ends(key)
        return ends

    return kept(
        operator, ("ends", id(implementation), id(context.topology), context.shape), (implementation, context), ask
    )


def _unnamed(stream: Stream, label: str) -> Stream:
    """A stream without what depends on an operator's label, length and calls."""
    return replace(
        stream,
        name=stream.name.removeprefix(label),
        group=stream.group.removeprefix(label),
        turn=stream.turn and stream.turn._replace(operator=""),
        weight=1.0,
        max_words=None,
        message=0,
    )


def _joined(alike: tuple[Stream, ...]) -> Stream:
    """A stream that carries the words of all of ``alike``."""
    first, *others = alike
    most = [stream.max_words for stream in alike if stream.max_words is not None]
    return replace(
        first,
        weight=sum(stream.weight for stream in alike),
        max_words=max(most) if len(most) == len(alike) else None,
        message=0,
        also=tuple([stream.name for stream in others]),
    )
