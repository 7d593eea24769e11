"""A program as a row of steps."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.candidates.walk import walk_steps
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks

TEXTS = [
    "(barrier 'a) (loop 'l 9 (barrier 'b) (barrier 'c)) (barrier 'd)",
    "(parallel (broadcast 'k 0) (sequential (barrier 'a) (barrier 'b))) (phase (barrier 'c) (barrier 'd)) (barrier 'e)",
    "(parallel (subset '(0 1) (sequential (barrier 'a) (barrier 'b))) (subset '(2 3) (sequential (barrier 'c) (barrier 'd))))",
]


def test_the_steps_of_a_loop() -> None:
    root = disjoint_tree(compile_text(TEXTS[0], topology=mesh(4, 1)))
    steps = list(walk_steps(root, set(breaks(root))))
    said = [step.kind if step.kind != "operators" else step.operators[0].label for step in steps]
    assert said == ["a", "gap", "loop", "b", "gap", "c", "loop ends", "gap", "d"]
    gaps = [step for step in steps if step.kind == "gap"]
    assert [step.times for step in gaps] == [1, 9, 1]
    (back,) = [step for step in steps if step.kind == "loop ends"]
    assert back.times == 8, "times that the loop goes back from its end"


@pytest.mark.parametrize("text", TEXTS)
def test_every_operator_is_on_the_walk_once_and_groups_are_closed(text: str) -> None:
    root = disjoint_tree(compile_text(text, topology=mesh(4, 1)))
    places = breaks(root)
    steps = list(walk_steps(root, set(places)))
    labels = [operator.label for step in steps if step.kind == "operators" for operator in step.operators]
    assert sorted(labels) == sorted(operator.label for operator in root.operators())
    assert {step.place for step in steps if step.may} == set(places)
    kinds = [step.kind for step in steps]
    for begin, end in (("loop", "loop ends"), ("threads", "threads end"), ("context", "no context")):
        assert kinds.count(begin) == kinds.count(end)


@pytest.mark.parametrize("text", TEXTS)
def test_without_places_all_between_phase_groups_is_one_step(text: str) -> None:
    root = disjoint_tree(compile_text(text, topology=mesh(4, 1)))
    steps = list(walk_steps(root, set()))
    assert not any(step.may for step in steps)
    assert sum(step.kind == "operators" for step in steps) == (3 if "phase" in text else 1)
