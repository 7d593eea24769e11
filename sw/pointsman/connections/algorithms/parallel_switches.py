"""Configurations with durations dealt out to several switches side by side, each of which makes its own one after the other.

Longest first to the switch that is done first (Graham 1969), then pieces of the longest configuration of the busiest switch go
to the least busy one, as long as that makes the whole shorter, although every piece is established anew."""

from __future__ import annotations

from fractions import Fraction

Part = tuple[int, list[tuple[int, int]]]
"""(duration, connections), in whole units."""
Placed = list[tuple[int | Fraction, list[tuple[int, int]], int]]
"""(duration, connections, switch)."""

ROUNDS = 10_000


def on_one(parts: list[Part], overlap: bool) -> Placed:
    """All on one switch; where set-up overlaps with sending, the shortest last, beside which nothing is set up."""
    order = list(parts)
    if overlap and order:
        order.append(order.pop(min(range(len(order)), key=lambda index: (order[index][0], index))))
    return [(duration, pairs, 0) for duration, pairs in order]


def spread(parts: list[Part], delta: int, switches: int, overlap: bool) -> Placed:
    """Dealt out to ``switches``, each configuration after ``delta`` of set-up."""
    piles: list[list[Part]] = [[] for _ in range(switches)]
    for part in sorted(parts, key=lambda one: -one[0]):
        min(piles, key=lambda pile: _time(pile, delta, overlap)).append(part)
    for _ in range(ROUNDS):
        piles.sort(key=lambda pile: _time(pile, delta, overlap))
        least, most = piles[0], piles[-1]
        low, high = _time(least, delta, overlap), _time(most, delta, overlap)
        if not most:
            break
        longest = max(range(len(most)), key=lambda index: most[index][0])
        duration, pairs = most[longest]
        piece = min(duration - 1, (high - low - delta) // 2)
        if piece < 1:
            break
        shorter = [*most[:longest], (duration - piece, pairs), *most[longest + 1 :]]
        longer = [*least, (piece, pairs)]
        if max(_time(shorter, delta, overlap), _time(longer, delta, overlap)) >= high:
            break
        piles[0], piles[-1] = longer, shorter
    return [
        (duration, pairs, switch) for switch, pile in enumerate(piles) for duration, pairs, _ in on_one(pile, overlap)
    ]


def _time(pile: list[Part], delta: int, overlap: bool) -> int:
    """How long a switch takes for its configurations."""
    if not overlap:
        return sum(duration + delta for duration, _ in pile)
    durations = [duration for duration, _ in pile]
    if not durations:
        return 0
    last = min(durations)
    return delta + sum(max(duration, delta) for duration in durations) - max(last, delta) + last
