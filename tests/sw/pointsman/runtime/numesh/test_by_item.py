"""Messages that are combined and passed on item by item: the same result as in one piece, whatever order words come in."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pointsman.artifacts.images.images import Combination, LaneImage
from pointsman.runtime.api.combine import Combiner
from pointsman.runtime.api.requests import Attend, Transfer
from pointsman.runtime.numesh.by_item import ByItem


@pytest.mark.parametrize("item", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_sum_of_what_comes_and_of_the_own_message_goes_on(item: int, seed: int) -> None:
    chance = random.Random(seed)
    m = 8
    comes = np.array([chance.randrange(1000) for _ in range(m)], np.uint32)
    messages = {"out": np.arange(m, dtype=np.uint32), "t0": np.zeros(m, np.uint32), "in": np.zeros(m, np.uint32)}
    lanes = [LaneImage(False, (0, 1), None, "t0"), LaneImage(True, (2,), None, "in")]
    sent: list[int] = []
    read = 0
    most_ahead = 0

    def add(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        assert len(a) % item == 0, "items are combined whole"
        np.add(a, b, out=out)

    for request in ByItem(lanes, [Combination(1, "t0", "out", "in")], m, add, item).requests(messages):
        assert isinstance(request, Attend)
        lane = chance.randrange(len(request.lanes))
        count = chance.randint(1, request.lanes[lane].words)
        data = request.lanes[lane].data
        assert data is not None
        if request.lanes[lane].write:
            sent += data[:count].tolist()
        else:
            assert request.lanes[lane].registers[0] == read % 2, "registers are used in turn"
            data[:count] = comes[read : read + count]
            read += count
        request.moved[lane] = count
        most_ahead = max(most_ahead, read - len(sent))
    assert sent == (comes + np.arange(m, dtype=np.uint32)).tolist()


def test_a_message_that_is_copied_needs_no_function() -> None:
    messages = {"out": np.array([3, 4], np.uint32), "t0": np.zeros(2, np.uint32)}
    steps = ByItem([LaneImage(True, (0,), None, "t0")], [Combination(0, "out", "", "t0")], 2, None, 1).requests(
        messages
    )
    request = next(steps)
    assert request.lanes[0].data.tolist() == [3, 4]
    request.moved[0] = 2
    assert list(steps) == []


@pytest.mark.parametrize("kind", ["int32", "float64"])
def test_a_function_that_engines_have_goes_along_in_one_request(kind: str) -> None:
    m, dtype = 8, np.dtype(kind)
    item = dtype.itemsize // 4
    own, comes = np.arange(m // item).astype(dtype), np.arange(5, 5 + m // item).astype(dtype)
    messages = {"out": own.view(np.uint32), "t0": np.zeros(m, np.uint32), "in": np.zeros(m, np.uint32)}
    lanes = [LaneImage(False, (0, 1), None, "t0"), LaneImage(True, (2,), None, "in")]
    adding = Combiner(np.add, dtype, True)
    (request,) = ByItem(lanes, [Combination(1, "t0", "out", "in")], m, adding, item).requests(messages)
    assert isinstance(request, Transfer)
    write, read = request.lanes
    assert (write.write, write.after, write.item) == (True, 1, item)
    read.data[:] = comes.view(np.uint32)
    for fold in read.folds:
        fold.apply(0, m)
    assert write.data.view(dtype).tolist() == (own + comes).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_halves_of_a_message_go_their_ways_at_the_same_time(seed: int) -> None:
    chance = random.Random(seed)
    m, items = 10, np.arange(10, dtype=np.uint32)
    comes = np.array([chance.randrange(1000) for _ in range(m)], np.uint32)
    messages = {"out": items.copy(), "t0": np.zeros(m, np.uint32), "in": np.zeros(m, np.uint32)}
    # The first half, of four words, is combined with what comes and is passed on; the second goes out and comes back.
    lanes = [
        LaneImage(False, (0,), None, "t0", half=0),
        LaneImage(True, (1,), None, "in", after=0, half=0),
        LaneImage(True, (2,), None, "out", half=1),
        LaneImage(False, (3,), None, "in", after=2, half=1),
    ]
    sent: dict[int, list[int]] = {1: [], 2: []}
    read = {0: 0, 3: 4}

    def add(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        np.add(a, b, out=out)

    for request in ByItem(lanes, [Combination(1, "t0", "out", "in")], m, add, 1).requests(messages):
        lane = chance.randrange(len(request.lanes))
        (register,) = request.lanes[lane].registers
        count = chance.randint(1, request.lanes[lane].words)
        if request.lanes[lane].write:
            sent[register] += request.lanes[lane].data[:count].tolist()
        else:
            request.lanes[lane].data[:count] = comes[read[register] : read[register] + count]
            read[register] += count
        request.moved[lane] = count
    total = comes + items
    assert sent == {1: total[:4].tolist(), 2: items[4:].tolist()}
    assert messages["in"].tolist() == [*total[:4].tolist(), *comes[4:].tolist()]
    adding = Combiner(np.add, np.dtype("int32"), True)
    (request,) = ByItem(lanes, [Combination(1, "t0", "out", "in")], m, adding, 1).requests(messages)
    assert [(lane.words, lane.after) for lane in request.lanes] == [(6, 1), (6, None), (4, 3), (4, None)]
    assert [lane.data[0] for lane in request.lanes if lane.registers == (2,)] == [4]
