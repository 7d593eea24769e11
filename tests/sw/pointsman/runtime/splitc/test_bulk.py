"""Bulk transfers of every size class copy what they name and nothing beside it, in order or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.splitc import SplitC
from pointsman.runtime.splitc.accessors import BULK_COUNTERS

from .programs import results, run


@pytest.mark.parametrize("machine", ["example", "cm5,delay=300"])
@pytest.mark.parametrize("items", [0, 1, 64, 65, 256, 257, 5000])
def test_gets_puts_and_stores_of_all_sizes_are_exact(machine: str, items: int) -> None:
    async def main(s: SplitC) -> Any:
        rng = np.random.default_rng(s.MYPROC)
        own, there = s.allocate(items + 16, np.uint8), s.allocate(items + 16, np.uint8)
        s.local(own, items + 16)[:] = rng.integers(0, 255, items + 16)
        s.local(there, items + 16)[:] = 255
        await s.barrier()
        nearest = (s.MYPROC + 1) % s.PROCS
        await s.bulk_get(there + 8, s.pointer(nearest, own.addr + 8, np.uint8), items)
        await s.sync()
        got = s.local(there, items + 16).copy()
        await s.barrier()
        s.local(there, items + 16)[:] = 255
        await s.barrier()
        await s.bulk_put(s.pointer(nearest, there.addr + 8, np.uint8), own + 8, items)
        await s.sync()
        await s.barrier()
        put = s.local(there, items + 16).copy()
        await s.barrier()
        s.local(there, items + 16)[:] = 255
        await s.barrier()
        await s.bulk_store(s.pointer(nearest, there.addr + 8, np.uint8), own + 8, items)
        await s.all_store_sync()
        return (
            s.local(own, items + 16)[8 : 8 + items].tolist(),
            got.tolist(),
            put.tolist(),
            s.local(there, items + 16).tolist(),
        )

    for procs in (1, 3):
        found = results(main, procs, machine)
        for me, (_, got, put, stored) in enumerate(found):
            edge = [255] * 8
            assert got == [*edge, *found[(me + 1) % procs][0], *edge]
            assert put == [*edge, *found[me - 1][0], *edge] == stored


def test_where_messages_lose_their_order_a_transfer_without_a_counter_still_ends() -> None:
    """More transfers at once than there are counters for."""

    async def main(s: SplitC) -> Any:
        own = s.allocate(300, np.uint8)
        there = s.allocate(300 * s.PROCS, np.uint8)
        s.local(own, 300)[:] = s.MYPROC
        await s.barrier()
        await s.bulk_put(s.pointer(0, there.addr + 300 * s.MYPROC, np.uint8), own, 300)
        await s.sync()
        await s.barrier()
        return s.local(there, 300 * s.PROCS).tolist(), len(s.state.bulk), all(not one for one in s.state.bulk)

    procs = BULK_COUNTERS + 8
    found, counters, free = results(main, procs, "example,in_order=false,delay=5000")[0]
    assert found == [p for p in range(procs) for _ in range(300)]
    assert counters == BULK_COUNTERS
    assert free


def test_wrong_transfers_are_errors() -> None:
    def attempt(body: Any, text: str) -> None:
        async def main(s: SplitC) -> None:
            await body(s, s.allocate(8, np.int32))

        with pytest.raises(PointsmanError, match=text):
            run(main, 2)

    attempt(lambda s, own: s.bulk_get(own, own.typed("i8"), 1), "objects of one size, not int32 and int64")
    attempt(lambda s, own: s.bulk_put(s.pointer(2, own.addr, "i4"), own, 1), "puts to processor 2, of 2")
    attempt(lambda s, own: s.bulk_get(s.pointer(1 - s.MYPROC, own.addr, "i4"), own, 1), "the near end")
    attempt(lambda s, own: s.bulk_get(np.zeros(8), own, 1), r"are pointers, and array\(.*\) is none")
    attempt(lambda s, own: s.bulk_put(own, [1, 2], 1), r"are pointers, and \[1, 2\] is none")
    attempt(lambda s, own: s.get(own, np.zeros(8)), r"gets a value into array\(.*\), which is no pointer")
    attempt(lambda s, own: s.bulk_get(own, own, 1 << 20), "outside")
    attempt(lambda s, own: s.bulk_get(own, own, -1), "whole numbers, 0 or more, not -1")
    attempt(lambda s, own: s.bulk_store(own, own, 1.5), r"whole numbers, 0 or more, not 1\.5")
