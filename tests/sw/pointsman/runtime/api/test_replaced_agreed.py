"""A broadcast whose source only the source knows: the nodes agree, then one of them sends."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.replaced_agreed import ReplacedAgreed
from pointsman.runtime.api.substrate import HERE, UNKNOWN, Combine, Given, Permission, Signature


class _Agreement:
    """The others say ``word``."""

    def __init__(self, word: int) -> None:
        self.word = word

    async def load(self, given: Given) -> Permission:
        return Permission("func")

    async def func(self, words: np.ndarray, into: np.ndarray, combine: Combine) -> bool:
        combine(words, np.array([self.word], np.uint32), into)
        return True


class _Broadcast:
    given = Given()

    async def load(self, given: Given) -> Permission:
        self.given = given
        return Permission("read")

    def stale(self) -> str | None:
        return None

    async def read(self, into: np.ndarray) -> bool:
        into[:] = 7
        return True

    async def write(self, words: np.ndarray) -> None:
        self.written = words.tolist()


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


def _port(others: int, number: int = 2) -> tuple[ReplacedAgreed, _Broadcast]:
    text = "(subset '((0 2 3)) (broadcast 'b (runtime :values '(1 2) :distributed t) :m 1))"
    (operator,) = compile_text(text, topology=mesh(2, 2)).operators()
    cast = _Broadcast()
    parts: Any = [
        (Signature("b/allreduce", "allreduce", "int32*", 1), _Agreement(others)),
        (Signature("b/broadcast", "broadcast", "int32*", 1, ("source",), ((1,), (2,))), cast),
    ]
    return ReplacedAgreed(operator, number, parts), cast


def test_all_load_the_broadcast_from_the_node_that_says_so() -> None:
    for own, others in ((HERE, 0), (1, 0), (UNKNOWN, 2)):
        port, cast = _port(others)
        assert _run(port.load(Given((own,)))) == Permission("read")
        assert cast.given == Given((1,), 0)
    into = np.zeros(1, np.uint32)
    assert _run(port.read(into))
    assert into[0] == 7
    _run(port.write(np.array([3], np.uint32)))
    assert cast.written == [3]


def test_a_source_that_nobody_is_or_may_be_is_refused() -> None:
    with pytest.raises(PointsmanError, match="b_load: no node of the subset said which node is the source"):
        _run(_port(0)[0].load(Given((UNKNOWN,))))
    with pytest.raises(PointsmanError, match="b_load: node 1 of the subset gives 1 as source, another one 2"):
        _run(_port(3)[0].load(Given((HERE,))))
    with pytest.raises(PointsmanError, match="b_load: node 0 is none of the nodes that the value may name"):
        _run(_port(0, number=0)[0].load(Given((HERE,))))
