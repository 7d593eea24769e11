"""What images say of themselves: small ones made by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import pytest

from pointsman.artifacts.images.images import SYNC, Images, LaneImage, OperatorImage
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
