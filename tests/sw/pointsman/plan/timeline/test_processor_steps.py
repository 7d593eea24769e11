"""Steps of processors: each load and each call in its place."""

from __future__ import annotations

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.processor_steps import StepWriter
from pointsman.plan.timeline.sampling import visits


def _writer(small_plan: Plan) -> StepWriter:
    numbers = BoardNumbers(small_plan)
    return StepWriter(small_plan, numbers, PlannedMemories(small_plan, numbers))


def _kinds(steps: list[tuple[int, int, int]]) -> list[int]:
    return [step[0] for step in steps]


def test_the_first_load_goes_into_the_phase_and_the_second_does_nothing(small_plan: Plan) -> None:
    writer = _writer(small_plan)
    (number,) = writer.by_label["c"]
    first = writer.load(0, number, 0)
    assert k.PHASE in _kinds(first)
    again = writer.load(0, number, 0)
    assert k.PHASE not in _kinds(again)
    assert writer.ways[0].current == writer.parts.operators[number][0]


def test_a_node_that_reads_moves_its_lanes_and_one_without_part_nothing(small_plan: Plan) -> None:
    writer = _writer(small_plan)
    (number,) = writer.by_label["b"]
    one = writer.parts.operators[number][1]
    for value in range(len(one.values)):
        for node in range(3):
            moves = k.MOVE in _kinds(writer.call(node, number, value, 0))
            assert moves == (writer.parts.role(number, node, value, 0).kind != "none")


def test_all_nodes_come_to_their_end(small_plan: Plan) -> None:
    writer = _writer(small_plan)
    table = writer.write(visits(small_plan.program))
    assert len(table.first_chunk) == 4
    assert table.first_chunk[-1] == len(table.chunks)
    assert table.first_step[-1] == len(table.steps)
    for node in range(3):
        last = table.chunks[table.first_chunk[node + 1] - 1]
        assert table.steps[table.first_step[last + 1] - 1][0] == k.SETTLED


def test_a_phase_entered_for_an_operator_that_continues_is_not_left_before_its_first_use() -> None:
    text = "(parallel (stream 's 0 3 :m 20) (loop 'l 4 (sequential (cshift 'a 1 :m 9) (broadcast 'b 1 :m 12))))"
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    plan = make_plan(program, NodeShape(vfsms=64, registers=32), name="continuing", period=16, structures=[structure])
    assert plan.continuing
    writer = _writer(plan)
    (number,) = writer.by_label["s"]
    entered = plan.continuing[0].enters[0]
    assert k.PHASE in _kinds(writer.load(0, number, 0))
    assert writer.ways[0].unused
    label = plan.phases[entered].operators[0].operator.label
    first = writer.load(0, writer.by_label[label][0], 0)
    assert _kinds(first) == [k.COUNT]
    assert not writer.ways[0].unused


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
