"""A schedule for each run-time value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.api.operands import runtime_operands, runtime_values
from pointsman.operators.scheduled.schedules_per_value import BY_VALUE, for_values, schedule_values, settled


def test_values_are_listed_if_all_nodes_know_them(operator_of: Callable[..., Any]) -> None:
    assert schedule_values(operator_of("(broadcast 'o (runtime :values (list 1 4)) :m 5)")) == [[(1,)], [(4,)]]
    assert schedule_values(operator_of("(broadcast 'o 1 :m 5)")) is None
    assert schedule_values(operator_of("(broadcast 'o (runtime :distributed t) :m 5)")) is None
    assert schedule_values(operator_of("(stream 'o (runtime) (runtime) :m 5)", mesh(3, 3))) is None  # 81 of them


def test_a_settled_operator_has_constants_and_one_for_a_value_has_the_only_legal_one(
    operator_of: Callable[..., Any],
) -> None:
    operator = operator_of("(broadcast 'o (runtime) :m 5)")
    assert settled(operator, (3,)).instances[0].operand("source") == 3
    only = for_values(operator, [(3,)])
    assert runtime_operands(only) == ("source",)
    assert runtime_values(only) == ((3,),)


def test_instances_that_share_nodes_or_do_not_hang_together_are_left_to_others(
    operator_of: Callable[..., Any],
) -> None:
    context = Context(mesh(3, 2), NodeShape())
    rows = operator_of("(subset (make-1d 'x) (broadcast 'o (runtime) :m 5))")
    assert BY_VALUE[0].metric(rows, context) is not None
    holes = operator_of("(subset (list 0 2) (broadcast 'o (runtime) :m 5))")
    assert BY_VALUE[0].metric(holes, context) is None


def test_distances_that_move_the_same_words_have_one_schedule(operator_of: Callable[..., Any]) -> None:
    shift = operator_of("(cshift 'o (runtime) :m 5)", mesh(4))
    classes = schedule_values(shift)
    assert classes == [[(1,), (-3,)], [(2,), (-2,)], [(-1,), (3,)], [(0,)]]
    assert runtime_values(for_values(shift, classes[0])) == ((-3,), (1,))
    # Two shifts of 8 nodes have 64 phases, not 225.
    assert len(schedule_values(operator_of("(cshift 'o (runtime) :m 5)", mesh(4, 2))) or ()) == 8
