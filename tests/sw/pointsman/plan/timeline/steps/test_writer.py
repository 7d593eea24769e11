"""Steps of processors through a whole program."""

from __future__ import annotations

from pointsman.plan.plan import Plan
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.sampling import visits
from pointsman.plan.timeline.steps.writer import StepWriter


def _writer(small_plan: Plan) -> StepWriter:
    numbers = BoardNumbers(small_plan)
    return StepWriter(small_plan, numbers, PlannedMemories(small_plan, numbers))


def test_all_nodes_come_to_their_end(small_plan: Plan) -> None:
    writer = _writer(small_plan)
    table = writer.write(visits(small_plan.program))
    assert len(table.first_chunk) == 4
    assert table.first_chunk[-1] == len(table.chunks)
    assert table.first_step[-1] == len(table.steps)
    for node in range(3):
        last = table.chunks[table.first_chunk[node + 1] - 1]
        assert table.steps[table.first_step[last + 1] - 1][0] == k.SETTLED


def test_a_writer_that_begins_again_writes_what_a_new_one_does(small_plan: Plan) -> None:
    used, fresh = _writer(small_plan), _writer(small_plan)
    used.write(visits(small_plan.program, 1))
    used.begin()
    tables = [writer.write(visits(small_plan.program, 0)) for writer in (used, fresh)]
    lanes = [
        [
            table.lanes[first:end, :6].tolist() if kind == k.MOVE else [kind]
            for chunk in table.chunks
            for kind, first, end in table.steps[table.first_step[chunk] : table.first_step[chunk + 1]].tolist()
        ]
        for table in tables
    ]
    assert lanes[0] == lanes[1]
