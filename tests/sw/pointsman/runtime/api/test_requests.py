"""What a processor can ask for, and what it cannot."""

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Category, Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil

CPU = Category.CPU
WORDS = np.arange(4, dtype=np.uint32)


def test_categories_are_those_of_metcalf_in_his_order_and_one_for_online_messages():
    assert [category.name for category in Category] == ["CPU", "WRITE", "READ", "PSYNC", "ROUTER", "REPROG", "ONLINE"]
    assert list(Category) == list(range(7))


@pytest.mark.parametrize(
    "request_",
    [Wait(3, CPU), WaitUntil(7, CPU), WaitEmpty(2, CPU), Transfer(Lane(True, 0, 1))],
    ids=lambda request: type(request).__name__,
)
def test_awaiting_a_request_is_yielding_it(request_: Request):
    async def coroutine() -> str:
        assert await request_ is None
        return "went on"

    def generator():
        assert (yield request_) is None
        return "went on"

    for program in (coroutine(), generator()):
        assert program.send(None) is request_
        with pytest.raises(StopIteration) as stop:
            program.send(None)
        assert stop.value.value == "went on"


def test_an_error_thrown_into_an_awaiting_coroutine_arrives_there():
    async def coroutine() -> str:
        try:
            await Wait(1, CPU)
        except PointsmanError as error:
            return error.message
        return "nothing"

    program = coroutine()
    program.send(None)
    with pytest.raises(StopIteration) as stop:
        program.throw(PointsmanError("no such register"))
    assert stop.value.value == "no such register"


def test_numbers_of_numpy_are_taken_as_plain_ones():
    request = Wait(np.int32(5), np.int64(3))
    assert type(request.cycles) is int
    assert request.category is Category.PSYNC
    assert Lane(True, np.uint8(3), np.int64(2)).registers == (3,)


def test_a_lane_keeps_the_very_array():
    assert Lane(False, (1, 2), 4, WORDS).data is WORDS


def test_lanes_may_share_an_array_and_wait_for_each_other():
    data = np.zeros(8, dtype=np.uint64)
    transfer = Transfer([Lane(False, 3, 8, data), Lane(True, 2, 8, data, after=0, window=1, pair=0)])
    assert [lane.data is data for lane in transfer.lanes] == [True, True]


