"""The compiled game of a timeline, on boards that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.plan.plan import Plan
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.steps.operator_calls import OperatorSteps


def _played(
    plan: Plan, *steps: tuple[int, int, int], limit: int = 1000, weights: Sequence[float] = ()
) -> tuple[np.ndarray, int, bool]:
    """All nodes do these steps."""
    numbers = BoardNumbers(plan)
    operators = OperatorSteps(plan, numbers, PlannedMemories(plan, numbers))
    operators.tables.weights += weights
    for node in range(numbers.nodes):
        operators.tables.add(operators.ways[node], list(steps))
    board = numbers.board(operators.standing())
    spent, _, played, ended = k.play(
        board,
        operators.tables.table(operators.ways),
        operators.messages.post(),
        numbers.nodes,
        len(plan.phases),
        0,
        2,
        limit,
        1 << 40,
    )
    return spent, int(played), bool(ended)


def test_waiting_takes_the_cycles_that_it_says(small_plan: Plan) -> None:
    spent, _, ended = _played(small_plan, (k.WAIT, 17, 0))
    assert ended
    longer, _, _ = _played(small_plan, (k.WAIT, 17, 0), (k.WAIT, 5, 0))
    assert np.all(longer.sum(axis=1) - spent.sum(axis=1) == 5)


def test_a_deadline_that_is_past_costs_nothing(small_plan: Plan) -> None:
    spent, _, _ = _played(small_plan, (k.DUE, 3, 1), (k.WAIT, 10, 0))
    waited, _, _ = _played(small_plan, (k.DUE, 3, 1), (k.WAIT, 10, 0), (k.UNTIL, 1, 0))
    assert np.array_equal(spent, waited)
    late, _, _ = _played(small_plan, (k.DUE, 30, 1), (k.WAIT, 10, 0), (k.UNTIL, 1, 0))
    assert np.all(late.sum(axis=1) > waited.sum(axis=1))


def test_a_deadline_comes_sooner_where_few_calls_stand_for_many(small_plan: Plan) -> None:
    weighed = (k.WAIT, 2, 0), (k.DUE, 60, 1), (k.WEIGH, 0, 0), (k.WAIT, 10, 0)
    asked = (k.WEIGH, 1, 0), (k.UNTIL, 1, 0)
    weights = [3.0, 1.0]
    free, _, _ = _played(small_plan, *weighed, *asked[:1], weights=weights)
    waited, _, _ = _played(small_plan, *weighed, *asked, weights=weights)
    assert np.all((waited - free).sum(axis=1) == 50)
    # The ten cycles stand for thirty, so twenty of the sixty are not waited for.
    nearer, _, _ = _played(small_plan, *weighed, (k.PASS, 0, 0), *asked, weights=weights)
    assert np.all((nearer - free).sum(axis=1) == 30)


def test_a_game_that_does_not_end_is_stopped(small_plan: Plan) -> None:
    _, _, ended = _played(small_plan, (k.WAIT, 500, 0), limit=100)
    assert not ended
