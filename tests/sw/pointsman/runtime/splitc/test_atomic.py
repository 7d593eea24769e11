"""Atomic calls: whatever comes between, nothing is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.splitc import SplitC

from .programs import results, run


def test_every_processor_gets_another_number_and_a_queue_keeps_everything_once() -> None:
    async def main(s: SplitC) -> Any:
        cell = s.allocate(1, np.int64)
        queue = s.queue(4 * s.PROCS - 2, np.int32)
        await s.barrier()
        there = s.pointer(0, cell.addr, np.int64)
        numbers = [int(await s.fetch_add(there, 1)) for _ in range(4)]
        places = [await s.enqueue(s.pointer(0, queue.addr, np.int32), 100 * s.MYPROC + k) for k in range(4)]
        await s.barrier()
        return numbers, places, s.queued(queue).tolist()

    found = results(main, 5, "cm5,delay=500")
    assert sorted(n for numbers, _, _ in found for n in numbers) == list(range(20))
    places = [(place, 100 * p + k) for p, (_, places, _) in enumerate(found) for k, place in enumerate(places)]
    assert [value for place, value in sorted((a, b) for a, b in places if a is not None)] == found[0][2]
    assert sum(place is None for place, _ in places) == 2


def test_functions_of_the_application_are_called_where_the_object_is() -> None:
    async def main(s: SplitC) -> Any:
        cell = s.allocate(1, np.uint8)
        s.local(cell)[0] = 2
        await s.barrier()
        there = s.pointer(s.PROCS - 1, cell.addr, np.uint8)
        answer = int(await s.atomic("times", there, 3))
        await s.barrier()
        return answer, int(s.local(cell)[0]), int(await s.atomic("swap", cell, 9)), int(s.local(cell)[0])

    found = results(main, 3, atomics={"times": lambda old, operand: (old * operand, old)})
    assert sorted(answer for answer, *_ in found) == [2, 6, 18]
    assert [rest for _, *rest in found] == [[2, 2, 9], [2, 2, 9], [54, 54, 9]]


def test_wrong_calls_are_errors() -> None:
    async def unknown(s: SplitC) -> None:
        await s.atomic("divide", s.allocate(1, np.int32), 1)

    async def structured(s: SplitC) -> None:
        await s.fetch_add(s.allocate(1, "i4,f4"), 1)

    async def none(s: SplitC) -> None:
        s.queue(0, np.int32)

    for main, text in (
        (unknown, "no atomic call 'divide'"),
        (structured, "works on numbers"),
        (none, "room for 1 object"),
    ):
        with pytest.raises(PointsmanError, match=text):
            run(main, 1)
