"""Phases and their order, from programs built by hand."""

from __future__ import annotations

from pointsman.network import mesh
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.structure import groups_around, outline
from pointsman.program.program import Group, Instance, Operator, Program


def operator(label: str, *nodes: int) -> Operator:
    return Operator(label, "barrier", (Instance(nodes or (0, 1, 2, 3), ()),))


def program(*parts: Group | Operator) -> Program:
    return Program(Group("sequential", parts), mesh(2, 2))


def test_each_sequential_operator_has_a_phase_and_the_next_follows() -> None:
    structure = outline(program(operator("a"), operator("b")))
    assert [p.operators[0].label for p in structure.phases] == ["a", "b"]
    assert structure.successors == {START: {0}, 0: {1}, 1: {END}}


def test_a_loop_leads_back_to_its_first_phase() -> None:
    structure = outline(program(operator("z"), Group("loop", (operator("a"), operator("b")), "l", 7)))
    assert structure.successors[2] == {1, END}
    assert [p.rounds for p in structure.phases] == [(1,), (7,), (7,)]
    assert structure.loops == ("l",)


def test_nested_loops_multiply_and_lead_back_to_both_heads() -> None:
    inner = Group("loop", (operator("a"),), "inner", 3)
    structure = outline(program(Group("loop", (inner, operator("b")), "outer", 5)))
    assert [p.rounds for p in structure.phases] == [(15,), (5,)]
    assert structure.successors == {START: {0, 1, END}, 0: {0, 1}, 1: {0, 1, END}}


def test_a_loop_may_have_no_round_and_groups_that_nobody_passes_over_are_gone_through_once() -> None:
    inner = Group("loop", (operator("a"), operator("b")), "inner", 3)
    structure = outline(program(operator("z"), Group("optional", (inner,)), operator("c")))
    assert structure.successors == {START: {0}, 0: {1, 3}, 1: {2}, 2: {1, 3}, 3: {END}}
    assert groups_around(structure.source[0])["a"] == {2, 3}  # type: ignore[index]
    (through,) = structure.passing(["a"])
    assert (through.passed, through.unsure) == ({3}, {"a", "b"})
    assert through.successors == structure.successors  # the optional group may be passed over still
    assert through.once is not None
    assert through.once.successors == {START: {0}, 0: {1, 3}, 1: {2}, 2: {3}, 3: {END}}
    (both,) = through.passing(["a"])
    assert both.successors == {START: {0}, 0: {1}, 1: {2}, 2: {1, 3}, 3: {END}}
    assert both.once is None
    assert structure.once is None
    assert list(both.passing(["a"])) == []
    assert structure.graph.seldom == {1, 2}


def test_nodes_may_go_through_a_loop_and_pass_over_an_optional_group_in_it() -> None:
    inner = Group("optional", (operator("a"),))
    structure = outline(program(Group("loop", (inner, operator("b")), "l", 3)))
    assert [one.passed for one in structure.passing(["a", "b"])] == [{1}, {1, 2}]
    assert next(structure.passing(["a", "b"])).successors == {START: {0, 1}, 0: {1}, 1: {0, 1, END}}
    assert structure.graph.seldom == {0}


def test_loops_that_are_surely_run_are_not_passed_over() -> None:
    structure = outline(program(operator("z"), Group("loop", (operator("a"),), "calls", 3, fewest=1)))
    assert structure.successors == {START: {0}, 0: {1}, 1: {1, END}}


def test_parallel_operators_share_a_phase() -> None:
    structure = outline(program(Group("parallel", (operator("a"), operator("b")))))
    assert [o.label for o in structure.phases[0].operators] == ["a", "b"]


def test_an_optional_phase_may_be_passed_over() -> None:
    structure = outline(program(operator("a"), Group("optional", (operator("b"),)), operator("c")))
    assert structure.successors[0] == {1, 2}


def test_the_next_phase_of_a_node_skips_phases_that_do_not_concern_it() -> None:
    structure = outline(program(operator("red", 0, 3), operator("black", 1, 2), operator("all")))
    assert structure.graph.next_among(0, [0, 2]) == {2: (1,)}
    assert structure.graph.next_among(START, [1]) == {1: (0,)}


def test_an_empty_program_has_no_phases() -> None:
    structure = outline(program())
    assert structure.phases == ()
    assert structure.successors == {START: {END}}
