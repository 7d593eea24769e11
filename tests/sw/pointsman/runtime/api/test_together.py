"""Calls that a node carries out at the same time."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.node import Node
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait
from pointsman.runtime.api.together import joined


class _Clock:
    time = 0


class _Substrate:
    name, loops, moves_together = "p", (), True

    def ports(self) -> list[Any]:
        return []


class _InTurn(_Substrate):
    moves_together = False


def _node(substrate: type[_Substrate] = _Substrate) -> Node:
    return Node(substrate(), mesh(2), 1, _Clock())  # type: ignore[arg-type]


async def _call(result: int, *requests: Any) -> int:
    for request in requests:
        await request
    return result


def _move(write: bool, register: int, words: int = 3) -> Transfer:
    return Transfer([Lane(write, register, words, np.zeros(words, np.uint32))])


def _played(coroutine: Coroutine[Any, Any, Any]) -> tuple[list[Any], Any]:
    requests = []
    try:
        while True:
            requests.append(coroutine.send(None))
    except StopIteration as over:
        return requests, over.value


def test_words_of_all_calls_move_in_one_request() -> None:
    node = _node()
    requests, results = _played(node.together(_call(7, _move(True, 2)), _call(8, _move(False, 3)), _call(9)))
    assert results == [7, 8, 9]
    [request] = requests
    assert [(lane.write, lane.registers) for lane in request.lanes] == [(True, (2,)), (False, (3,))]


def test_steps_follow_each_other_and_other_requests_pass() -> None:
    node, wait = _node(), Wait(3, Category.CPU)
    several = _call(1, _move(True, 2), wait, _move(False, 2))
    requests, results = _played(node.together(several, _call(2, _move(False, 4))))
    assert results == [1, 2]
    assert [len(request.lanes) if request is not wait else "wait" for request in requests] == [2, "wait", 1]


def test_lanes_keep_their_order_within_a_call() -> None:
    pair = Transfer([Lane(False, 4, 3), Lane(True, 5, 3, after=0, after_all=True), Lane(True, 6, 3, pair=0, window=2)])
    lanes = joined([_move(True, 2), pair]).lanes
    assert [(lane.after, lane.after_all, lane.pair, lane.window) for lane in lanes] == [
        (None, False, None, None),
        (None, False, None, None),
        (1, True, None, None),
        (None, False, 1, 2),
    ]
    assert joined([Transfer([Lane(False, 4, 4).in_items(2)])]).lanes[0].item == 2


def test_other_targets_carry_calls_out_in_turn() -> None:
    node = _node(_InTurn)
    requests, results = _played(node.together(_call(7, _move(True, 2)), _call(8, _move(False, 2))))
    assert (len(requests), results) == (2, [7, 8])


def test_nothing_at_all_takes_no_time() -> None:
    assert _played(_node().together()) == ([], [])


def test_what_is_no_call_is_refused() -> None:
    call = _call(1)
    with pytest.raises(PointsmanError) as told:
        _played(_node().together(call, 7))  # type: ignore[arg-type]
    assert told.value.message == "node 1: together takes calls of operators, not 7"
    assert told.value.hint == "as in together(node.cop.b_write(words), node.cop.c_read()), without await"
    with pytest.raises(RuntimeError, match="cannot reuse"):
        call.send(None)


def test_calls_that_use_a_register_in_turn_are_refused() -> None:
    with pytest.raises(PointsmanError, match="use the same interface register, one operator after the other"):
        _played(_node().together(_call(7, _move(True, 2)), _call(8, _move(False, 2))))


@pytest.mark.parametrize("substrate", [_Substrate, _InTurn])
def test_an_error_ends_all_calls(substrate: type[_Substrate]) -> None:
    async def fails() -> int:
        raise PointsmanError("no")

    later = _call(8, _move(False, 3))
    with pytest.raises(PointsmanError, match="no"):
        _played(_node(substrate).together(fails(), later))
    with pytest.raises(RuntimeError, match="cannot reuse"):
        later.send(None)


def test_what_is_thrown_into_the_node_reaches_the_calls() -> None:
    async def patient() -> str:
        try:
            await Wait(5, Category.CPU)
        except KeyboardInterrupt:
            return "stopped"
        return "done"

    coroutine = _node().together(patient())
    coroutine.send(None)
    with pytest.raises(StopIteration) as over:
        coroutine.throw(KeyboardInterrupt())
    assert over.value.value == ["stopped"]


def test_the_activity_names_all_calls_that_move_words() -> None:
    node = _node()
    told: list[str] = []
    node.watch = told.append

    async def named(name: str, *requests: Any) -> None:
        node.activity = name
        await _call(1, *requests)
        node.activity = f"after {name}"

    moving = node.together(named("b_write", _move(True, 2)), named("c_read"), named("d_read", _move(False, 3)))
    moving.send(None)
    assert node.activity == "b_write, d_read"
    with pytest.raises(StopIteration):
        moving.send(None)
    assert node.activity == "after b_write, d_read"
    assert told == ["b_write", "c_read", "after c_read", "d_read", "b_write, d_read", "after b_write, d_read"]


def test_a_run_that_is_given_up_finds_the_calls_named_that_are_not_over() -> None:
    node = _node()

    async def named(name: str, *requests: Any) -> None:
        node.activity = name
        await _call(1, *requests)

    moving = node.together(named("b_write", _move(True, 2)), named("c_func", _move(True, 1), _move(False, 1)))
    moving.send(None)
    moving.send(None)  # the words of both are moved, and c_func reads the answer
    moving.close()
    assert node.activity == "c_func"
