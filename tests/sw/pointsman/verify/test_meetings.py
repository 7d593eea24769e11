"""Every node comes to the barriers in which others wait for it, on every way through the text."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.program.program import Program
from pointsman.targets.numesh import make_images
from pointsman.verify.meetings import meeting_differences

TEXTS = (
    # Both phases may be the last; nodes leave through a barrier at their end.
    "(loop 'l 2 (cshift 'o 2 :m 3) (optional (reduce 'z 'add 0 :m 2)))",
    # Nodes that have nothing to do in some phases; a loop of no rounds.
    "(loop 'l 2 (broadcast 'a 0 :m 9) (subset '((0 1 2)) (loop 'k 3 (reduce 'b 'left 1 :m 20)))) (barrier 'c)",
    # Threads.
    "(parallel (subset '((0 1)) (loop 'l 2 (broadcast 'a 0 :m 2) (cshift 'b 1 :m 2))) (subset '((2 3)) (barrier 'd)))",
    # A load function that meets, a schedule for each value, an operator that others replace.
    "(loop 'l 2 (collect 'b (runtime) :m 3 :impl 'str_collect_tree) (barrier 'c))",
    "(loop 'l 2 (broadcast 'o (runtime) :m 5 :impl 'sch_bcast_dense) (barrier 'z))",
    "(loop 'l 2 (allreduce 'a 'add :m 2 :valid '(1 3) :impl 'repl_allreduce)) (barrier 'c)",
    # An operator that continues.
    "(parallel (stream 's 0 3 :m 3) (loop 'l 3 (cshift 'a 1 :m 3) (broadcast 'b 1 :m 2))) (broadcast 'y 3 :m 4)",
)


@cache
def compiled(text: str) -> tuple[Images, Program]:
    program = compile_text(text, topology=mesh(4))
    root = disjoint_tree(program)
    replaced = "repl_" in text
    structures = None if replaced else [divided(program, root, fold(root, lambda part, i: True))]
    return make_images(make_plan(program, NodeShape(), name="m", structures=structures)), program


@pytest.mark.parametrize("text", TEXTS)
def test_compiled_images_let_everybody_come(text: str) -> None:
    assert list(meeting_differences(*compiled(text))) == []


def test_a_node_that_does_not_leave_its_last_phase_is_told() -> None:
    images, program = compiled(TEXTS[0])
    assert images.passages
    for number, (node, left, _, _) in enumerate(images.passages):
        others = (*images.passages[:number], *images.passages[number + 1 :])
        (said, *_) = meeting_differences(replace(images, passages=others), program)
        assert said.endswith("and one of them does not come there before its end"), said
        assert str(node) in said.split(" meet ")[0] or node == 0
        assert images.phases[left].barrier is not None


def test_a_node_that_passes_a_barrier_by_is_told() -> None:
    images, program = compiled(TEXTS[1])
    silent = [number for number, passage in enumerate(images.passages) if passage[3]]
    told = 0
    for number in silent:
        others = (*images.passages[:number], *images.passages[number + 1 :])
        told += bool(list(meeting_differences(replace(images, passages=others), program)))
    assert told or not silent


def test_a_node_that_leaves_once_more_than_others_is_told() -> None:
    images, program = compiled(TEXTS[0])
    (phase,) = (number for number, image in enumerate(images.phases) if image.name == "o")
    again = replace(images, passages=(*images.passages, (1, -1, phase, (1 - phase,))))
    assert list(meeting_differences(again, program))
