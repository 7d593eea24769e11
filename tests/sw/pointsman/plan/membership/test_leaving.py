"""Who leaves a phase without going on to another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import MembershipError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.membership.leaving import leaving
from pointsman.plan.plan import Leaving, Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided, outline


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


@pytest.mark.parametrize(
    ("b", "d", "second", "fits"),
    [("(broadcast 'b (runtime) :m 2)", "(cshift 'd 1)", "b", False), ("", "(barrier 'd)", "d", True)],
)
def test_a_loop_of_one_thread_may_have_no_round_while_the_other_leaves_the_phase(
    b: str, d: str, second: str, fits: bool
) -> None:
    """Nodes 3 to 5 do not leave the second phase for the first, a + c, if their loop has no round; the others do. They leave it
    together only if all use the same operators of the second phase."""
    text = f"""
    (loop 'l 2 (parallel (subset '((0 1 2)) (sequential (barrier 'a) {b}))
                         (subset '((3 4 5)) (loop 'm 2 (cshift 'c 1 :m 9))))
               {d})
    """
    program = compile_text(text, topology=mesh(6, 1))
    root = disjoint_tree(program)
    phases = fold(root, lambda part, i: part.children[i + 1].operators()[0].label == second)
    structure = divided(program, root, phases)
    if fits:
        assert make_plan(program, NodeShape(), name="x", period=16, structures=[structure]).phases
    else:
        with pytest.raises(MembershipError, match="cannot tell when the others leave phase"):
            make_plan(program, NodeShape(), name="x", period=16, structures=[structure])
