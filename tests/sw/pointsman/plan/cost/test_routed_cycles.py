"""What a routed phase takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.plan.conflicts.link_slots import command_gap
from pointsman.plan.cost.routed_cycles import leaving_cycles, operator_cycles, sustained
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline

CONTEXT = Context(mesh(2, 1), NodeShape())


@pytest.fixture(scope="module")
def plan() -> Plan:
    program = compile_text("(loop 'l 5 (stream 'a 0 1 :m 40) (stream 'b 1 0 :m 40))", topology=CONTEXT.topology)
    return make_plan(program, CONTEXT.shape, name="x", period=16, structures=[outline(program)])


def test_twice_the_rounds_take_twice_the_cycles(plan: Plan) -> None:
    outlined, phase = plan.structure.phases[0], plan.phases[0]
    once = operator_cycles(outlined, phase.operators, phase.routed, CONTEXT)
    twice = operator_cycles(replace(outlined, rounds=(10,)), phase.operators, phase.routed, CONTEXT)
    assert twice == 2 * once > 0


def test_a_call_takes_at_least_a_cycle_for_each_word(plan: Plan) -> None:
    outlined, phase = plan.structure.phases[0], plan.phases[0]
    assert operator_cycles(outlined, phase.operators, phase.routed, CONTEXT) >= 5 * 40


def test_leaving_costs_the_command_and_the_delays_of_messages(plan: Plan) -> None:
    outlined, phase = plan.structure.phases[0], plan.phases[0]
    one = replace(phase.operators[0], delays={0: (3,), 1: (7,)})
    command = outlined.exits * (command_gap(phase.routed) / 2 + 6)
    assert leaving_cycles(outlined, [one], phase.routed, "none") == 0
    assert leaving_cycles(outlined, [one], phase.routed, "barrier") == command
    assert leaving_cycles(outlined, [one], phase.routed, "msg-sync") == command + outlined.exits * 7


@pytest.mark.parametrize(
    ("chains", "period", "work", "cycles"),
    [
        (((0, 4),), 8, 3, 4.0),  # slots are rarer than words
        (((0, 2, 4),), 8, 3, 10 / 3),  # one of three slots comes too soon, sometimes
        (((0, 2),), 8, 1, 4.0),
        (((0,), (1,)), 8, 3, 4.0),  # a register for each of two words
        (((0, 4), (2, 6)), 8, 3, 3.0),  # the processor is the slowest
    ],
)
def test_slots_that_follow_each_other_closely_are_lost(
    chains: tuple[tuple[int, ...], ...], period: int, work: int, cycles: float
) -> None:
    assert sustained(chains, period, work) == pytest.approx(cycles, rel=0.06)
