"""Schedule lengths that are tried, and limits on the phases of a node."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.value_schedules import with_schedules
from pointsman.plan.cost.schedule_lengths import (
    LONGER,
    PERIODS,
    SHORTER,
    longest,
    other_lengths,
    refuse_many_phases,
    schedule_lengths,
    shorter_lengths,
)
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import Structure, outline


def phases(count: int) -> Structure:
    return outline(compile_text(" ".join(f"(barrier 'b{i})" for i in range(count)), topology=mesh(2, 1)))


def test_shorter_lengths_have_room_for_a_word_of_each_stream() -> None:
    def lengths(text: str, size: tuple[int, ...]) -> list[int]:
        plan = make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="x", period=16)
        return shorter_lengths(phase.routed for phase in plan.phases)

    assert shorter_lengths(()) == list(SHORTER) == [2, 3, 4, 5, 6, 7]
    assert lengths("(stream 's 0 3 :m 9)", (2, 2)) == list(SHORTER)
    assert lengths("(gather 'g 0 :m 2 :impl 'str_gather)", (3, 3)) == [4, 5, 6, 7], "eight streams end at a node"
    assert lengths("(barrier 'b :impl 'str_barrier_tree) (cshift 'c 1 :m 9)", (4, 4))[0] >= 3
    assert lengths(" ".join(f"(cshift 'c{k} {k} :m 1)" for k in range(1, 8)), (4, 4))[:1] != [2]
    together = " ".join(f"(cshift 'c{k} {k} :m 1)" for k in range(1, 8))
    assert lengths(f"(phase (parallel {together}))", (4, 4)) == [], (
        "each node has 14 of 14 moves with what it begins and ends"
    )


def test_few_words_and_streams_get_a_shorter_schedule() -> None:
    for text, most in (
        ("(allreduce 'r 'add :m 1)", 7),
        ("(allreduce 'r 'add :m 64 :impl 'str_allreduce)", 3),
        ("(allreduce 'r 'add :m 64)", 6),
        ("(loop 'l 9 (cshift 'c 1 :m 1))", 4),
    ):
        program = compile_text(text, topology=mesh(4, 4))
        plan = make_plan(program, NodeShape(), name="x")
        assert plan.period <= most
        assert plan.cycles < make_plan(program, NodeShape(), name="x", period=8).cycles
    assert make_plan(program, NodeShape(), name="x", period=8).period == 8, "what was asked for stays"


def test_all_phases_and_the_loader_fit_the_schedule_memory() -> None:
    for count in (1, 3, 7):
        found = schedule_lengths(phases(count), NodeShape(schedule_depth=128), None)
        assert found == [period for period in PERIODS if period * (count + 1) <= 128]


def test_more_phases_than_fit_take_turns() -> None:
    found = schedule_lengths(phases(20), NodeShape(schedule_depth=64), None)
    assert found == [8, 16], "two phases beside the loader's"


def test_phases_of_several_values_may_take_turns() -> None:
    program = compile_text("(cshift 'c (runtime :values '(1 2 3 4 5 6 7)) :m 9 :impl 'sch_shift)", topology=mesh(3, 3))
    shape = NodeShape(schedule_depth=128)
    analysis = ProgramAnalysis(program, Context(program.topology, shape), IMPLEMENTATIONS)
    [divided] = with_schedules([outline(program)], analysis)
    assert len(divided.phases) == 7
    assert schedule_lengths(divided, shape, None) == [8, 16, 24, 32, 40]
    assert schedule_lengths(divided, NodeShape(schedule_depth=64), None) == [8, 16]


def test_the_length_that_was_asked_for_is_taken_or_refused() -> None:
    assert schedule_lengths(phases(3), NodeShape(schedule_depth=128), 12) == [12]
    with pytest.raises(PlanError, match="2 phases and the loader phase of 50 slots each do not fit"):
        schedule_lengths(phases(3), NodeShape(schedule_depth=128), 50)
    with pytest.raises(PlanError, match=r"^a phase and the loader phase of 65 slots each do not fit"):
        schedule_lengths(phases(1), NodeShape(schedule_depth=128), 65)


def test_a_node_with_too_many_phases_is_named() -> None:
    refuse_many_phases(phases(3), 3)
    refuse_many_phases(phases(3), None)
    with pytest.raises(PlanError, match="node 0 would have 3 phases, and may have 2"):
        refuse_many_phases(phases(3), 2)


def test_the_slots_that_an_implementation_needs_are_among_the_lengths() -> None:
    shape = NodeShape(schedule_depth=128)
    assert schedule_lengths(phases(10), shape, None, 20) == [8, 24]
    assert schedule_lengths(phases(1), shape, None, 53) == [8, 16, 24, 32, 40, 56]
    assert schedule_lengths(phases(3), shape, 12, 20) == [12]
    assert longest(phases(10), shape) == 42


def test_broadcasts_round_a_cycle_have_lengths_of_their_own() -> None:
    broadcasts = " ".join(f"(broadcast 'b{k} {k} :m 9 :impl 'str_bcast_round)" for k in range(8))
    program = compile_text(f"(parallel {broadcasts})", topology=mesh(4, 2))
    assert schedule_lengths(outline(program), NodeShape(), None) == [9, 18], (
        "one round or two of eight words and a free slot"
    )
    assert schedule_lengths(outline(program), NodeShape(), 24) == [24]


def test_the_usual_lengths_are_tried_after_those_that_operators_have_of_their_own() -> None:
    shape = NodeShape(schedule_depth=128)
    longer = [48, 64]
    assert [length for length in LONGER if length <= 64] == longer
    assert other_lengths(shape, {8, 16}) == other_lengths(shape, ()) == longer
    assert other_lengths(shape, {3}) == [*PERIODS, *longer]
    program = compile_text(
        "(cshift 'o -2 :m 3 :impl 'str_shift_round) (broadcast 'z 0 :m 1)", topology=mesh(2, 2), file="x.cop"
    )
    structures = [outline(program)]
    assert schedule_lengths(structures[0], shape, None, topology=program.topology) == [3]
    plan = make_plan(program, shape, name="x", structures=structures)
    assert plan.period == 8, "with 3 slots the phases have no room for a barrier"
