"""Starts of an all-gather round a cycle with leaves: no search, a slot or a few above the number of nodes.

Round a cycle of m nodes every word comes to each node once. Count the slots at each node from the first node's, less the links
between: then a word keeps its number, its *turn*, from node to node, until it passes its own: there it is back at the beginning,
with m less, modulo the period. In a slot no two words may be at a node, so the turns of all words must differ everywhere.

Turns that differ by multiples of m are a ring, through which words move by one place as the cycle is followed. If a ring has a
free place, words lie below it in the order of the cycle: the first moves up into the free place and leaves one for the next, and
a leaf's word goes into that of the word before. A ring without a free place can be full of words of successive nodes without
leaves: a word is not on the link to its own node, so the one before may have its place by then, and the last has that of the
first. Words of the first node and its leaves never move.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import gcd


def turns_of(leaves: Sequence[int], period: int) -> list[list[int]] | None:
    """Turns in ``period`` slots of the words of each node of a cycle: first those of its leaves, as many as ``leaves`` says, then
    its own; None if the rings cannot be filled so.
    """
    length = len(leaves)
    words = length + sum(leaves)
    spare = period - words
    rings = gcd(length, period)
    size = period // rings
    if spare < 0:
        return None
    found: list[list[int]] = [[] for _ in leaves]
    still = leaves[0] + 1
    closed = list(range(min(spare, rings), rings))
    # Rings without a free place take runs of successive nodes without leaves.
    for bare, group in groupby(range(1, length), key=lambda at: leaves[at] == 0):
        run = list(group) if bare else []
        while closed and len(run) >= size:
            ring = closed.pop()
            for place, at in enumerate(run[:size]):
                found[at] = [_turn(ring, place, length, period)]
            run = run[size:]
        if closed and run and run[-1] == length - 1 and len(run) + still >= size:
            # The last of all moves up to where words of the first node are, which are not on that link.
            ring, first = closed.pop(), len(run) - (size - min(still, size - 1))
            for place, at in enumerate(run[first:]):
                found[at] = [_turn(ring, place, length, period)]
            kept = size - len(run[first:])
            found[0] = [_turn(ring, size - kept + place, length, period) for place in range(kept)]
    if closed:
        return None
    # The others lie below the free places.
    below = [size - 1] * min(spare, rings)
    for at in [*range(1, length), 0]:
        wanted = leaves[at] + 1 - len(found[at])
        while wanted:
            count = wanted if at else 1
            ring = max(range(len(below)), key=lambda ring: below[ring], default=-1)
            if ring < 0 or below[ring] < count:
                return None
            below[ring] -= count
            found[at] += [_turn(ring, below[ring] + place, length, period) for place in range(count)]
            wanted -= count
    return found


def _turn(ring: int, place: int, length: int, period: int) -> int:
    return (ring - place * length) % period
