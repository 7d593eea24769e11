"""A node's own router: what it refuses before it starts."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.numesh.router import Router


class _Clock:
    time = 0


@pytest.mark.parametrize("preloaded", [False, True])
def test_a_loop_of_one_slot_is_refused(by_hand: ModuleType, preloaded: bool) -> None:
    images = by_hand.stream_1x2()
    Router(images, 0, _Clock(), preloaded=preloaded)
    with pytest.raises(PointsmanError) as caught:
        Router(replace(images, period=1), 0, _Clock(), preloaded=preloaded)
    assert str(caught.value.message) == "a period must have at least 2 slots, not 1"


def test_an_operator_that_is_used_again_does_not_make_those_before_it_unused(by_hand: ModuleType) -> None:
    images = by_hand.stream_1x2()
    # Operators 1, 2, 3 come one after the other; 0 is beside them and may be used at any time.
    phase = replace(images.phases[0], order=((1, 2), (1, 3), (2, 3)))
    router = Router(replace(images, phases=(phase, *images.phases[1:])), 0, _Clock(), preloaded=False)
    for operator in (0, 1, 0, 2, 0):
        router.begin(operator)
        router.used.add(operator)
    assert router.used == {0, 1, 2}
    router.begin(1)  # a new round
    assert router.used == {0, 1}
