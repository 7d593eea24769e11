"""Tables of steps: what is written once and used again, and what counts."""

from __future__ import annotations

import pytest

from pointsman.artifacts.images.images import LaneImage
from pointsman.plan.plan import Plan
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.lanes import AFTER, FIRST, WORDS
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.steps.processor_state import ProcessorState
from pointsman.plan.timeline.steps.tables import StepTables


@pytest.fixture
def ways(small_plan: Plan) -> list[ProcessorState]:
    numbers = BoardNumbers(small_plan)
    memories = PlannedMemories(small_plan, numbers)
    return [ProcessorState(node, small_plan, numbers, memories, {}, 1) for node in range(2)]


def test_equal_chunks_are_written_once(ways: list[ProcessorState]) -> None:
    tables = StepTables(2)
    for way in ways:
        tables.add(way, [(k.WAIT, 7, 0)])
    tables.add(ways[1], [(k.WAIT, 9, 0), (k.SETTLED, 0, 0)])
    table = tables.table(ways)
    assert table.steps.tolist() == [[k.WAIT, 7, 0], [k.WAIT, 9, 0], [k.SETTLED, 0, 0]]
    assert table.first_step.tolist() == [0, 1, 3]
    assert table.chunks.tolist() == [0, 0, 1]
    assert table.first_chunk.tolist() == [0, 1, 3]


def test_steps_that_wait_for_nothing_are_left_out(ways: list[ProcessorState]) -> None:
    tables = StepTables(2)
    tables.add(ways[0], [(k.WAIT, 0, 0)])
    assert ways[0].chunks == []
    tables.add(ways[0], [(k.WAIT, 0, 0), (k.COUNT, 0, 0)])
    assert tables.table(ways).steps.tolist() == [[k.COUNT, 0, 0]]


def test_cycles_count_for_phases_or_for_what_is_said(ways: list[ProcessorState]) -> None:
    tables = StepTables(2, by_operator=True)
    tables.count(ways[0], 3)
    tables.add(ways[0], [(k.COUNT, 1, 0), (k.WAIT, 5, 0)])
    assert tables.table(ways).steps.tolist() == [[k.COUNT, 3, 0], [k.WAIT, 5, 0]]


def test_moves_name_their_lanes_and_these_their_registers() -> None:
    tables = StepTables(2)
    lanes = [LaneImage(True, (0, 1)), LaneImage(False, (2,)), LaneImage(False, (1,), after=0)]
    assert tables.move(lanes[:1], 4, base=10) == [(k.MOVE, 0, 1)]
    assert tables.move(lanes, 4, base=20) == [(k.MOVE, 1, 4)]
    table = tables.table([])
    assert table.turns.tolist() == [10, 11, 20, 21, 22, 21]
    assert table.lanes[:, FIRST].tolist() == [0, 2, 4, 5]
    assert table.lanes[:, WORDS].tolist() == [4, 4, 4, 4]
    assert table.lanes[:, AFTER].tolist() == [-1, -1, -1, 0]
    assert tables.most_lanes == 3
    assert tables.move([], 4) == []


def test_a_weight_is_told_when_it_changes(ways: list[ProcessorState]) -> None:
    tables = StepTables(2)
    assert tables.weigh(ways[0], 1.0) == []
    ((kind, at, _),) = tables.weigh(ways[0], 2.5)
    assert kind == k.WEIGH
    assert tables.weights[at] == 2.5
    assert tables.weigh(ways[0], 2.5) == []
    assert tables.weigh(ways[1], 2.5) == [(k.WEIGH, at, 0)]


def test_calls_that_were_not_played_make_later_ones_begin_sooner() -> None:
    tables = StepTables(2)
    assert tables.passed(6, 6) == []
    assert tables.passed(6, 1) == []
    ((kind, at, _),) = tables.passed(11, 6)
    assert kind == k.PASS
    assert tables.weights[at] == 2.0
