"""How many words per period pass from VFSM to VFSM through an interface register: the judge's own count, for ``trace``.

Takes slots of the VFSM that writes the register and of the VFSM that reads it; gives whole words per period. Example:
writes in slots 0 and 4 and reads in slots 1 and 5 of 8. With ``SHORTEST_RELAY`` 4 a word written at 0 is read at 5 at the
earliest, so that the next write is at slot 0 again: 1 word per period, not 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numesh.codes import SHORTEST_REFILL, SHORTEST_RELAY


def joint_words(writes: Sequence[int], reads: Sequence[int], period: int) -> int:
    """Whole words per period that get through.

    A word written in slot t is read in the first read slot u from t + ``SHORTEST_RELAY`` on; the next is written in the first
    write slot from u + ``SHORTEST_REFILL`` on. This comes round to a write slot met before: the rate is the words on that circle
    over its cycles.
    """
    if not writes or not reads:
        return 0

    def first(slots: Sequence[int], cycle: int) -> int:
        return min(cycle + (slot - cycle) % period for slot in slots)

    met: dict[int, tuple[int, int]] = {}
    cycle, words = first(writes, 0), 0
    while cycle % period not in met:
        met[cycle % period] = cycle, words
        cycle = first(writes, first(reads, cycle + SHORTEST_RELAY) + SHORTEST_REFILL)
        words += 1
    since, before = met[cycle % period]
    return int(Fraction(words - before, cycle - since) * period)
