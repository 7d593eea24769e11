"""Atomic calls: whatever comes between, nothing is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.active.handlers import HandlerWaitsError
from pointsman.runtime.splitc import AccessError, SplitC

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

    async def text(s: SplitC) -> None:
        await s.fetch_add(s.allocate(1, np.int32), "x")

    async def far(s: SplitC) -> None:
        await s.fetch_add(s.pointer(3, 8192, np.int32), 1)

    for main, said in (
        (unknown, "no atomic call 'divide'"),
        (structured, "works on numbers"),
        (none, "room for 1 object"),
        (text, "'x' is no int32"),
        (far, "processor 0 calls 'fetch_add' at processor 3, of 1"),
    ):
        with pytest.raises(PointsmanError, match=said):
            run(main, 1)


def test_whole_numbers_go_round_and_what_no_function_may_give_is_an_error() -> None:
    def main(name: str) -> Any:
        async def calls(s: SplitC) -> int:
            cell = s.allocate(1, np.int8)
            s.local(cell)[0] = 120
            await s.barrier()
            await s.atomic(name, s.pointer(1 - s.MYPROC, cell.addr, np.int8), 100)
            await s.barrier()
            return int(s.local(cell)[0])

        return calls

    async def waits(old: Any, operand: Any) -> Any:
        return old, operand

    assert results(main("fetch_add"), 2) == [-36, -36]
    for function, kind, said in (
        (lambda old, operand: old, PointsmanError, r"atomic call 'own' of processor \d at processor \d gives"),
        (lambda old, operand: ("x", old), PointsmanError, "atomic call 'own' .* gives"),
        (lambda old, operand: (5000, old), PointsmanError, "atomic call 'own' .* gives"),
        (waits, HandlerWaitsError, "atomic call 'own' is a coroutine"),
        (lambda old, operand: waits(old, operand), HandlerWaitsError, "'own' gives something to await"),
    ):
        with pytest.raises(kind, match=said):
            run(main("own"), 2, atomics={"own": function})


@pytest.mark.parametrize(
    ("kind", "said"),
    [(np.float64, "where a queue of objects of 1 bytes begins"), (np.int8, "where no queue begins")],
)
def test_only_a_queue_is_appended_to_and_by_objects_of_its_size(kind: Any, said: str) -> None:
    async def main(s: SplitC) -> None:
        queue = s.queue(4, np.int8)
        if kind is np.int8:
            s.free(queue)
        await s.barrier()
        if s.MYPROC == 0:
            await s.enqueue(s.pointer(1, queue.addr, kind), 1)

    with pytest.raises(
        AccessError, match=f"processor 0 appends . bytes to a queue of processor 1 at address 0x1000, {said}"
    ):
        run(main, 2)
