"""A node on its way through the sampled program."""

from __future__ import annotations

from pointsman.plan.plan import Plan
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.steps.processor_state import ProcessorState
from pointsman.protocol.phase_change import LOADER


def _state(small_plan: Plan, node: int = 0) -> ProcessorState:
    numbers = BoardNumbers(small_plan)
    return ProcessorState(node, small_plan, numbers, PlannedMemories(small_plan, numbers), {(0, 1): (2,)}, 1)


def test_in_the_loader_phase_commands_need_no_slots(small_plan: Plan) -> None:
    state = _state(small_plan)
    every = dict.fromkeys(range(state.network.commands, state.network.vfsms), (0,) * 6)
    assert state.current == LOADER
    assert state.soon(every)
    assert state.can_rewrite(every)


def test_commands_are_counted_by_the_pipeline_of_their_vfsm(small_plan: Plan) -> None:
    state = _state(small_plan)
    words = state.commands(range(state.network.commands, state.network.vfsms))
    assert sum(words.values()) == state.command_words * len(state.network.place)
    assert set(words) <= set(range(small_plan.shape.pipelines))


def test_it_goes_the_way_that_is_given(small_plan: Plan) -> None:
    assert _state(small_plan).way(0, 1) == (2,)
    assert _state(small_plan).way(1, 0) is None
    assert not _state(small_plan).passes_messages(0)
    assert not _state(small_plan).holds(0)
