"""Fields that an operator or a role cannot have."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from pointsman.artifacts.images.images import Images

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
