"""What loading takes on the way through a plan."""

from __future__ import annotations

from pointsman.plan.plan import Plan
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.memories import PlannedMemories


def _memories(small_plan: Plan) -> PlannedMemories:
    return PlannedMemories(small_plan, BoardNumbers(small_plan))


def test_what_is_loaded_is_held_and_takes_no_words_again(small_plan: Plan) -> None:
    memories = _memories(small_plan)
    assert not memories.marks(0).holds(0)
    in_turn, once = memories.load(0, 0)
    assert once > 2 * small_plan.period, "the schedule alone has a command for each slot"
    assert memories.marks(0).holds(0)
    assert not memories.marks(1).holds(0), "each node has a router of its own"
    assert memories.load(0, 0) == (in_turn, 0)


def test_a_vfsm_that_is_to_stand_otherwise_is_loaded_once_more(small_plan: Plan) -> None:
    memories = _memories(small_plan)
    memories.load(0, 0)
    again, nothing = memories.load(0, 0)
    vfsm = next(
        number
        for number in memories.network.number.values()
        if memories.network.place[number - memories.network.commands][0] == 0
        and memories.network.place[number - memories.network.commands][1].node == 0
    )
    memories.marks(0).wanted(0, [vfsm])
    in_turn, once = memories.load(0, 0)
    assert (in_turn + once) > again + nothing


def test_neighbours_settle_only_behind_barriers(small_plan: Plan) -> None:
    memories, plan = _memories(small_plan), small_plan
    for p, phase in enumerate(plan.phases):
        assert bool(memories.settles(0, p)) <= (phase.barrier is not None)
