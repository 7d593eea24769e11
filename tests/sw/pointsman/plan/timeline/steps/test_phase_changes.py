"""Steps between phases: commands, pointers, and the end."""

from __future__ import annotations

import pytest

from numesh.codes import Codes
from pointsman.plan.plan import Plan
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.lanes import WORDS
from pointsman.plan.timeline.memories import PlannedMemories
from pointsman.plan.timeline.steps.phase_changes import CHANGES, PhaseSteps
from pointsman.plan.timeline.steps.tables import StepTables
from pointsman.protocol.costs import ANNOTATION_DRAIN, POINTER_DRAIN
from pointsman.protocol.phase_change import Do, enter


@pytest.fixture
def phases(small_plan: Plan) -> PhaseSteps:
    numbers = BoardNumbers(small_plan)
    return PhaseSteps(small_plan, numbers, PlannedMemories(small_plan, numbers), StepTables(2))


def _kinds(steps: list[tuple[int, int, int]]) -> list[int]:
    return [step[0] for step in steps]


def test_the_loader_phase_is_written_before_its_pointer(phases: PhaseSteps, small_plan: Plan) -> None:
    steps = phases.start(0)
    assert _kinds(steps) == [k.MOVE, k.EMPTY, k.WAIT, k.MOVE, k.EMPTY, k.WAIT]
    assert steps[-1][1] == POINTER_DRAIN
    lanes = phases.tables.table(phases.ways).lanes
    words = Codes(small_plan.shape).command_words
    sent = [int(lanes[first, WORDS]) for kind, first, _ in steps if kind == k.MOVE]
    assert sent == [(small_plan.period + 1) * words, words]


def test_a_node_enters_a_phase_and_leaves_it_for_another(phases: PhaseSteps) -> None:
    way = phases.ways[1]
    for phase in (0, 1):
        steps = phases.play(1, enter(way, phase))
        assert [step[1] for step in steps if step[0] == k.PHASE][-1] == phase
        assert way.current == phase
    assert phases.finish(1, way)[-1] == (k.SETTLED, 0, 0)


def test_a_jump_to_the_loader_phase_runs_its_schedule(phases: PhaseSteps) -> None:
    assert phases.jump(0, -1, {})[-1] == (k.PHASE, phases.network.loader, 0)
    assert phases.ways[0].current == -1


def test_annotations_are_awaited_in_a_running_phase_only(phases: PhaseSteps) -> None:
    assert phases.rewrite(0, {}, running=True) == []
    changed = {0: (0, 0, 0, 0, 0, 0)}
    phases.jump(0, 0, {})
    assert phases.rewrite(0, changed, running=True)[-1] == (k.WAIT, ANNOTATION_DRAIN, 0)
    assert _kinds(phases.rewrite(0, changed, running=False))[-1] == k.SET
    assert phases.ways[0].standing == changed


def test_each_step_of_a_change_has_a_cost_but_those_of_operators() -> None:
    kinds = {value for name, value in vars(Do).items() if name.isupper()}
    assert set(CHANGES) == kinds - {Do.MEET, Do.TELL, Do.DRAIN}


def test_a_new_beginning_forgets_where_nodes_were(phases: PhaseSteps) -> None:
    phases.jump(0, 0, {})
    phases.begin()
    assert phases.ways[0].current == -1
