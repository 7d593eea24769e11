"""Schedules that are made at run time, judged for some of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC, Images, LaneImage, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.numesh.scheduling.made import made_images
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.meaning.made import MOST_VALUES

TEXTS = (
    "(permute 'a (runtime) :m 5 :impl 'sch_permute_runtime)",
    "(subset (make-1d 'x) (cshift 'a (runtime) :m 5 :impl 'sch_shift_runtime))",
    "(eoshift 'a (runtime) :m 3 :impl 'sch_shift_runtime) (broadcast 'b 0)",
)


@cache
def images(text: str) -> Images:
    return make_images(make_plan(compile_text(text, topology=mesh(3, 2)), NodeShape(), name="made"))


@pytest.mark.parametrize("text", TEXTS)
def test_schedules_made_at_run_time_are_right(text: str) -> None:
    found = images(text)
    assert found.operators[0].instances
    report = check_images(found, made=made_images)
    assert report.ok, report.render()
    assert 0 < report.counts["schedules made at run time"] <= MOST_VALUES


def test_without_what_makes_them_they_are_left_out_and_that_is_said() -> None:
    assert "schedules that are made at run time" in check_images(images(TEXTS[0])).unchecked


def for_another_value(found: Images, operator: int, values: Sequence[Any]) -> Images:
    (value,) = values
    other = value[1:] + value[:1] if isinstance(value, tuple) else value + 1 if value < 1 else value - 1
    return made_images(found, operator, (other,))


def without_a_stream(found: Images, operator: int, values: Sequence[Any]) -> Images:
    made = made_images(found, operator, values)
    return replace(made, promises=made.promises[:-1])


def in_other_slots(found: Images, operator: int, values: Sequence[Any]) -> Images:
    made = made_images(found, operator, values)
    part = made.nodes[1].phases[0]
    phases = (replace(part, schedule=part.schedule[1:] + part.schedule[:1]), *made.nodes[1].phases[1:])
    nodes = (made.nodes[0], replace(made.nodes[1], phases=phases), *made.nodes[2:])
    return replace(made, nodes=nodes)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("wrong", [for_another_value, without_a_stream, in_other_slots])
def test_a_schedule_that_does_not_bring_the_messages_is_told(text: str, wrong: Any) -> None:
    report = check_images(images(text), made=wrong)
    assert not report.ok
    if wrong is for_another_value:
        assert report.rules == ("meaning",)


def with_role(found: Images, node: int, change: Callable[[Role], Role]) -> Images:
    image = found.nodes[node]
    (index, view), *others = image.operators
    assert index == 0
    view = replace(view, roles=tuple(map(change, view.roles)))
    return replace(
        found,
        nodes=(
            *found.nodes[:node],
            replace(image, operators=((index, view), *others)),
            *found.nodes[node + 1 :],
        ),
    )


def with_lane(change: Callable[[LaneImage], LaneImage], *, meeting: bool, write: bool) -> Callable[[Role], Role]:
    """A role with a change of its first lane of this sort."""

    def changed(role: Role) -> Role:
        k = next(k for k, one in enumerate(role.lanes) if (one.turn == SYNC, one.write) == (meeting, write))
        return replace(role, lanes=(*role.lanes[:k], change(role.lanes[k]), *role.lanes[k + 1 :]))

    return changed


WRONG_ROLES = {
    "meets with two words": with_lane(lambda lane: replace(lane, words=3), meeting=True, write=True),
    "does not wait": with_lane(lambda lane: replace(lane, words=0), meeting=True, write=False),
    "sends one word": with_lane(lambda lane: replace(lane, words=1), meeting=False, write=True),
    "sends tokens": with_lane(lambda lane: replace(lane, data="token"), meeting=False, write=True),
    "forgets its message": with_lane(lambda lane: replace(lane, data="token"), meeting=False, write=False),
    "only reads": lambda role: replace(role, kind="read"),
}


@pytest.mark.parametrize("name", WRONG_ROLES)
def test_a_role_that_does_not_carry_the_messages_is_told(name: str) -> None:
    for text in TEXTS[:2]:
        changed = with_role(images(text), 1, WRONG_ROLES[name])
        report = check_images(changed, made=made_images)
        assert "meaning" in report.rules, (text, report.render())


def test_a_ring_that_slots_are_never_lacking_for_is_carried_out_too() -> None:
    found = images(TEXTS[0])
    ring = check_images(found, made=lambda *_: found)
    assert ring.ok, ring.render()
    changed = with_role(found, 1, WRONG_ROLES["sends tokens"])
    assert check_images(changed, made=lambda *_: changed).rules == ("meaning",)


def test_run_time_values_are_those_of_the_program() -> None:
    found = images(TEXTS[1])
    operator = found.operators[0]
    other = replace(operator, values=(*operator.values[:-1], (7,)))
    report = check_images(replace(found, operators=(other, *found.operators[1:])), made=made_images)
    assert report.rules == ("meaning",)


def test_a_promise_stands_once() -> None:
    found = images(TEXTS[0])
    report = check_images(replace(found, promises=(*found.promises, found.promises[0])), made=made_images)
    assert report.rules == ("structure",)
