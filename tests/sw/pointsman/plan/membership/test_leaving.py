"""Who leaves a phase without going on to another."""

from __future__ import annotations

from dataclasses import replace

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.membership.leaving import leaving
from pointsman.plan.plan import Leaving, Plan
from pointsman.plan.structure.structure import outline


def planned(text: str) -> Plan:
    program = compile_text(text, topology=mesh(3, 1), file="x.cop")
    return make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])


def found(plan: Plan) -> Leaving:
    return leaving(plan.phases, plan.structure)


def test_nodes_that_go_on_together_leave_nothing_by_itself() -> None:
    plan = planned("(broadcast 'a 0 :m 40) (broadcast 'b 0 :m 40)")
    assert found(plan) == plan.leaving
    assert not any([*plan.leaving.between_uses.values(), *plan.leaving.at_end.values()])


def test_a_node_at_its_end_lets_the_others_go_on() -> None:
    plan = planned("(broadcast 'a (runtime) :m 40) (subset '((0 1)) (broadcast 'b 0 :m 40))")
    assert plan.phases[0].barrier is not None
    at_end = found(plan).at_end
    assert at_end[0] == {2}, "its last phase, while 0 and 1 go on"


def test_without_a_barrier_nobody_has_to_leave() -> None:
    plan = planned("(broadcast 'a (runtime) :m 40) (subset '((0 1)) (broadcast 'b 0 :m 40))")
    free = replace(plan, phases=tuple(replace(phase, barrier=None) for phase in plan.phases))
    assert found(free) == Leaving({}, {})


def test_a_node_that_may_be_in_the_phase_at_its_end_leaves_it_with_the_others() -> None:
    # Node 1 lends its router to the first phase, so there is a barrier; whether the optional one comes, all nodes know.
    program = compile_text(
        "(subset '((0 2)) (broadcast 'a (runtime) :m 1)) (optional (cshift 'b 1))", topology=mesh(3, 1)
    )
    plan = make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])
    assert plan.phases[0].barrier is not None
    assert plan.leaving.at_end[0] == {0, 2}
