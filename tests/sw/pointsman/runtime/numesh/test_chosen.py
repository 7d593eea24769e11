"""An operator with several schedules is one to the application."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.api.substrate import Given
from pointsman.runtime.numesh.chosen import Choice, chosen_signature, schedules_of


class _Router:
    def __init__(self, room: bool) -> None:
        self.room = room
        self.together: dict[int, tuple[int, ...]] = {}

    def keeps(self, phases: object) -> bool:
        return self.room


def _operators(by_hand: ModuleType) -> list[Any]:
    operator = by_hand.runtime_broadcast_1x3().operators[0]
    return [replace(operator, phase=phase, values=((phase,),)) for phase in range(3)]


def test_schedules_of_one_label_are_one_operator(by_hand: ModuleType) -> None:
    images = by_hand.runtime_broadcast_1x3()
    assert schedules_of(images) == [[0]]
    assert schedules_of(replace(images, operators=images.operators * 2)) == [[0, 1]]


def test_its_signature_has_the_values_of_all(by_hand: ModuleType) -> None:
    assert chosen_signature(_operators(by_hand)).values == ((0,), (1,), (2,))


@pytest.mark.parametrize("room", [False, True])
def test_its_schedules_are_loaded_together_if_they_can_stay(by_hand: ModuleType, room: bool) -> None:
    router = _Router(room)
    port: Any = object()
    Choice(router).add("b", [(operator, port) for operator in _operators(by_hand)])  # type: ignore[arg-type]
    assert router.together == ({0: (1, 2), 1: (0, 2), 2: (0, 1)} if room else {})


def test_its_functions_may_not_be_called_before_a_schedule_is_chosen(by_hand: ModuleType) -> None:
    choice = Choice(_Router(True))  # type: ignore[arg-type]
    port = choice.add("b", [])
    assert port.stale() == "must call b_load first, which chooses the phase"
    with pytest.raises(PointsmanError, match="b: no schedule has been chosen"):
        port.write(None).send(None)  # type: ignore[arg-type]


def test_operators_of_a_group_are_loaded_in_the_order_of_the_program() -> None:
    choice = Choice(_Router(True))  # type: ignore[arg-type]
    choice.add("a", [])
    last = choice.add("b", [])
    with pytest.raises(PointsmanError, match="b_load: a_load has not been called"):
        last.load(Given((0,))).send(None)
