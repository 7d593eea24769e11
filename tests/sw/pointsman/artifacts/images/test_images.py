"""What images say of themselves: small ones made by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import pytest

from pointsman.artifacts.images.images import SYNC, Combination, Images, LaneImage, OperatorImage, cut, whole_messages
from pointsman.runtime.api.requests import Lane


def test_members_of_an_operator_are_the_nodes_that_have_it_in_order(small: Callable[[], Images]) -> None:
    images = small()
    pairs = {(index, node) for node, image in enumerate(images.nodes) for index, _ in image.operators}
    assert {(index, node) for index, views in images.members.items() for node in views} == pairs
    assert set(images.members) == set(range(len(images.operators)))
    for index, views in images.members.items():
        assert list(views) == sorted(views)
        assert all(dict(images.nodes[node].operators)[index] is view for node, view in views.items())


def test_an_operator_that_no_node_has_is_listed_without_members(small: Callable[[], Images]) -> None:
    images = small()
    alone = replace(images, nodes=tuple(replace(node, operators=()) for node in images.nodes))
    assert alone.members == {index: {} for index in range(len(images.operators))}


def test_every_state_of_an_operator_has_a_role_at_each_of_its_nodes(small: Callable[[], Images]) -> None:
    images = small()
    for index, views in images.members.items():
        for view in views.values():
            assert len(view.role_of) == images.operators[index].states
            assert set(view.role_of) <= set(range(len(view.roles)))


OPERATOR = OperatorImage("b", "broadcast", "tree", 3, "phase", 4, (), ((0,), (1,), (2,)), 0.5, "p.cop:1:1")


def test_states_are_values_times_stages() -> None:
    assert OPERATOR.states == 3
    assert replace(OPERATOR, stages=4).states == 12


@pytest.mark.parametrize(("continues", "phases"), [((), (3,)), ((3, 4, 6), (3, 4, 6))])
def test_phases_of_an_operator_are_its_own_or_all_through_which_it_continues(continues, phases) -> None:
    assert replace(OPERATOR, continues=continues).phases == phases


def test_lanes_in_images_and_at_run_time_have_their_fields_in_one_order() -> None:
    at_run_time = inspect.signature(Lane.__init__).parameters.values()
    in_images = inspect.signature(LaneImage).parameters
    assert list(in_images)[:8] == [one.name for one in at_run_time][1:]
    assert all(in_images[one.name].default is one.default for one in at_run_time if one.kind == one.KEYWORD_ONLY)


def test_the_turn_of_load_functions_is_no_turn_of_a_call() -> None:
    assert LaneImage(True, (1,)).turn == 0
    assert SYNC < 0


def test_a_message_is_cut_between_two_items() -> None:
    for m in range(3, 20):
        assert 0 < cut(m) <= m - cut(m) <= cut(m) + 2
        assert m % 2 or cut(m) % 2 == 0
    first, second, all_of_it = (LaneImage(True, (2,), half=half) for half in (0, 1, None))
    assert [one.span(7) for one in (first, second, all_of_it)] == [(0, 3), (3, 7), (0, 7)]
    assert [one.count(8) for one in (first, second, all_of_it)] == [4, 4, 8]
    assert LaneImage(True, (2,), 5).count(8) == 5


def test_where_messages_must_be_whole_lanes_of_the_first_half_move_them() -> None:
    lanes = [
        LaneImage(False, (1,), data="t0", half=1),
        LaneImage(True, (2,), data="in", after=0, half=1),
        LaneImage(False, (3,), data="t0", half=0),
        LaneImage(True, (4,), data="in", after=2, half=0),
    ]
    combines = [Combination(step, "t0", "out", "in") for step in (1, 2, 3, 4)]
    whole, left = whole_messages(lanes, combines)
    assert [(one.registers, one.after, one.half) for one in whole] == [((3,), None, None), ((4,), None, None)]
    assert left == [replace(combines[0], step=1), replace(combines[0], step=2)]
    plain = [replace(lane, half=None) for lane in lanes]
    assert whole_messages(plain, combines) == ([replace(lane, after=None) for lane in plain], combines)
