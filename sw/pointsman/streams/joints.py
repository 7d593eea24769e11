"""Words that pass from VFSM to VFSM through an interface register."""

from __future__ import annotations

from collections.abc import Collection


def joint_words(writes: Collection[int], reads: Collection[int], period: int) -> int:
    """Words a period that pass a register, written and read by VFSMs in these slots.

    A VFSM at slot t writes in cycle t + 1; the register is full from t + 2 on, and empty again in the cycle after its read.
    A VFSM may write in the cycle after that at the earliest.

    >>> joint_words((0,), (2,), 8)
    1
    >>> joint_words((0, 4), (5, 7), 8)
    1
    """
    if not writes or not reads:
        return 0
    seen: dict[tuple[int, bool], tuple[int, int]] = {}
    full, moved, cycle = False, 0, 0
    ready = 0  # first cycle in which a VFSM that starts then finds the state as it is
    while True:
        slot = cycle % period
        if slot == 0:
            if (ready - cycle, full) in seen:
                then, before = seen[ready - cycle, full]
                return (moved - before) * period // (cycle - then)
            seen[ready - cycle, full] = cycle, moved
        if cycle >= ready:
            if not full and slot in writes:
                full, ready = True, cycle + 2
            elif full and slot in reads:
                full, ready = False, cycle + 1
                moved += 1
        cycle += 1
