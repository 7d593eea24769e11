"""Nodes that surely use an operator of a phase, and nodes that may be past it."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.certainty import certain_users, readings
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided, outline


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = "(phase (subset '((0 1)) (barrier 'a)) (optional (subset '((1 2)) (barrier 'b))))"
    return make_plan(compile_text(text, topology=mesh(3, 1)), NodeShape(), name="x", period=16)


def test_a_node_with_an_optional_operator_beside_another_is_not_certain(plan: Plan) -> None:
    assert certain_users(plan.structure) == [{0, 1}]


def structure(text: str) -> Structure:
    """Phases end in loops, and where no group is around."""
    program = compile_text(text, topology=mesh(3, 1))
    root = disjoint_tree(program)
    return divided(
        program, root, fold(root, lambda part, i: part.kind == "loop" or "z" in part.children[i].operators()[0].label)
    )


@pytest.mark.parametrize("group", ["(optional {})", "(loop 'l 3 {})"])
def test_there_are_two_readings_of_groups_that_all_nodes_go_through(group: str) -> None:
    text = (
        "(barrier 'z)" + group.format("(barrier 'a) (subset '((0 1)) (barrier 'b))") + "(subset '((1 2)) (barrier 'c))"
    )
    plain = outline(compile_text(text, topology=mesh(3, 1)))
    assert readings(plain) == [(plain, [{0, 1, 2}, {0, 1, 2}, {0, 1}, {1, 2}])]
    (passing,) = plain.passing(["b"])
    assert readings(passing) == [
        (passing, [{0, 1, 2}, {0, 1, 2}, {0, 1}, {1, 2}]),
        (passing.once, [{0, 1, 2}, frozenset(), frozenset(), {1, 2}]),
    ]


def test_who_has_no_operator_of_the_loop_that_leaves_the_phase_is_not_certain() -> None:
    text = "(loop 'l 3 (barrier 'a) {})\n{}"
    b, c = "(subset '((0 1)) (barrier 'b))", "(subset '((1 2)) (barrier 'c))"
    assert certain_users(structure(text.format(b, c))) == [{0, 1, 2}, {1}]
    assert certain_users(structure(text.format(f"(sequential (optional (barrier 'd)) {b})", "(barrier 'c)"))) == [
        {0, 1, 2},
        {0, 1},
    ]
    assert certain_users(structure(text.format("(barrier 'b)", c))) == [{0, 1, 2}, {1, 2}], "the loop may have no round"
    whole = "(barrier 'z) (sequential (loop 'l 3 (sequential (barrier 'a) (barrier 'b))) (barrier 'c))"
    assert certain_users(structure(whole)) == [{0, 1, 2}, {0, 1, 2}], "the phase is not left in the rounds"


def test_what_other_threads_do_is_of_no_matter() -> None:
    text = """
    (parallel (subset '((0 1)) (loop 'l 3 (barrier 'a) (barrier 'b)))
              (subset '((2)) (sequential (barrier 'c) (barrier 'd))))
    """
    made = structure(text)
    assert made.threads is not None
    assert [node for nodes in certain_users(made) for node in nodes].count(0) == 2


def test_a_node_that_is_not_certain_goes_through_at_its_end(plan: Plan) -> None:
    from pointsman.plan.membership.passages import passages

    assert (2, -1, -1, (0,)) in passages(plan)
