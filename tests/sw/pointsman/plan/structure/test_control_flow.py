"""Which phase may follow which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.structure.control_flow import control
from pointsman.plan.structure.extents import ProgramPart, disjoint_tree
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.phase_tree import fold, leaves


def tree(text: str) -> ProgramPart:
    return disjoint_tree(compile_text(text, topology=mesh(2, 2)))


def following(text: str, *merged: str) -> dict[str, set[str]]:
    """Successors by the labels of phases; children of sequences end phases, except before the operators ``merged``."""
    root = tree(text)
    phases = fold(root, lambda part, i: part.children[i + 1].operators()[0].label not in merged)
    names = {START: "start", END: "end", **{i: leaf.labels() for i, leaf in enumerate(leaves(phases))}}
    return {names[a]: {names[b] for b in after} for a, after in control(root, phases).successors.items()}


def test_a_sequence_goes_on_to_the_next() -> None:
    assert following("(barrier 'a) (barrier 'b)") == {"start": {"a"}, "a": {"b"}, "b": {"end"}}


def test_a_loop_leads_back_to_its_first_phase_and_may_be_passed_over() -> None:
    found = following("(barrier 'z) (loop 'l 7 (barrier 'a) (barrier 'b))")
    assert found == {"start": {"z"}, "z": {"a", "end"}, "a": {"b"}, "b": {"a", "end"}}


def test_a_loop_in_one_phase_leads_nowhere() -> None:
    assert following("(loop 'l 7 (barrier 'a) (barrier 'b))", "b") == {"start": {"a,b", "end"}, "a,b": {"end"}}


def test_a_phase_that_begins_before_a_loop_is_entered_again_from_its_end() -> None:
    found = following("(barrier 'z) (loop 'l 7 (barrier 'a) (barrier 'b))", "a")
    assert found == {"start": {"z,a"}, "z,a": {"b", "end"}, "b": {"z,a", "end"}}


def test_an_optional_group_may_be_passed_over() -> None:
    found = following("(barrier 'a) (optional (barrier 'b) (barrier 'c)) (barrier 'd)")
    assert found == {"start": {"a"}, "a": {"b", "d"}, "b": {"c"}, "c": {"d"}, "d": {"end"}}


def test_an_optional_group_at_the_head_of_a_loop_may_be_passed_over_each_time() -> None:
    found = following("(loop 'l 9 (optional (barrier 'a)) (barrier 'b))")
    assert found == {"start": {"a", "b", "end"}, "a": {"b"}, "b": {"a", "end"}}
    assert following("(optional (barrier 'a))")["start"] == {"a", "end"}


def test_threads_part_and_meet() -> None:
    text = """
    (sequential (barrier 'A)
      (parallel
        (subset '(0 1) (sequential (barrier 'B) (barrier 'C) (barrier 'D) (barrier 'E)))
        (subset '(2 3) (sequential (barrier 'F) (barrier 'G) (barrier 'H))))
      (barrier 'I))
    """
    found = following(text, "B")
    assert found["A,B,F"] == {"C", "G"}
    assert found["C"] == {"D"}
    assert found["D"] == found["G"] == {"E,H"}
    assert found["E,H"] == {"I"}


def test_an_operator_that_continues_changes_no_order() -> None:
    found = following("(parallel (broadcast 's 0) (sequential (barrier 'a) (barrier 'b)))")
    assert found == {"start": {"s,a"}, "s,a": {"s,b"}, "s,b": {"end"}}


@st.composite
def programs(draw: st.DrawFn) -> str:
    count = 0

    def part(depth: int) -> str:
        nonlocal count
        count += 1
        if depth == 0 or draw(st.booleans()):
            return f"(barrier 'o{count})"
        kind = draw(st.sampled_from(["sequential", "optional", "phase", f"loop 'l{count} 2"]))
        return f"({kind} {' '.join(part(depth - 1) for _ in range(draw(st.integers(1, 3))))})"

    return f"(sequential {part(3)} {part(2)} {part(1)})"


@given(programs(), st.randoms(use_true_random=False))
def test_every_run_of_a_program_goes_from_phase_to_successor(text: str, random: object) -> None:
    root = tree(text)
    ends = {part: [random.random() < 0.5 for _ in part.children] for part in root.walk()}  # type: ignore[attr-defined]
    phases = fold(root, lambda part, i: ends[part][i])
    of = {o.label: i for i, leaf in enumerate(leaves(phases)) for o in leaf.operators}
    found = control(root, phases)
    after = found.successors
    assert set(after) == {START, *range(len(list(leaves(phases))))}

    def run(part: ProgramPart) -> list[str]:
        if part.operator is not None:
            return [part.operator.label]
        if part.kind == "optional" and random.random() < 0.5:  # type: ignore[attr-defined]
            return []
        times = 2 if part.kind == "loop" else 1
        return [label for _ in range(times) for child in part.children for label in run(child)]

    place, before = START, ""
    for label in run(root):
        if of[label] != place:
            assert of[label] in after[place]
            assert place == START or before in found.last[place]
            place = of[label]
        before = label
    assert END in after[place]


def lasts(text: str, *merged: str) -> list[set[str]]:
    root = tree(text)
    phases = fold(root, lambda part, i: part.children[i + 1].operators()[0].label not in merged)
    return [set(last) for last in control(root, phases).last]


def test_an_operator_before_an_optional_one_may_be_the_last_too() -> None:
    text = "(loop 'l 9 (barrier 'a) (barrier 'b) (optional (barrier 'c)) (barrier 'd))"
    assert lasts(text, "b", "c") == [{"b", "c"}, {"d"}]
    assert lasts(text, "b", "c", "d") == [{"d"}]


def test_all_operators_of_a_parallel_group_may_be_the_last() -> None:
    text = "(sequential (barrier 'z) (parallel (barrier 'a) (barrier 'b)) (barrier 'c))"
    assert lasts(text, "a") == [{"a", "b"}, {"c"}]


def test_an_operator_that_goes_on_does_not_terminate() -> None:
    root = tree("(parallel (broadcast 's 0) (sequential (barrier 'a) (barrier 'b)))")
    found = control(root, fold(root, lambda part, i: True))
    assert found.terminating == ({"a"}, {"s", "b"})
    assert found.last == ({"a"}, {"s", "b"})


@pytest.mark.parametrize("text", ["(barrier 'a)", "(phase (barrier 'a) (barrier 'b))"])
def test_one_phase_is_first_and_last(text: str) -> None:
    assert list(following(text).values())[-1] == {"end"}
