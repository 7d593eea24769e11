"""What schedules made at run time are for, and what they take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.timeline.board import BoardNumbers, NumberedOperators
from pointsman.plan.timeline.sampling import SampledVisit, visits
from pointsman.plan.timeline.steps.runtime_schedules import RuntimeSchedules

NODES = (0, 1, 2, 3)


@pytest.fixture(scope="module")
def shifts() -> tuple[RuntimeSchedules, SampledVisit]:
    text = "(loop 'l 4 (cshift 's (runtime) :m 6 :impl 'sch_shift_runtime))"
    plan = make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="p", period=16)
    (visit, *_) = visits(plan.program)
    return RuntimeSchedules(plan, NumberedOperators(BoardNumbers(plan).parts)), visit


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_a_shift_goes_as_far_as_is_asked(shifts: tuple[RuntimeSchedules, SampledVisit], distance: int) -> None:
    schedules, visit = shifts
    asked = replace(visit, values=(distance,))
    moves = schedules.moves(0, NODES, asked)
    assert sorted(moves) == sorted((node, (node + distance) % 4) for node in NODES)


def test_a_schedule_is_made_once_for_the_same_moves(shifts: tuple[RuntimeSchedules, SampledVisit]) -> None:
    schedules, visit = shifts
    moves = schedules.moves(0, NODES, visit)
    cost = schedules.cost(6, moves)
    assert cost is schedules.cost(6, moves)
    assert cost.cycles > 0
    assert cost.words > 0
