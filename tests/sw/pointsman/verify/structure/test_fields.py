"""Fields that an operator or a role cannot have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def test_structure_it_has_an_operator_twice(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("structure", "it has an operator twice", change.with_phase(by_hand.stream_1x2(), 0, operators=(0, 0)))


def test_structure_it_goes_to_a_second_schedule_that_there_is_not(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = change.with_role(by_hand.stream_1x2(), 0, 0, 0, switch=0)
    breaks("structure", "it goes to a second schedule that there is not", images)


def test_structure_it_begins_again_after_2_calls(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("structure", "it begins again after 2 calls", change.with_role(by_hand.stream_1x2(), 0, 0, 0, turns=2))


def test_structure_words_are_held_for_no_later_stage(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = change.with_promise(by_hand.stream_1x2(), 0, held=True)
    breaks("structure", "stream s from 0 is held, and its operator has one stage", images)


def test_structure_values_of_a_promise_ascend(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = by_hand.runtime_broadcast_1x3()
    stream = images.promises[0].stream
    changed = change.with_promise(images, 0, values=(1, 0))
    breaks("structure", f"stream {stream} is promised for the values (1, 0)", changed)


@cache
def with_replaced() -> Images:
    """An operator that two others replace, in phases that close by barriers."""
    program = compile_text(
        "(loop 'l 2 (reduce 'a 'add (runtime) :m 2 :impl 'repl_runtime_reduce))", topology=mesh(2, 2)
    )
    return make_images(make_plan(program, NodeShape(), name="fields"))


@pytest.mark.parametrize("field", [{"b": 2.0}, {"pipelined": True}, {"c": 0}, {"impl": "str_reduce"}])
def test_structure_what_does_the_work_of_another_is_planned_as_that(field: dict[str, Any]) -> None:
    images = with_replaced()
    assert check_images(images).ok
    (one,) = images.replaced
    part = images.operators[one.parts[0]]
    assert part.program is not None
    changed = replace(part, program=replace(part.program, **field))
    operators = (*images.operators[: one.parts[0]], changed, *images.operators[one.parts[0] + 1 :])
    assert "is to be planned otherwise" in check_images(replace(images, operators=operators)).render()


@cache
def with_barriers() -> Images:
    """Two operators in a phase each, which close by barriers."""
    text = "(loop 'l 3 (broadcast 'a 0 :m 2) (cshift 'b 1 :m 2) (barrier 'c) (cshift 'd 2 :m 5))"
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    return make_images(make_plan(program, NodeShape(), name="fields", structures=[structure]))


@pytest.mark.parametrize("field", [{"b": 2.0}, {"pipelined": True}, {"c": 3}, {"valid": (0, 1)}])
def test_structure_what_closes_a_phase_has_nothing_that_only_a_text_can_say(field: dict[str, Any]) -> None:
    images = with_barriers()
    assert check_images(images).ok
    number = next(phase.barrier for phase in images.phases if phase.barrier is not None)
    closing = images.operators[number]
    assert closing.program is not None
    changed = replace(closing, program=replace(closing.program, **field))
    operators = (*images.operators[:number], changed, *images.operators[number + 1 :])
    assert "has what only a text can say" in check_images(replace(images, operators=operators)).render()
