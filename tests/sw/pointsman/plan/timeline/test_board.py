"""The board on which a timeline is played."""

from __future__ import annotations

import numpy as np

from pointsman.plan.plan import Plan
from pointsman.plan.timeline.board import BoardNumbers, NumberedOperators


def test_every_vfsm_and_register_has_a_number_of_its_own(small_plan: Plan) -> None:
    plan = small_plan
    numbers = BoardNumbers(plan)
    assert sorted(numbers.number.values()) == list(range(numbers.commands, numbers.vfsms))
    registers = [
        numbers.register(p, node, virtual)
        for p, phase in enumerate(plan.phases)
        for node, count in phase.wiring.registers_used.items()
        for virtual in range(count)
    ]
    assert sorted(registers) == list(range(numbers.commands, numbers.registers))
    commands = [numbers.command(node, p) for node in range(3) for p in range(plan.shape.pipelines)]
    assert sorted(commands) == list(range(numbers.commands))


def test_a_vfsm_has_its_routed_slots_and_commands_the_free_ones(small_plan: Plan) -> None:
    plan = small_plan
    numbers = BoardNumbers(plan)
    board = numbers.board(())
    slots = np.bincount(board.slots, minlength=numbers.vfsms)
    for number, (_, vfsm, _, _) in enumerate(numbers.place, numbers.commands):
        assert slots[number] == len(vfsm.slots)
    for p, free in enumerate(numbers.command_slots):
        taken = plan.phases[p].routed.schedule != 0
        assert not np.any(free & taken)
        # Commands of a node are in the free slots of its own row.
        for slot in range(plan.period):
            for node in range(numbers.nodes):
                row = (p * plan.period + slot) * numbers.nodes + node
                here = board.slots[board.first_slot[row] : board.first_slot[row + 1]]
                wanted = [numbers.command(node, pipeline) for pipeline in np.flatnonzero(free[node, slot])]
                assert [number for number in here if number < numbers.commands] == wanted


def test_operators_are_numbered_phase_by_phase(small_plan: Plan) -> None:
    plan = small_plan
    operators = NumberedOperators(plan.phases)
    assert [p for p, _ in operators.operators] == sorted(p for p, _ in operators.operators)
    assert [one.operator.label for _, one in operators.operators] == ["b", "c"]
