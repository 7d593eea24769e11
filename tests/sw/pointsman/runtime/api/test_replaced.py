"""An operator that others stand for: its message goes from part to part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.api.replaced import ReplacedPort, given_to
from pointsman.runtime.api.substrate import Given, Permission, Signature


class _Part:
    """Adds to what it reads, and keeps what it writes."""

    def __init__(self, kind: Any, word: int = 0, *, local: bool = False) -> None:
        self.part, self.word = Permission(kind, local=local), word
        self.given: Given | None = None
        self.written: list[int] = []

    async def load(self, given: Given) -> Permission:
        self.given = given
        return self.part

    def stale(self) -> str | None:
        return None

    async def write(self, words: np.ndarray) -> None:
        self.written += words.tolist()

    async def read(self, into: np.ndarray) -> bool:
        into[:] = self.word
        return True

    async def func(self, words: Any, into: Any, combine: Any) -> bool:
        combine(words, np.array([self.word], np.uint32), into)
        return True


def _result(*parts: tuple[str, _Part]) -> tuple[bool, int]:
    (operator,) = compile_text("(allreduce 'r 'add :m 1)", topology=mesh(2)).operators()
    port = ReplacedPort(operator, 0, [(Signature(kind, kind, "int32*", 1), part) for kind, part in parts])
    into = np.zeros(1, np.uint32)
    try:
        port.func(np.array([5], np.uint32), into, np.add).send(None)
    except StopIteration as end:
        return end.value, int(into[0])
    raise AssertionError("it waits for something")


def test_what_was_combined_is_broadcast() -> None:
    cast = _Part("write")
    assert _result(("reduce", _Part("func", 3)), ("broadcast", cast)) == (True, 8)
    assert cast.written == [8]


def test_who_sends_a_stream_has_its_message_no_more() -> None:
    assert _result(("stream", _Part("write"))) == (False, 0)
    assert _result(("stream", _Part("write")), ("broadcast", _Part("read", 9))) == (True, 9)


def test_a_part_in_which_a_node_is_alone_is_passed_over() -> None:
    assert _result(("reduce", _Part("func", 3, local=True))) == (True, 5)


def test_a_node_alone_in_its_instance_loads_all_parts_with_each_call() -> None:
    """In their phases others may count on it."""
    program = compile_text("(subset '((0) (1 2)) (allreduce 'r 'add :m 1 :c 3))", topology=mesh(3))
    (operator,) = program.operators()
    loads = []

    class Alone(_Part):
        async def load(self, given: Given) -> Permission:
            loads.append(self.word)
            return await super().load(given)

    parts = [
        (Signature(kind, kind, "int32*", 1), Alone("func", k, local=True))
        for k, kind in enumerate(("reduce", "broadcast"))
    ]
    port = ReplacedPort(operator, 0, parts)

    async def application() -> list[int]:
        found = []
        assert not (await port.load(Given())).local
        for word in (5, 6, 7):
            into = np.zeros(1, np.uint32)
            assert await port.func(np.array([word], np.uint32), into, np.add)
            found.append(int(into[0]))
        return found

    with pytest.raises(StopIteration) as end:
        application().send(None)
    assert end.value.value == [5, 6, 7]
    assert loads == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("values", "ranges", "expected"),
    [
        (((),), None, Given()),
        (((1,), (4,)), None, Given((4,), 1)),
        (((),), ((1, 4),), Given((4,))),
        (((),), (), Given()),
    ],
    ids=["none", "listed", "in a range", "none of the ranges"],
)
def test_run_time_nodes_go_to_the_part_that_takes_them(values: Any, ranges: Any, expected: Given) -> None:
    assert given_to(Signature("b", "broadcast", "int32*", 1, values=values, ranges=ranges), Given((4,))) == expected
