"""Who sends to whom."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.program.program import Operator
from pointsman.runtime.api.substrate import Given
from pointsman.runtime.reference.meaning import combined, origin_of, part_of, readers, signature_of_operator, writers


def _operator(text: str, nodes: int = 4) -> Operator:
    (operator,) = compile_text(text, topology=mesh(nodes)).operators()
    return operator


@pytest.mark.parametrize(
    ("text", "sends", "receives"),
    [
        ("(broadcast 'o 1 :m 1)", [1], [0, 2, 3]),
        ("(spread 'o 1 :m 1)", [1], [0, 2, 3]),
        ("(gather 'o 2 :m 1)", [0, 1, 3], [2]),
        ("(stream 'o 0 3 :m 1)", [0], [3]),
        ("(collect 'o 2 :m 1)", [0, 1, 2, 3], [2]),
    ],
)
def test_directional_operators_go_from_writers_to_readers(text: str, sends: list[int], receives: list[int]) -> None:
    operator = _operator(text)
    assert list(writers(operator, 0, Given())) == sends
    assert list(readers(operator, 0, Given())) == receives
    for position in range(4):
        kind = part_of(operator, 0, position, Given()).kind
        assert (kind in ("write", "both")) == (position in sends)
        assert (kind in ("read", "both")) == (position in receives)


def test_run_time_ends_are_those_that_were_given() -> None:
    operator = _operator("(broadcast 'o (runtime) :m 1)")
    assert writers(operator, 0, Given((2,))) == [2]
    assert signature_of_operator(operator).values == ((0,), (1,), (2,), (3,))


@pytest.mark.parametrize(
    ("text", "position", "origin"),
    [
        ("(cshift 'o 1 :m 1)", 0, 3),
        ("(cshift 'o -1 :m 1)", 3, 0),
        ("(eoshift 'o 1 :m 1)", 0, None),
        ("(eoshift 'o 1 :m 1)", 2, 1),
    ],
)
def test_shifts_bring_the_message_of_another(text: str, position: int, origin: int | None) -> None:
    assert origin_of(_operator(text), 0, position, Given()) == origin


def test_messages_come_together_in_the_order_of_the_subset() -> None:
    reduce, prefix = _operator("(reduce 'o 1 'add :m 1)"), _operator("(prefix 'o 'add :m 1)")
    assert [list(combined(reduce, 0, k, Given())) for k in range(4)] == [[], [0, 1, 2, 3], [], []]
    assert [list(combined(prefix, 0, k, Given())) for k in range(3)] == [[0], [0, 1], [0, 1, 2]]
    assert list(combined(_operator("(barrier 'o)"), 0, 2, Given())) == [0, 1, 2, 3]
