"""How long one call takes, and calls one after the other: these against runs in which nodes write only what they have read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.codes import SHORTEST_REFILL, SHORTEST_RELAY
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.one_call import call_cycles, in_sequence
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images


def test_it_takes_as_long_whenever_it_begins_in_the_period(small_plan: Plan) -> None:
    period = small_plan.period
    first = call_cycles(small_plan, "c", (), 40 * period)
    assert first > 0
    assert call_cycles(small_plan, "c", (), 41 * period) == first


def test_values_that_an_operator_does_not_have_are_refused(small_plan: Plan) -> None:
    with pytest.raises(PlanError, match="operator 'b' has no schedule for the values"):
        call_cycles(small_plan, "b", (7,), 40 * small_plan.period)


def test_a_call_cannot_begin_before_its_load_is_through(small_plan: Plan) -> None:
    with pytest.raises(PlanError, match="cannot begin, or does not come to its end"):
        call_cycles(small_plan, "c", (), 3)


def test_words_that_pass_a_register_wait_until_it_has_room_again() -> None:
    found = []
    for m in (10, 20):
        program = compile_text(f"(collect 'c 0 :m {m} :impl 'str_collect)", topology=mesh(3, 1))
        plan = make_plan(program, NodeShape(), name="relay", period=SHORTEST_RELAY + SHORTEST_REFILL)
        found.append(call_cycles(plan, "c", (), 40 * plan.period, writers=(2,)))
    # A word a period: it comes, is taken on, and leaves room for the next one.
    assert found[1] - found[0] >= 10 * (SHORTEST_RELAY + SHORTEST_REFILL)


def planned(text: str, columns: int) -> tuple[Plan, dict[int, float]]:
    program = compile_text(text, topology=mesh(columns, 2))
    plan = make_plan(program, NodeShape(), name="test")
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)
    return plan, in_sequence(plan, analysis.rounds)


@pytest.mark.parametrize(("rounds", "words"), [(1, 1), (5, 1), (3, 20)])
def test_a_token_takes_no_longer_and_not_much_less(rounds: int, words: int) -> None:
    plan, found = planned(
        f"(doall ((i (all *nodes*))) (stream 's i (mod (+ i 1) *nodes*) :m {words} :c {rounds}))", columns=4
    )

    async def main(node: Any) -> None:
        await node.cop.s_load()
        for _ in range(rounds):
            if node.number == 0:
                await node.cop.s_write(np.zeros(words, np.int32))
            token = await node.cop.s_read()
            if node.number:
                await node.cop.s_write(token)

    images = make_images(plan)
    with Machine(plan.shape, plan.topology, engine="model", progress=False) as machine:
        record = run_nodes([numesh_node(images, number, machine) for number in range(8)], main, machine)
    most = plan.cycles + found[0]
    assert plan.cycles < 0.8 * record.total_cycles
    assert 0.5 * most < record.total_cycles <= most


def test_every_round_of_a_loop_counts() -> None:
    text = "(loop 'l {} (phase (stream 'a 0 1 :m 4) (stream 'b 1 2 :m 4)))"
    plan, many = planned(text.format(7), columns=2)
    once = ProgramAnalysis(
        compile_text(text.format(1), topology=mesh(2, 2)), Context(mesh(2, 2), NodeShape()), IMPLEMENTATIONS
    )
    few = in_sequence(plan, once.rounds)
    assert many[0] == 7 * few[0] > 0


@pytest.mark.parametrize("text", ["(cshift 'c 1)", "(doall ((i '(0 1))) (stream 's i (+ i 2)))", "(broadcast 'b 0)"])
def test_phases_in_which_no_node_reads_and_writes_on_are_left_out(text: str) -> None:
    _, found = planned(text, columns=2)
    assert not found
