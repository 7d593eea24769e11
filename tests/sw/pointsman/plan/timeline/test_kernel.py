"""The compiled game of a timeline, on boards that are written by hand."""

from __future__ import annotations

import numpy as np

from pointsman.plan.plan import Plan
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.processor_steps import StepWriter


def _played(plan: Plan, *steps: tuple[int, int, int], limit: int = 1000) -> tuple[np.ndarray, int, bool]:
    """All nodes do these steps."""
    numbers = BoardNumbers(plan)
    writer = StepWriter(plan, numbers, PlannedMemories(plan, numbers))
    for node in range(numbers.nodes):
        writer.add(node, list(steps))
    board = numbers.board(writer.standing())
    spent, played, ended = k.play(
        board, writer.book(), writer.messages.post(), numbers.nodes, len(plan.phases), 2, limit
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


def test_a_game_that_does_not_end_is_stopped(small_plan: Plan) -> None:
    _, _, ended = _played(small_plan, (k.WAIT, 500, 0), limit=100)
    assert not ended
