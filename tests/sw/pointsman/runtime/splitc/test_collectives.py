"""Collectives against NumPy, with functions whose order matters; every tree has every processor once."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.splitc import SplitC
from pointsman.runtime.splitc.collectives import SLOT_BYTES, Tree

from .programs import results, run


@pytest.mark.parametrize("procs", [1, 2, 3, 7, 8, 64, 100])
def test_subtrees_are_ranges_and_no_processor_has_more_than_two_children(procs: int) -> None:
    trees = [Tree(number, procs) for number in range(procs)]

    def under(number: int) -> list[int]:
        return [number, *(one for child in trees[number].children for one in under(child))]

    assert under(0) == list(range(procs))
    assert all(len(tree.children) <= 2 for tree in trees)
    for number, tree in enumerate(trees):
        for side, child in enumerate(tree.children):
            assert (trees[child].parent, trees[child].side) == (number, side)


def first_unlike(one: Any, other: Any) -> Any:
    """2x + y in 32 bits: associative only as a pair; here (a, b) are maps x -> a x + b, composed."""
    a, b = one[0::2], one[1::2]
    c, d = other[0::2], other[1::2]
    made = np.empty_like(one)
    made[0::2], made[1::2] = a * c, b * c + d
    return made


@pytest.mark.parametrize("machine", ["example", "cm5,delay=200,capacity=1"])
@pytest.mark.parametrize("procs", [1, 2, 5, 13])
@pytest.mark.parametrize("items", [2, SLOT_BYTES // 8 + 2])
def test_values_are_combined_in_the_order_of_the_processors(machine: str, procs: int, items: int) -> None:
    given = [np.random.default_rng(p).integers(0, 9, items) for p in range(procs)]

    async def main(s: SplitC) -> Any:
        own = given[s.MYPROC]
        every = await s.reduce(own, first_unlike)
        upto = await s.scan(own, first_unlike)
        told = [await s.broadcast(own, root) for root in {0, s.PROCS - 1, s.PROCS // 2}]
        await s.barrier()
        return every, upto, told

    for me, (every, upto, told) in enumerate(results(main, procs, machine)):
        assert (every == reduce(first_unlike, given)).all()
        assert (upto == reduce(first_unlike, given[: me + 1])).all()
        assert all((a == given[root]).all() for a, root in zip(told, {0, procs - 1, procs // 2}, strict=True))


def test_nobody_leaves_a_barrier_before_all_have_come() -> None:
    async def main(s: SplitC) -> tuple[int, int]:
        await s.compute(1000 * ((s.MYPROC * 7) % 5))
        came = s.time
        await s.barrier()
        return came, s.time

    found = results(main, 9)
    assert max(came for came, _ in found) < min(left for _, left in found)


def test_what_no_collective_can_do_is_an_error() -> None:
    async def wide(s: SplitC) -> None:
        await s.reduce(np.zeros((2, 2)))

    async def far(s: SplitC) -> None:
        await s.broadcast(1, root=2)

    async def shrinks(s: SplitC) -> None:
        await s.reduce(np.zeros(3), lambda one, other: one[:1])

    for main, text in ((wide, "one-dimensional"), (far, "0 to 1, not 2"), (shrinks, r"makes \(1,\) of \(3,\)")):
        with pytest.raises(PointsmanError, match=text):
            run(main, 2)
