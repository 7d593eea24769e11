"""The judge's own count of the words that pass from VFSM to VFSM through an interface register."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def joint_words(writes: Sequence[int], reads: Sequence[int], period: int) -> int:
    """Whole words a period that get through.

    The way of one word: a write slot t, the first read slot u from t + 2 on, the next write slot from u on. From any
    write slot that leads round to a write slot that was met before; the words on that circle over its cycles is the rate.
    """
    if not writes or not reads:
        return 0

    def first(slots: Sequence[int], cycle: int) -> int:
        return min(cycle + (slot - cycle) % period for slot in slots)

    met: dict[int, tuple[int, int]] = {}
    cycle, words = first(writes, 0), 0
    while cycle % period not in met:
        met[cycle % period] = cycle, words
        cycle = first(writes, first(reads, cycle + 2))
        words += 1
    since, before = met[cycle % period]
    return int(Fraction(words - before, cycle - since) * period)
