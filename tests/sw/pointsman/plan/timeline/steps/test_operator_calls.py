"""Steps of load and I/O functions: each load and each call in its place."""

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
from pointsman.plan.timeline.steps.operator_calls import OperatorSteps


def _operators(plan: Plan) -> OperatorSteps:
    numbers = BoardNumbers(plan)
    return OperatorSteps(plan, numbers, PlannedMemories(plan, numbers))


def _kinds(steps: list[tuple[int, int, int]]) -> list[int]:
    return [step[0] for step in steps]


def test_the_first_load_goes_into_the_phase_and_the_second_does_nothing(small_plan: Plan) -> None:
    operators = _operators(small_plan)
    (number,) = operators.by_label["c"]
    first = operators.load(0, number, 0)
    assert k.PHASE in _kinds(first)
    again = operators.load(0, number, 0)
    assert k.PHASE not in _kinds(again)
    assert operators.ways[0].current == operators.parts.operators[number][0]


def test_a_node_that_reads_moves_its_lanes_and_one_without_part_nothing(small_plan: Plan) -> None:
    operators = _operators(small_plan)
    (number,) = operators.by_label["b"]
    one = operators.parts.operators[number][1]
    for value in range(len(one.values)):
        for node in range(3):
            moves = k.MOVE in _kinds(operators.call(node, number, value, 0))
            assert moves == (operators.parts.role(number, node, value, 0).kind != "none")


def test_a_phase_entered_for_an_operator_that_continues_is_not_left_before_its_first_use() -> None:
    text = "(parallel (stream 's 0 3 :m 20) (loop 'l 4 (sequential (cshift 'a 1 :m 9) (broadcast 'b 1 :m 12))))"
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    plan = make_plan(program, NodeShape(vfsms=64, registers=32), name="continuing", period=16, structures=[structure])
    assert plan.continuing
    operators = _operators(plan)
    (number,) = operators.by_label["s"]
    entered = plan.continuing[0].enters[0]
    assert k.PHASE in _kinds(operators.load(0, number, 0))
    assert operators.ways[0].unused
    label = plan.phases[entered].operators[0].operator.label
    first = operators.load(0, operators.by_label[label][0], 0)
    assert _kinds(first) == [k.COUNT]
    assert not operators.ways[0].unused
