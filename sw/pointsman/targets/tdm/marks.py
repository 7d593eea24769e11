"""Operators of a program -> connections on which words alone do not tell to which operator they belong.

Words on the switch carry no name. A message is told by its sender, by the order of the program, and by nothing else, as long as
sender and receiver use the operators that share a connection in the same order. Two cases are not so:

- operators of a parallel or phase group are used in any order (`pointsman.program.order`);
- who reads a collect reads from whoever has written first, so a later message of another operator may be there before.

There each message begins with a mark: a word with the number of its operator. A receiver that finds the mark of another
operator puts that message aside until the other operator asks for it. Non-goals: the order in which operators are called,
which is the application's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.artifacts.tables import Pair
from pointsman.program.order import Place, in_order


@dataclass(frozen=True)
class Sender:
    """What is asked of an operator: its place in the program, its connections, and whether its readers read from anybody."""

    place: Place
    pairs: frozenset[Pair]
    from_anybody: bool = False


def marked_connections(senders: Sequence[Sender]) -> list[tuple[Pair, ...]]:
    """For each operator, the connections on which its messages must be marked."""
    found: list[set[Pair]] = [set() for _ in senders]
    for number, one in enumerate(senders):
        for before, other in enumerate(senders[:number]):
            if one.from_anybody or other.from_anybody or not in_order(one.place, other.place):
                common = one.pairs & other.pairs
                found[number] |= common
                found[before] |= common
    return [tuple(sorted(pairs)) for pairs in found]
