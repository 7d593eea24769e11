"""Accesses to the own memory through a pointer: they poll where that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.runtime.splitc import SplitC

from .programs import results


@pytest.mark.parametrize("poll_local", [False, True])
def test_a_processor_that_reads_its_own_memory_hears_of_others_where_it_polls(poll_local: bool) -> None:
    async def main(s: SplitC) -> int:
        cell = await s.all_spread_allocate(s.PROCS, np.int32)
        if s.MYPROC == 0:
            await s.store(cell + 1, 5)
            return 0
        await s.compute(1000)
        for _ in range(20):
            await s.read(cell + 1)
        return int(s.local((cell + 1).here)[0])

    assert results(main, 2, poll_local=poll_local)[1] == (5 if poll_local else 0)
