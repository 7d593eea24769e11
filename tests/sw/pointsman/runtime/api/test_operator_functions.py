"""What the functions of an operator check before words reach a port, and what they hand on."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.api.claims import Claims
from pointsman.runtime.api.left_out import LatestLoads
from pointsman.runtime.api.made_calls import MadeCalls
from pointsman.runtime.api.operator_functions import Cop, OperatorFunctions
from pointsman.runtime.api.substrate import HERE, UNKNOWN, Given, Permission, Signature


class _Caller:
    def __init__(self) -> None:
        self.number, self.activity = 3, ""
        self.loaded: dict[str, tuple[int, ...]] = {}
        self.loads = LatestLoads()
        self.moved: Counter[tuple[str, str]] = Counter()
        self.claims = Claims()


class _Port:
    def __init__(self, part: Permission, stale: str | None = None) -> None:
        self.part, self.reason = part, stale
        self.given: Given | None = None
        self.written: list[list[int]] = []

    async def load(self, given: Given) -> Permission:
        self.given = given
        return self.part

    def stale(self) -> str | None:
        return self.reason

    async def write(self, words: np.ndarray) -> None:
        self.written.append(words.tolist())

    async def read(self, into: np.ndarray) -> bool:
        into[:] = 7
        return True

    async def func(self, words: Any, into: Any, combine: Any) -> bool:
        into[:] = words + 1
        return True


def _done(coroutine: Any) -> Any:
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


def _functions(signature: Signature, port: _Port | None) -> OperatorFunctions:
    return OperatorFunctions(_Caller(), signature, port, {}, MadeCalls(3))


STREAM = Signature("s", "stream", "int16*", 2, source="a.cop:1:2")
CHOSEN = Signature("b", "broadcast", "int32*", 1, ("source",), ((0,), (2,)))


def test_a_message_goes_out_as_words_and_comes_back_as_items() -> None:
    port = _Port(Permission("write"))
    functions = _functions(STREAM, port)
    _done(functions.load())
    _done(functions.write([1, 2, 3, 4]))
    assert port.written == [[1 | 2 << 16, 3 | 4 << 16]]
    functions = _functions(STREAM, _Port(Permission("read")))
    _done(functions.load())
    assert _done(functions.read()).tolist() == [7, 0, 7, 0]


def test_a_node_that_sends_to_itself_uses_no_port() -> None:
    port = _Port(Permission("both", local=True))
    functions = _functions(STREAM, port)
    _done(functions.load())
    _done(functions.write([1, 2, 3, 4]))
    assert _done(functions.read()).tolist() == [1, 2, 3, 4]
    assert port.written == []
    with pytest.raises(PointsmanError, match="reads what it has not written to itself"):
        _done(functions.read())


def test_a_void_node_may_send_anything_and_gets_nothing() -> None:
    functions = _functions(Signature("c", "allreduce", "int32*", 2), _Port(Permission("func", void=True)))
    _done(functions.load())
    assert functions.node.activity == "after c_load"


@pytest.mark.parametrize(
    ("port", "loaded", "message"),
    [
        (None, False, "a.cop:1:2: s_write: node 3 is not in its subset"),
        (_Port(Permission("write")), False, "a.cop:1:2: s_write: node 3 has not called s_load"),
        (_Port(Permission("read")), True, "a.cop:1:2: s_write: node 3 may only read"),
        (_Port(Permission("none")), True, "a.cop:1:2: s_write: node 3 may only load it"),
        (_Port(Permission("write"), "has gone on"), True, "a.cop:1:2: s_write: node 3 has gone on"),
    ],
)
def test_calls_out_of_place_are_refused(port: _Port | None, loaded: bool, message: str) -> None:
    functions = _functions(STREAM, port)
    if loaded:
        _done(functions.load())
    with pytest.raises(PointsmanError) as caught:
        _done(functions.write([1, 2, 3, 4]))
    assert caught.value.message == message


@pytest.mark.parametrize("message", [[1, 2], list(range(6)), "text", None])
def test_messages_have_the_operator_s_length_and_type(message: Any) -> None:
    functions = _functions(STREAM, _Port(Permission("write")))
    _done(functions.load())
    with pytest.raises(PointsmanError, match=r"s_write: node 3 sends"):
        _done(functions.write(message))


def test_values_are_handed_on_with_their_place_in_the_list() -> None:
    port = _Port(Permission("read"))
    _done(_functions(CHOSEN, port).load(np.int64(2)))
    assert port.given == Given((2,), 1)
    for wrong in (1, "x", 2.5):
        with pytest.raises(PointsmanError, match=r"gives source .*; legal are 0, 2$"):
            _done(_functions(CHOSEN, port).load(wrong))
    with pytest.raises(PointsmanError, match="must give the source, not 0 values"):
        _done(_functions(CHOSEN, port).load())


def test_a_node_that_gives_nothing_is_told_what_to_give_for_what_it_does_not_know() -> None:
    port = _Port(Permission("read"))
    with pytest.raises(PointsmanError, match=r"must give no values, not 1 value$"):
        _done(_functions(STREAM, port).load(3))
    partial = Signature("b", "broadcast", "int32*", 1, ("source",), ranges=((0, 1, 2),), partial=("source",))
    for signature, hint in ((CHOSEN, None), (partial, "a node that does not know the source gives None")):
        with pytest.raises(PointsmanError, match="must give the source, not 0 values") as refused:
            _done(_functions(signature, port).load())
        assert refused.value.hint == hint


@pytest.mark.parametrize("value", [-1, np.int32(-2), 3])
def test_numbers_that_are_no_node_do_not_stand_for_this_or_an_unknown_one(value: Any) -> None:
    partial = Signature("b", "broadcast", "int32*", 1, ("source",), ranges=((0, 1, 2),), partial=("source",))
    with pytest.raises(PointsmanError, match=rf"node 3 gives source {value}; legal are 0, 1, 2\n") as refused:
        _done(_functions(partial, _Port(Permission("read"))).load(value))
    assert refused.value.hint == "a node that does not know it gives None"


def test_many_legal_values_that_are_a_range_are_told_as_one() -> None:
    for values, said in (
        ([*range(20), *range(-20, 0)], r"legal are -20\.\.19$"),
        (list(range(0, 40, 2)), r"legal are 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, …$"),
    ):
        signature = Signature("b", "broadcast", "int32*", 1, ("source",), tuple((value,) for value in values))
        with pytest.raises(PointsmanError, match=f"gives source 41; {said}"):
            _done(_functions(signature, _Port(Permission("read"))).load(41))


def test_a_node_may_give_what_it_knows_of_a_value_that_others_know_better() -> None:
    signature = Signature("b", "broadcast", "int32*", 1, ("source",), ranges=((0, 1, 2),), partial=("source",))
    for given, number in ((True, HERE), (False, UNKNOWN), (None, UNKNOWN), (1, 1)):
        port = _Port(Permission("read"))
        _done(_functions(signature, port).load(given))
        assert port.given == Given((number,))


def test_a_permutation_has_every_node_once() -> None:
    signature = Signature("p", "permute", "int32*", 1, ("permutation",))
    port = _Port(Permission("func"))
    _done(_functions(signature, port).load([1, 0]))
    assert port.given == Given((), 0, (1, 0))
    with pytest.raises(PointsmanError, match="not every node stands once"):
        _done(_functions(signature, port).load([1, 1]))


def test_what_functions_a_program_has_can_be_asked() -> None:
    class Ports:
        name, loops = "test", ("l",)

        def ports(self) -> list[tuple[Signature, Any]]:
            return [(Signature(label, "allreduce", "int32*", 1, function="add"), None) for label in ("a", "_")]

    cop: Any = Cop(_Caller(), Ports(), {})  # type: ignore[arg-type]
    assert hasattr(cop, "a_func")
    assert hasattr(cop, "__func"), "a label may begin with _"
    assert not hasattr(cop, "__copy__")
    assert hasattr(cop, "l_load")
    assert not hasattr(cop, "b_func")
    with pytest.raises(
        PointsmanError, match=r"has no function b_read\n.*there are: __func, __load, a_func, a_load, l_load$"
    ):
        cop.b_read()


def test_the_name_of_a_function_is_not_the_function() -> None:
    signature = Signature("a", "allreduce", "int32*", 1, runtime=("function",))
    functions = _functions(signature, _Port(Permission("both")))
    with pytest.raises(PointsmanError, match=r"not 'add'\n.*numpy.add"):
        _done(functions.load("add"))
