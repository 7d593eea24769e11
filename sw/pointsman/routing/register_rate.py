"""How many words pass from VFSM to VFSM through an interface register."""

from __future__ import annotations

from collections.abc import Collection


def joint_words(writes: Collection[int], reads: Collection[int], period: int) -> int:
    """Words per period that pass a register which VFSMs write and read in these slots.

    A VFSM at slot t writes in cycle t + 1, so the register is full from cycle t + 2 on. Read in cycle u, it is empty from u + 1
    on, in time for a VFSM at slot u.

    >>> joint_words((0,), (2,), 8)
    1
    >>> joint_words((0, 4), (5, 7), 8)
    1
    """
    if not writes or not reads:
        return 0
    seen: dict[tuple[int, bool], tuple[int, int]] = {}
    full, moved, cycle = False, 0, 0
    ready = 0  # first cycle in which a VFSM finds a full register so
    while True:
        slot = cycle % period
        if slot == 0:
            here = (max(0, ready - cycle), full)
            if here in seen:
                then, before = seen[here]
                return (moved - before) * period // (cycle - then)
            seen[here] = cycle, moved
        if full and cycle >= ready and slot in reads:
            full = False
            moved += 1
        if not full and slot in writes:
            full, ready = True, cycle + 2
        cycle += 1
