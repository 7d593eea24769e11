"""Nobody waits in a barrier for a node that is not in its phase in this round."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided


def planned(text: str) -> Plan:
    """Phases end in loops only."""
    program = compile_text(text, topology=mesh(3, 1))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: part.kind == "loop"))
    assert len(structure.phases) == 2
    return make_plan(program, NodeShape(), name="rounds", period=24, structures=[structure])


def test_a_node_that_comes_only_after_the_loop_is_not_waited_for_in_it():
    text = "(loop 'l 3 (barrier 'a) (subset '((0 1)) (barrier 'b)))\n(subset '((1 2)) (barrier 'c))"
    rule = r"node 2 cannot tell when the others leave phase 'b\+c'.*it has no operator of it in the loop"
    with pytest.raises(PlanError, match=rule):
        planned(text)


def test_a_node_whose_part_in_the_loop_is_optional_is_not_waited_for_in_it():
    text = "(loop 'l 3 (barrier 'a) (sequential {} (subset '((0 1)) (barrier 'c))))\n(barrier 'd)"
    rule = r"node 2 cannot tell when the others leave phase 'b\+c\+d'.*all that it has of it is optional in the loop"
    with pytest.raises(PlanError, match=rule):
        planned(text.format("(optional (barrier 'b))"))
    assert len(planned(text.format("(barrier 'b)")).phases) == 2
    both = "(loop 'l 3 (barrier 'a) (optional (barrier 'b) (subset '((0 1)) (barrier 'c))))\n(barrier 'd)"
    assert len(planned(both).phases) == 2


def test_a_node_that_is_in_every_round_may_have_more_to_do_afterwards():
    text = "(loop 'l 3 (barrier 'a) (barrier 'b))\n(subset '((1 2)) (barrier 'c))"
    assert [phase.name for phase in planned(text).phases] == ["a", "b+c"]


def test_nodes_that_meet_elsewhere_do_not_matter():
    text = "(loop 'l 3 (subset '((0 1)) (barrier 'a)) (subset '((0 1)) (barrier 'b)))\n(subset '((2)) (barrier 'c))"
    assert len(planned(text).phases) == 2
