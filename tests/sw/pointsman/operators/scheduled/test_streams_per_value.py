"""A set of streams for each run-time value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.streams_per_value import BY_STREAMS


def test_each_value_has_streams_of_its_own_and_uses_only_these(wired: Callable[..., Any]) -> None:
    one = wired("par_shift", "(cshift 'o (runtime :values (list 1 2)) :m 5)")
    assert Counter(name.partition("@")[2] for name in one.wiring.index) == {"1": 6, "2": 6}
    used = [
        {
            (node, register)
            for node, role in one.roles(value).items()
            for lane in role.lanes
            for register in lane.registers
        }
        for value in ((1,), (2,))
    ]
    assert not used[0] & used[1]
    assert not any(role.settings for role in one.roles((1,)).values())


def test_too_many_values_are_left_to_others(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(stream 'o (runtime) (runtime) :m 5)", mesh(3, 2))
    assert all(one.metric(operator, Context(mesh(3, 2), NodeShape())) is None for one in BY_STREAMS)


def test_values_that_move_the_same_words_have_the_same_streams(wired: Callable[..., Any]) -> None:
    one = wired("par_shift", "(cshift 'o (runtime) :m 5)")
    sets = Counter(name.partition("@")[2] for name in one.wiring.index)
    assert len(sets) == 5, "of the six nodes' distances -5 … 5 a distance of 0 moves nothing"
    for distance in (1, 2, 3, 4, 5):
        assert [role.lanes for role in one.roles((distance,)).values()] == [
            role.lanes for role in one.roles((distance - 6,)).values()
        ]
