"""Which access a transfer makes in a cycle: that of the plain processors, on random lanes and registers."""

from __future__ import annotations

import random

import numpy as np

from cosim.engines.model import requests as rows
from cosim.engines.model.accesses import choose, deliver, notice, settle
from cosim.engines.model.run import PackedTransfer
from cosim.engines.processors import may_move
from pointsman.runtime.api.requests import Lane, Transfer


def tables(transfer: Transfer, moved: list[int]) -> rows.Requests:
    packed = PackedTransfer.of(transfer)
    requests = rows.no_requests(1)
    requests.lanes[0, : len(moved)] = packed.lanes
    requests.lanes[0, : len(moved), rows.MOVED] = moved
    requests.lanes[0, : len(moved), rows.TURN] = [
        n % len(lane.registers) for n, lane in zip(moved, transfer.lanes, strict=True)
    ]
    requests.turns[0, : len(packed.turns)] = packed.turns
    requests.lane_count[0], requests.category[0] = len(moved), -1
    requests.open_words[0] = packed.words - sum(moved)
    requests.kind[0] = rows.TRANSFER
    return requests


def test_the_first_lane_that_may_move_and_has_a_register_makes_the_access():
    chance, found = random.Random(2), set()
    for _ in range(200):
        lanes = [Lane(True, (0, 1), 4), Lane(False, (2, 3), 3, after=0), Lane(True, 1, 2, pair=1, window=1)]
        moved = [chance.randint(0, 4), chance.randint(0, 3), chance.randint(0, 1)]
        closed, waiting = (np.array([[chance.randint(0, 1) for _ in range(4)]], np.int8) for _ in range(2))
        expected = -1
        for number, lane in reversed(list(enumerate(lanes))):
            register = lane.registers[moved[number] % len(lane.registers)]
            ready = not closed[0, register] if lane.write else waiting[0, register]
            if moved[number] < lane.words and may_move(lanes, moved, number) and ready:
                expected = number
        requests = tables(Transfer(lanes), moved)
        _, lane = choose(requests, closed, waiting, 0)
        assert lane == expected
        assert requests.cycles[0].sum() == 1
        found.add(expected)
    assert found == {-1, 0, 1, 2}


def test_a_word_is_stored_when_all_have_had_their_turn_and_the_last_completes():
    into = np.zeros(2, np.uint32)
    requests = tables(Transfer(Lane(False, 2, 2, into)), [0])
    assert settle(requests, 0, 2, 0, 7, 0) == 1
    assert into.tolist() == [0, 0]
    deliver(requests, 1)
    assert (into.tolist(), requests.ready[0]) == ([7, 0], 0)
    deliver(requests, settle(requests, 0, 2, 0, 8, 0))
    assert (into.tolist(), requests.ready[0]) == ([7, 8], 1)


def test_registers_that_are_watched_call():
    flags = np.zeros((1, 4), np.int8)
    requests = rows.no_requests(1)
    requests.watch_count[0], requests.watch[0, 0] = 1, 2 * 3 + 1
    notice(requests, flags, flags, 0)
    assert not requests.ready[0]
    flags[0, 3] = 1
    notice(requests, 1 - flags, flags, 0)
    assert requests.ready[0]
