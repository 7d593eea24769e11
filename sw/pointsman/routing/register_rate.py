"""How many words pass from VFSM to VFSM through an interface register."""

from __future__ import annotations

from collections.abc import Collection

from numesh.codes import SHORTEST_REFILL, SHORTEST_RELAY


def joint_words(writes: Collection[int], reads: Collection[int], period: int) -> int:
    """Words per period that pass a register which VFSMs write and read in these slots.

    The word of a VFSM at slot t is there for VFSMs from slot t + `SHORTEST_RELAY` on. Read in slot u, the register is empty for
    VFSMs from slot u + `SHORTEST_REFILL` on.

    >>> joint_words((0,), (2,), 8)
    1
    >>> joint_words((0, 4), (5, 7), 8)
    1
    """
    if not writes or not reads:
        return 0
    seen: dict[tuple[int, bool], tuple[int, int]] = {}
    full, moved, cycle = False, 0, 0
    ready = 0  # first cycle in which a VFSM finds the register as it is
    while True:
        slot = cycle % period
        if slot == 0:
            here = (max(0, ready - cycle), full)
            if here in seen:
                then, before = seen[here]
                return (moved - before) * period // (cycle - then)
            seen[here] = cycle, moved
        if full and cycle >= ready and slot in reads:
            full, ready = False, cycle + SHORTEST_REFILL
            moved += 1
        if not full and cycle >= ready and slot in writes:
            full, ready = True, cycle + SHORTEST_RELAY
        cycle += 1
