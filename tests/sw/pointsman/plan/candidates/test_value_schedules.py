"""Phases divided by run-time values."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.operators.scheduled.schedules_per_value import schedule_values
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.value_schedules import with_schedules
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.structure import Structure, outline
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

BROADCAST = "(broadcast 'b (runtime) :m {m} {more})"
ASKED = ":impl 'sch_bcast_dense"


def structures(text: str, size: tuple[int, ...] = (4,)) -> list[Structure]:
    topology = mesh(*size)
    program = compile_text(text, topology=topology)
    return list(
        with_schedules([outline(program)], ProgramAnalysis(program, Context(topology, NodeShape()), IMPLEMENTATIONS))
    )


def test_a_phase_is_divided_by_value_and_each_part_can_follow_each() -> None:
    text = f"(loop 'l 8 (cshift 's 1 :m 2) {BROADCAST.format(m=4, more=ASKED)})"
    (divided,) = structures(text)
    assert [phase.value for phase in divided.phases] == [None, (0,), (1,), (2,), (3,)]
    parts = frozenset({1, 2, 3, 4})
    assert divided.successors[START] == {0, END}
    assert divided.successors[0] == parts
    for one in parts:
        assert divided.successors[one] == parts | {0, END}
    assert sum(phase.rounds[0] for phase in divided.phases[1:]) == pytest.approx(8)
    assert sum(phase.exits for phase in divided.phases[1:]) == pytest.approx(8)


def test_values_named_in_the_program_are_the_only_ones() -> None:
    (divided,) = structures(f"(broadcast 'b (runtime :values '(1 3)) :m 4 {ASKED})")
    assert [phase.value for phase in divided.phases] == [(1,), (3,)]


def test_long_messages_are_tried_with_a_schedule_for_each_value_unasked() -> None:
    assert len(structures(BROADCAST.format(m=4, more=""))) == 1
    undivided, divided = structures(BROADCAST.format(m=1000, more=""))
    assert len(undivided.phases) == 1
    assert len(divided.phases) == 4


def test_schedules_are_not_tried_where_other_phases_join_the_instances() -> None:
    rows = f"(subset (make-1d 'x) {BROADCAST.format(m=1000, more='')})"
    assert len(structures(rows, (3, 2))) == 2
    assert len(structures(f"(sequential {rows} (cshift 's 1))", (3, 2))) == 1
    # What joins two instances joins them, also where a third one is not concerned.
    rows = f"(subset '((0 1 2) (3 4 5) (6 7 8)) {BROADCAST.format(m=1000, more='')})"
    assert len(structures(f"(sequential {rows} (subset '((3 4)) (cshift 's 1)))", (9,))) == 2
    assert len(structures(f"(sequential {rows} (subset '((2 3)) (cshift 's 1)))", (9,))) == 1


@pytest.mark.parametrize("options", [":distributed t", ":dynamic t"])
def test_a_value_that_not_all_nodes_know_has_no_schedules(options: str) -> None:
    program = compile_text(f"(broadcast 'b (runtime {options}))", topology=mesh(4))
    assert schedule_values(next(program.operators())) is None


def test_operators_side_by_side_have_a_phase_for_each_combination_of_values() -> None:
    text = f"""(loop 'l 4 (parallel {BROADCAST.format(m=4, more=ASKED)}
      (cshift 's (runtime :values '(1 2)) :m 2 :impl 'sch_shift) (eoshift 'e 1 :m 2)))"""
    (divided,) = structures(text)
    assert [phase.value for phase in divided.phases] == [(b, s) for b in range(4) for s in (1, 2)]
    assert all(divided.successors[one] == frozenset({*range(8), END}) for one in range(8))
    assert all([o.label for o in phase.operators] == ["b", "s", "e"] for phase in divided.phases)


@pytest.mark.parametrize("subset", ["(0 2 1 3)", "(0 1 2 3)"])
def test_one_instance_may_have_its_nodes_in_any_order(subset: str) -> None:
    text = f"(parallel (spread 's 2 :m 2) (subset '({subset}) (cshift 'c (runtime) :m 20 :impl 'sch_shift)))"
    plan = make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="test")
    report = check_images(make_images(plan))
    assert report.ok, report.render()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "(phase {b} (cshift 's 1))",
            "shares a phase with operators that come before or after it, and sch_bcast_dense",
        ),
        (
            "(parallel {b} (sequential (cshift 's 1) (cshift 't 1)))",
            "stands in a parallel group beside a sequence, with which",
        ),
        (
            "(parallel (subset '(0 1) (loop 'l 2 {b} (cshift 's 1)))"
            " (subset '(2 3) (loop 'm 2 (barrier 'v) (cshift 't 1))))",
            "beside a sequence, with which it shares a phase, and sch_bcast_dense needs one of its own for each value",
        ),
        ("(parallel {b} (subset '(0 1) (cshift 's 1)))", "have other nodes, which would have to know it"),
        (
            "(parallel (subset '((0 1) (2 3)) {b}) (subset '((0 1) (3 2)) (cshift 's 1)))",
            "have their nodes in another order",
        ),
        (
            "(parallel {b} (reduce 'r 'add (runtime) :m 1 :impl 'sch_reduce) "
            "(eoshift 's (runtime :values '(-2 -1 1 2 3)) :impl 'sch_shift))",
            r"phase 'b\+r\+s' would have 80 schedules, one for each combination of run-time values; the most is 64",
        ),
    ],
)
def test_schedules_that_cannot_share_a_phase(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        structures(text.format(b=BROADCAST.format(m=4, more=ASKED)))


def refused(text: str, size: tuple[int, ...], shape: NodeShape, period: int) -> PlanError:
    program = compile_text(text, topology=mesh(*size))
    with pytest.raises(PlanError) as caught:
        make_plan(program, shape, name="b", period=period)
    return caught.value


def test_schedules_share_vfsms_and_a_phase_that_does_not_fit_is_refused() -> None:
    text = BROADCAST.format(m=4, more=ASKED)
    plan = make_plan(compile_text(text, topology=mesh(3)), NodeShape(vfsms=8), name="b", period=16)
    assert len(plan.phases) == 3
    assert "has too few VFSMs" in refused(text, (3,), NodeShape(vfsms=4), 16).message


def test_no_phase_for_a_value_is_done_by_messages_which_serve_all_values() -> None:
    """Where such a phase finds no slots, as those for distances 5 and 6 here with eight, the schedule has to be longer."""
    plan = make_plan(compile_text("(cshift 'o1 (runtime) :m 2)", topology=mesh(1, 12)), NodeShape(), name="test")
    ways = {one.implementation.name for phase in plan.phases for one in phase.operators}
    assert len(plan.phases) > 1
    assert ways == {"sch_shift"}
