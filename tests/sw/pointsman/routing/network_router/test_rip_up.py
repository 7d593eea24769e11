"""Counting a chain in and out of what is used, and the slot that is kept for reprogramming."""

from __future__ import annotations

import numpy as np

from pointsman.routing.network_router.arrays import DELIVER, INJECT, LINK
from pointsman.routing.network_router.packing import PackingArrays, PackingAttempt, PackingProblem, PackingStream
from pointsman.routing.network_router.rip_up import contested, hold_slot, mark

OPS = np.array([[0, 0, 0, INJECT, LINK, -1], [2, 1, -1, LINK, DELIVER, 0]], np.int32)
"""From node 0 to node 1, both in pipeline 0."""
STARTS = np.array([1, 4], np.int64)


def attempt() -> PackingAttempt:
    problem = PackingProblem(2, 2, ((0, 1), (1, 0)), (0, 1), 30, 14, np.ones(2, np.bool_), (PackingStream(0, (1,)),))
    return PackingAttempt(PackingArrays(problem), 6, [0], [1])


def test_what_is_counted_in_is_gone_when_it_is_counted_out() -> None:
    one = attempt()
    before = [table.copy() for table in one.use]
    mark(OPS, STARTS, one.arrays.net, one.use, 5, 1)
    assert one.use.cells[0].tolist() == [0, 1, 0, 0, 1, 0]
    assert one.use.cells[2].tolist() == [0, 0, 1, 0, 0, 1]
    assert one.use.wires[0].tolist() == [0, 1, 0, 0, 1, 0]
    assert one.use.cell_cost[0].tolist() == [0, 5, 0, 0, 5, 0] * 2
    assert one.use.reads[0].tolist() == one.use.cells[0].tolist()
    assert one.use.writes[2].tolist() == one.use.cells[2].tolist()
    mark(OPS, STARTS, one.arrays.net, one.use, 5, -1)
    assert all((table == old).all() for table, old in zip(one.use, before, strict=True))


def test_two_chains_in_one_slot_are_contested() -> None:
    one = attempt()
    mark(OPS, STARTS, one.arrays.net, one.use, 0, 1)
    assert not contested(OPS, STARTS, one.arrays.net, one.use, 30)
    assert contested(OPS, STARTS, one.arrays.net, one.use, 0), "no VFSM is left"
    mark(OPS, STARTS[:1], one.arrays.net, one.use, 0, 1)
    assert contested(OPS, STARTS, one.arrays.net, one.use, 30)


def test_reprogramming_gets_a_slot_that_is_free_and_not_after_a_delivery() -> None:
    one = attempt()
    every = np.array([0, 2, 4], np.int64)
    mark(OPS, every, one.arrays.net, one.use, 0, 1)
    for place in (0, 2):
        hold_slot(place, one.use, 16)
    assert one.use.held[0] in (1, 3, 5)
    assert one.use.cells[0, one.use.held[0]] == 1
    # Node 1 delivers in slots 1, 3, 5, so its free slots all come after a delivery: the price decides, and the slot stays.
    first = int(one.use.held[2])
    hold_slot(2, one.use, 16)
    assert one.use.held[2] == first
    assert one.use.cells[2].sum() == 4
