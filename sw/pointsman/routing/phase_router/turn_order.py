"""Which word is written after which, and when, where processors pass words on or do one operator after the other.

Takes the demands of a part and their places in the order (``Stream.turn``). Leaves alone: which slots words get (``in_turn``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from numesh.codes import ACCESS_TO_ACCESS, SHORTEST_TURN
from pointsman.routing.streams import Stream, Turn, read_after

from .problem import RoutingPart, Site


class InOrder(NamedTuple):
    """The place of a stream in the order: the number of its operator in the phase, and its level; the words of a message, and
    those that are combined at once."""

    operator: int
    level: int
    words: int
    item: int


Turns = tuple[InOrder | None, ...]
"""By demand its place; None for streams of other kinds."""
LONGEST = 4
"""Words of the longest message; those of longer ones keep processors busy, and wait for slots only at the beginning."""


def turns_of(streams: Sequence[Stream], site: Site) -> Turns:
    """By demand, its stream's operator, numbered as they come so that parts that are alike stay so, and level; None for streams
    of other kinds."""
    numbers: dict[str, int] = {}
    found: list[InOrder | None] = []
    for stream in (streams[number] for number in site.streams):
        turn = stream.turn
        if turn is None or not is_in_turn(stream):
            found.append(None)
        else:
            number, words = numbers.setdefault(turn.operator, len(numbers)), stream.max_words or 1
            found.append(InOrder(number, turn.level, words, min(turn.item, words)))
    return tuple(found)


def is_in_turn(stream: Stream) -> bool:
    """Is it a stream of a short message a period in some order, of which load functions rewrite nothing?"""
    if stream.turn is None or not stream.is_plain or stream.max_words is None:
        return False
    return stream.max_words == 1 or (stream.max_words <= LONGEST and not stream.all_chains)


def in_order(streams: Sequence[Stream]) -> list[Stream] | None:
    """The streams of a phase with a message of each a period, and their places in the order of the program; None if some carry
    long messages or are rewritten by load functions, or if all are of one operator."""
    made = []
    for stream in streams:
        if is_in_turn(stream):
            made.append(stream)
        elif 0 < stream.message <= LONGEST and stream.turn is None and replace(stream, path=None).is_plain:
            turn = Turn(stream.group, 0, stream.message)
            made.append(replace(stream, path=None, max_words=stream.message, chains=1, all_chains=False, turn=turn))
        else:
            return None
    operators = {stream.turn.operator for stream in made if stream.turn is not None}
    return made if len(operators) > 1 else None


class Order:
    """Which word is written after which, and when. ``turns``: by demand, its turn; None for streams of other kinds. At a node the
    operators come one after the other, as in the program."""

    def __init__(self, part: RoutingPart, turns: Turns) -> None:
        self.part = part
        self.spread = spreads_of(part, turns)
        """By demand, slots from the first word to each word of a message."""
        self.item = {k: turn.item for k, turn in enumerate(turns) if turn is not None}
        numbered = sorted((turn, k) for k, turn in enumerate(turns) if turn is not None)
        self.sequence = [k for _, k in numbered]
        """Demands in such an order that those written before another, or read before another is written, come before it."""
        self.ending: dict[int, list[int]] = {}
        leaving: dict[int, list[int]] = {}
        self.read: dict[int, list[int]] = {}
        """For each demand those whose words are read before its own is written."""
        self.written: dict[int, list[int]] = {}
        """Those whose words are written before it by the same processor."""
        for turn, k in numbered:
            demand = part.demands[k]
            self.read[k] = [j for j in self.ending.get(demand.source, ()) if turns[j] != turn]
            self.written[k] = list(leaving.get(demand.source, ()))
            leaving.setdefault(demand.source, []).append(k)
            for node in demand.destinations:
                self.ending.setdefault(node, []).append(k)
        self.after: dict[int, list[int]] = {k: [] for k in self.sequence}
        for k in self.sequence:
            for j in (*self.read[k], *self.written[k]):
                self.after[j].append(k)
        self.tail: dict[int, int] = {}
        """Cycles from the writing of a word to the end, at least."""
        for k in reversed(self.sequence):
            way = max(self.hops(k).values())
            way += self.spread[k][self.item[k] - 1]
            self.tail[k] = ACCESS_TO_ACCESS + 1 + way + max((self.tail[j] for j in self.after[k]), default=0)

    @property
    def moves(self) -> int:
        """Moves of routers for a word of each demand, about."""
        return sum(
            len(self.spread[k]) * (max(len(hops), *hops.values()) + 1)
            for k, hops in ((k, self.hops(k)) for k in self.sequence)
        )

    @property
    def shortest(self) -> int:
        """Cycles until the last read, if all slots are free."""
        return self.last(self._unhindered)[1]

    @property
    def ideal(self) -> Mapping[int, int]:
        """By demand, the cycle in which its word is written if all slots are free."""
        return self._unhindered.wrote

    @cached_property
    def _unhindered(self) -> Times:
        def arrivals(k: int, cycle: int) -> dict[int, tuple[int, ...]]:
            first = cycle + ACCESS_TO_ACCESS
            return {
                node: tuple([first + hops + slot for slot in self.spread[k][: self.item[k]]])
                for node, hops in self.hops(k).items()
            }

        return self.played(arrivals)

    def played(
        self, arrivals: Callable[[int, int], dict[int, tuple[int, ...]]], since: Mapping[int, int] = {}
    ) -> Times:
        """``arrivals``: what `Times.arrived` holds of a demand whose word is written in a cycle; ``since``: by node the cycle in
        which it begins, not 0."""
        times = Times()
        for k in self.sequence:
            cycle = times.wrote[k] = max(self.write(k, times), since.get(self.part.demands[k].source, 0))
            times.arrived[k] = arrivals(k, cycle)
        return times

    def last(self, times: Times) -> tuple[int, int]:
        """The node that reads last, and the cycle after that."""
        done = self.read_all(times)
        last = max(done, key=lambda node: done[node])
        return last, done[last]

    def read_all(self, times: Times) -> dict[int, int]:
        """By node that reads any, the cycle after it has read its words."""
        return {
            node: read_after(at for k in some for at in times.arrived[k][node]) for node, some in self.ending.items()
        }

    def write(self, k: int, times: Times) -> int:
        """The cycle in which a word is written: after what is read and written before."""
        node = self.part.demands[k].source
        read = read_after(at for j in self.read[k] for at in times.arrived[j][node])
        return max(read, *(times.wrote[j] + self.item[j] for j in self.written[k]), 0)

    def hops(self, k: int) -> dict[int, int]:
        """Links to each destination."""
        demand = self.part.demands[k]
        far = self.part.distances(demand.source, demand.nodes)
        return {node: far.get(node, 0) for node in demand.destinations}


@dataclass
class Times:
    """By demand the cycle in which its word is written, and by destination those from which the words that are combined at once
    can be read."""

    wrote: dict[int, int] = field(default_factory=dict)
    arrived: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)


def spreads_of(part: RoutingPart, turns: Turns) -> dict[int, tuple[int, ...]]:
    """By demand, slots from the first word to each word of a message. Of an item a word comes when those that its reader reads
    beside it have been read, an item when the busiest processor is through with the one before."""
    reads, ends = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for demand, place in zip(part.demands, turns, strict=True):
        if place is not None:
            reads.update((place.operator, node) for node in demand.destinations)
            ends.update((place.operator, node) for node in (demand.source, *demand.destinations))
    found = {}
    for k, (demand, place) in enumerate(zip(part.demands, turns, strict=True)):
        if place is not None:
            step = max(SHORTEST_TURN, *(reads[place.operator, node] for node in demand.destinations))
            if len(demand.destinations) > 1:
                # A router may write it to all links, or deliver it after all but the one by which it came.
                step = max(step, 1 + max(map(len, part.leaving)))
            busiest = max(count for (operator, _), count in ends.items() if operator == place.operator)
            each = place.item * max(busiest, step)
            items = [divmod(word, place.item) for word in range(place.words)]
            found[k] = tuple([item * each + word * step for item, word in items])
    return found
