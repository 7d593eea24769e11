"""An algorithm -> rounds: the messages that can be under way at the same time, and what each rank does before.

A message belongs to the first round in which its chunks can be there; what uses it comes in a later one. So a step of a ring is
a round, in whatever order a file has its messages. Messages of a round from a rank to another go together. Where each rank
sends to the rank at the same distance, or to that with the same bits flipped, as in rings, all-to-alls and halvings, that is
one permutation. The other transfers of a round stand in an order in which those that follow each other mostly have ranks
of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .algorithm import Action, Algorithm, Place


@dataclass(frozen=True)
class Transfer:
    """Messages from a rank to another, ``chunks`` together."""

    source: int
    destination: int
    chunks: int
    messages: tuple[int, ...]


@dataclass(frozen=True)
class Handover:
    """Transfers at the same time, as many ``chunks`` in each: a single one, or one from each rank and one to each."""

    chunks: int
    transfers: tuple[Transfer, ...]

    @property
    def way(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """All but which messages they are: chunks, and sources with their destinations."""
        return self.chunks, tuple([(one.source, one.destination) for one in self.transfers])


@dataclass(frozen=True)
class Round:
    """``work``: by rank, the actions before the ``handovers``, those that send among them, in the order of the algorithm."""

    work: dict[int, list[Action]]
    handovers: tuple[Handover, ...]


def rounds_of(algorithm: Algorithm) -> list[Round]:
    """The rounds of an algorithm, one after the other."""
    written, read = defaultdict[tuple[int, Place], int](int), defaultdict[tuple[int, Place], int](int)
    sent: dict[int, int] = {}
    work = defaultdict[int, dict[int, list[Action]]](dict)
    together = defaultdict[int, dict[tuple[int, int], list[int]]](dict)
    for action in algorithm.actions:
        into, at = action.into
        operands = [
            (action.rank, place)
            for name, first in action.operands
            if name != "m"
            for place in _places(algorithm, action, name, first)
        ]
        filled = [(action.rank, place) for place in _places(algorithm, action, into, at)] if into != "m" else []
        number = max(
            (sent[number] + 1 for name, number in action.operands if name == "m"),
            default=0,
        )
        # What is in a place must have come there, and have been used before something else does.
        number = max([number, *(written[one] for one in (*operands, *filled)), *(read[one] for one in filled)])
        for one in operands:
            read[one] = max(read[one], number)
        for one in filled:
            written[one] = number
        work[number].setdefault(action.rank, []).append(action)
        if into == "m":
            sent[at] = number
            message = algorithm.messages[at]
            together[number].setdefault((message.source, message.destination), []).append(at)
    return [
        Round(work[number], tuple(_handovers(algorithm, together[number])))
        for number in range(max(work, default=-1) + 1)
    ]


def _places(algorithm: Algorithm, action: Action, name: str, at: int) -> list[Place]:
    return [
        algorithm.buffers.home(algorithm.collective, action.rank, (name, at + offset)) for offset in range(action.count)
    ]


def _handovers(algorithm: Algorithm, together: dict[tuple[int, int], list[int]]) -> Iterator[Handover]:
    """The messages of a round, by source and destination, as permutations where they are some."""
    left = [
        Transfer(a, b, sum(algorithm.messages[number].count for number in numbers), tuple(numbers))
        for (a, b), numbers in sorted(together.items())
    ]
    ranks = algorithm.ranks
    for alike in (lambda one: (one.destination - one.source) % ranks, lambda one: one.destination ^ one.source):
        groups = defaultdict[tuple[int, int], list[Transfer]](list)
        for one in left:
            groups[alike(one), one.chunks].append(one)
        # No rank is twice in a group.
        yield from (
            Handover(key[1], tuple(sorted(group, key=_ends))) for key, group in groups.items() if len(group) == ranks
        )
        left = [one for group in groups.values() if len(group) < ranks for one in group]
    yield from (Handover(one.chunks, (one,)) for one in _in_turn(left))


def _in_turn(transfers: Sequence[Transfer]) -> list[Transfer]:
    """First some that have no rank in common, then others."""
    turns = defaultdict[int, set[int]](set)
    found: list[tuple[int, Transfer]] = []
    for one in sorted(transfers, key=_ends):
        ends = {one.source, one.destination}
        turn = next(turn for turn in range(len(found) + 1) if not ends & turns[turn])
        turns[turn] |= ends
        found.append((turn, one))
    return [one for _, one in sorted(found, key=lambda one: one[0])]


def _ends(one: Transfer) -> tuple[int, int]:
    return one.source, one.destination