READ_ONLY = np.arange(4, dtype=np.uint32)
READ_ONLY.setflags(write=False)
UNALIGNED = np.frombuffer(bytes(17), dtype=np.uint32, count=4, offset=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wait(-1, CPU), f"a wait must have 0 to {1 << 60} cycles, not -1"),
        (lambda: Wait(1.0, CPU), "a wait must have a whole number of cycles, not 1.0"),
        (lambda: Wait(True, CPU), "a wait must have a whole number of cycles, not True"),
        (lambda: Wait(1 << 61, CPU), f"a wait must have 0 to {1 << 60} cycles, not {1 << 61}"),
        (
            lambda: Wait(1, 7),
            "a category must be one of CPU, WRITE, READ, PSYNC, ROUTER, REPROG, ONLINE, not 7",
        ),
        (
            lambda: WaitEmpty(0, "CPU"),
            "a category must be one of CPU, WRITE, READ, PSYNC, ROUTER, REPROG, ONLINE, not 'CPU'",
        ),
        (lambda: WaitUntil(None, CPU), "the time to wait for must have a whole number of cycles, not None"),
        (lambda: WaitEmpty(-1, CPU), "an interface register must be a number from 0 on, not -1"),
        (lambda: Lane(True, (0, "a"), 1), "an interface register must be a number from 0 on, not 'a'"),
        (lambda: Lane(True, (), 1), "a lane must have at least one register"),
        (lambda: Lane(True, 0, -2), f"a lane must have 0 to {1 << 60} words, not -2"),
        (lambda: Lane(True, 0, 5, WORDS), "data of a lane must hold its 5 words, not 4"),
        (lambda: Lane(True, 0, 1, [1]), "data of a lane must be an array of uint32 or uint64, not list"),
        (
            lambda: Lane(True, 0, 1, np.zeros(1, np.int32)),
            "data of a lane must be an array of uint32 or uint64, not an array of int32",
        ),
        (
            lambda: Lane(True, 0, 1, np.zeros(1, ">u4")),
            "data of a lane must be an array of uint32 or uint64, not an array of >u4",
        ),
        (
            lambda: Lane(True, 0, 1, WORDS[::2]),
            "data of a lane must be a one-dimensional contiguous aligned array",
        ),
        (
            lambda: Lane(True, 0, 1, WORDS.reshape(2, 2)),
            "data of a lane must be a one-dimensional contiguous aligned array",
        ),
        (
            lambda: Lane(True, 0, 1, UNALIGNED),
            "data of a lane must be a one-dimensional contiguous aligned array",
        ),
        (lambda: Lane(False, 0, 1, READ_ONLY), "data of a read lane must be writeable"),
        (lambda: Lane(True, 0, 1, after_all=True), "a lane with after_all must name the lane that it comes after"),
        (lambda: Lane(True, 0, 1, window=1), "a lane must have both window and pair or neither"),
        (lambda: Lane(True, 0, 1, pair=1), "a lane must have both window and pair or neither"),
        (lambda: Lane(True, 0, 1, pair=1, window=0), "a window must be at least 1 word"),
        (lambda: Transfer([Wait(1, CPU)]), "a transfer must be made of lanes, not Wait"),
        (
            lambda: Transfer([Lane(True, 0, 1, after=1)]),
            "after of lane 0 must be the number of another of the 1 lanes, not 1",
        ),
        (
            lambda: Transfer([Lane(True, 0, 1, after=0)]),
            "after of lane 0 must be the number of another of the 1 lanes, not 0",
        ),
        (
            lambda: Transfer([Lane(True, 0, 1), Lane(True, 0, 1, pair=-1, window=1)]),
            "pair of lane 1 must be the number of another of the 2 lanes, not -1",
        ),
        (
            lambda: Transfer([Lane(True, 0, 1, after=1), Lane(True, 1, 1, after=2), Lane(True, 2, 1, after=0)]),
            "lane 2 must not come after itself",
        ),
        (
            lambda: Transfer([Lane(True, 0, 1), Lane(True, 1, 2, after=0)]),
            "lane 1 has 2 words and cannot come after lane 0 with only 1",
        ),
        (
            lambda: Transfer([Lane(True, 0, 1), Lane(True, 1, 4, pair=0, window=2)]),
            "lane 1 has 4 words and cannot stay within 2 of lane 0 with only 1",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_rule_and_the_value(make, message):
    with pytest.raises(PointsmanError) as caught:
        make()
    assert caught.value.message == message


def test_a_chain_of_lanes_into_an_older_circle_is_still_refused():
    lanes = [Lane(True, 0, 1, after=1), Lane(True, 1, 1, after=0), Lane(True, 2, 1, after=0)]
    with pytest.raises(PointsmanError, match="lane 1 must not come after itself"):
        Transfer(lanes)


def test_requests_say_what_they_are():
    assert repr(Wait(3, CPU)) == "Wait(3, CPU)"
    assert repr(WaitUntil(9, Category.PSYNC)) == "WaitUntil(9, PSYNC)"
    assert repr(WaitEmpty(1, Category.REPROG)) == "WaitEmpty(1, REPROG)"
    lanes = [Lane(False, 3, 2), Lane(True, (4, 5), 2, after=0, after_all=True, pair=0, window=7)]
    assert repr(Transfer(lanes, Category.ROUTER)) == (
        "Transfer([Lane(read 2 words, registers (3,)), Lane(write 2 words, registers (4, 5), "
        "after all of lane 0, at most 7 ahead of lane 0)], ROUTER)"
    )
